// RUN: tile-opt %s -p nest-join-kernels --split-input-file | filecheck %s

// Each group makes what it takes: planes. Neither is there memory for all of them, nor a second launch.
// CHECK-LABEL: ^bb0(%X: memref<4x8x8xf32, 1 : i32>, %O: memref<4x8x8xf32, 1 : i32>)
// CHECK-NEXT:  nest.for %n : group.x to 4 {
// CHECK-NEXT:    %T = nest.buffer : memref<1x8x8xf32, 3 : i32>
// CHECK-NEXT:    nest.for %y : serial to 8 {
// CHECK-NEXT:      nest.for %x : serial to 8 {
// CHECK-NEXT:        nest.load %X[%n, %y, %x]
// CHECK-NEXT:        nest.store %{{.*}}, %T[0, %y, %x]
// CHECK:         nest.for [[Y:%[a-z_0-9]+]] : serial to 8 {
// CHECK-NEXT:      nest.for [[X:%[a-z_0-9]+]] : serial to 8 {
// CHECK-NEXT:        nest.load %T[0, -[[Y]] + 7, [[X]]]
// CHECK-NEXT:        nest.store %{{.*}}, %O[%n, [[Y]], [[X]]]
// CHECK:       sym_name = "second"
// CHECK-LABEL: func.func @planes(
// CHECK-COUNT-1: "gpu.alloc"
// CHECK-NEXT:    "gpu.launch_func"({{.*}}, %X, %O) <{kernel = @m::@second
// CHECK-SAME:      nest.part = "O", nest.layers = {a = 2.000000e+00 : f64, b = 5.000000e+00 : f64}
// CHECK-NEXT:    func.return %O
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%X: memref<4x8x8xf32, 1 : i32>, %T: memref<4x8x8xf32, 1 : i32>):
    nest.for %n : group.x to 4 {
      nest.for %y : serial to 8 {
        nest.for %x : serial to 8 {
          %v = nest.load %X[%n, %y, %x] : memref<4x8x8xf32, 1 : i32>
          nest.store %v, %T[%n, %y, %x] : f32, memref<4x8x8xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "first", gpu.known_block_size = array<i32: 1, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%T: memref<4x8x8xf32, 1 : i32>, %O: memref<4x8x8xf32, 1 : i32>):
    nest.for %n : group.x to 4 {
      nest.for %y : serial to 8 {
        nest.for %x : serial to 8 {
          %v = nest.load %T[%n, 7 - %y, %x] : memref<4x8x8xf32, 1 : i32>
          nest.store %v, %O[%n, %y, %x] : f32, memref<4x8x8xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "second", gpu.known_block_size = array<i32: 1, 1, 1>} : () -> ()
}) : () -> ()
func.func @planes(%X: memref<4x8x8xf32, 1 : i32>) -> (memref<4x8x8xf32, 1 : i32>) {
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %T = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<4x8x8xf32, 1 : i32>
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %X, %T) <{kernel = @m::@first, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> {nest.part = "T", nest.layers = {a = 2.000000e+00 : f64, b = 1.000000e+00 : f64}} : (index, index, index, index, index, index, memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  %O = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<4x8x8xf32, 1 : i32>
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %T, %O) <{kernel = @m::@second, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> {nest.part = "O", nest.layers = {b = 4.000000e+00 : f64}} : (index, index, index, index, index, index, memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  "gpu.dealloc"(%T) {operandSegmentSizes = array<i32: 0, 1>} : (memref<4x8x8xf32, 1 : i32>) -> ()
  func.return %O : memref<4x8x8xf32, 1 : i32>
}

// -----

// Steps of a loop in a group, too: rows. What is returned is written where it was, besides.
// CHECK-LABEL: nest.for %n : group.x to 4 {
// CHECK-NEXT:    nest.for %y : serial to 8 {
// CHECK-NEXT:      [[T:%[a-zA-Z_0-9]+]] = nest.buffer : memref<1x1x8xf32, 3 : i32>
// CHECK-NEXT:      nest.for %x : serial to 8 {
// CHECK-NEXT:        nest.load %X[%n, %y, %x]
// CHECK-NEXT:        nest.store %{{.*}}, [[T]][0, 0, %x]
// CHECK-NEXT:        nest.store %{{.*}}, %T[%n, %y, %x]
// CHECK:           nest.for [[X:%[a-z_0-9]+]] : serial to 8 {
// CHECK-NEXT:        nest.load [[T]][0, 0, -[[X]] + 7]
// CHECK:       func.func @rows(
// CHECK:         "gpu.launch_func"({{.*}}, %X, %T, %O) <{kernel = @m::@second
// CHECK-NEXT:    func.return %O, %T
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%X: memref<4x8x8xf32, 1 : i32>, %T: memref<4x8x8xf32, 1 : i32>):
    nest.for %n : group.x to 4 {
      nest.for %y : serial to 8 {
        nest.for %x : serial to 8 {
          %v = nest.load %X[%n, %y, %x] : memref<4x8x8xf32, 1 : i32>
          nest.store %v, %T[%n, %y, %x] : f32, memref<4x8x8xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "first", gpu.known_block_size = array<i32: 1, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%T: memref<4x8x8xf32, 1 : i32>, %O: memref<4x8x8xf32, 1 : i32>):
    nest.for %n : group.x to 4 {
      nest.for %y : serial to 8 {
        nest.for %x : serial to 8 {
          %v = nest.load %T[%n, %y, 7 - %x] : memref<4x8x8xf32, 1 : i32>
          nest.store %v, %O[%n, %y, %x] : f32, memref<4x8x8xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "second", gpu.known_block_size = array<i32: 1, 1, 1>} : () -> ()
}) : () -> ()
func.func @rows(%X: memref<4x8x8xf32, 1 : i32>) -> (memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) {
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %T = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<4x8x8xf32, 1 : i32>
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %X, %T) <{kernel = @m::@first, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  %O = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<4x8x8xf32, 1 : i32>
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %T, %O) <{kernel = @m::@second, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  func.return %O, %T : memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>
}

// -----

// Another group makes what is taken, or several do.
// CHECK-LABEL: func.func @others_groups(
// CHECK:         "gpu.launch_func"({{.*}}@first
// CHECK:         "gpu.launch_func"({{.*}}@second
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%X: memref<4x8x8xf32, 1 : i32>, %T: memref<4x8x8xf32, 1 : i32>):
    nest.for %n : group.x to 4 {
      nest.for %y : serial to 8 {
        nest.for %x : serial to 8 {
          %v = nest.load %X[%n, %y, %x] : memref<4x8x8xf32, 1 : i32>
          nest.store %v, %T[%n, %y, %x] : f32, memref<4x8x8xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "first", gpu.known_block_size = array<i32: 1, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%T: memref<4x8x8xf32, 1 : i32>, %O: memref<4x8x8xf32, 1 : i32>):
    nest.for %n : group.x to 4 {
      nest.for %y : serial to 8 {
        nest.for %x : serial to 8 {
          %v = nest.load %T[3 - %n, %y, %x] : memref<4x8x8xf32, 1 : i32>
          nest.store %v, %O[%n, %y, %x] : f32, memref<4x8x8xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "second", gpu.known_block_size = array<i32: 1, 1, 1>} : () -> ()
}) : () -> ()
func.func @others_groups(%X: memref<4x8x8xf32, 1 : i32>) -> (memref<4x8x8xf32, 1 : i32>) {
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %T = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<4x8x8xf32, 1 : i32>
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %X, %T) <{kernel = @m::@first, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  %O = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<4x8x8xf32, 1 : i32>
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %T, %O) <{kernel = @m::@second, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  "gpu.dealloc"(%T) {operandSegmentSizes = array<i32: 0, 1>} : (memref<4x8x8xf32, 1 : i32>) -> ()
  func.return %O : memref<4x8x8xf32, 1 : i32>
}

// -----

// Other groups.
// CHECK-LABEL: func.func @grids(
// CHECK:         "gpu.launch_func"({{.*}}@first
// CHECK:         "gpu.launch_func"({{.*}}@second
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%X: memref<4x8x8xf32, 1 : i32>, %T: memref<4x8x8xf32, 1 : i32>):
    nest.for %n : group.x to 4 {
      nest.for %y : serial to 8 {
        nest.for %x : serial to 8 {
          %v = nest.load %X[%n, %y, %x] : memref<4x8x8xf32, 1 : i32>
          nest.store %v, %T[%n, %y, %x] : f32, memref<4x8x8xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "first", gpu.known_block_size = array<i32: 1, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%T: memref<4x8x8xf32, 1 : i32>, %O: memref<4x8x8xf32, 1 : i32>):
    nest.for %n : group.x to 8 {
      nest.for %y : serial to 4 {
        nest.for %x : serial to 8 {
          %v = nest.load %T[%y, %n, %x] : memref<4x8x8xf32, 1 : i32>
          nest.store %v, %O[%y, %n, %x] : f32, memref<4x8x8xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "second", gpu.known_block_size = array<i32: 1, 1, 1>} : () -> ()
}) : () -> ()
func.func @grids(%X: memref<4x8x8xf32, 1 : i32>) -> (memref<4x8x8xf32, 1 : i32>) {
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %T = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<4x8x8xf32, 1 : i32>
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %X, %T) <{kernel = @m::@first, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  %O = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<4x8x8xf32, 1 : i32>
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %T, %O) <{kernel = @m::@second, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  "gpu.dealloc"(%T) {operandSegmentSizes = array<i32: 0, 1>} : (memref<4x8x8xf32, 1 : i32>) -> ()
  func.return %O : memref<4x8x8xf32, 1 : i32>
}

// -----

// Several steps write at one place, of which the last one counts.
// CHECK-LABEL: func.func @places(
// CHECK:         "gpu.launch_func"({{.*}}@first
// CHECK:         "gpu.launch_func"({{.*}}@second
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%X: memref<4x8x8xf32, 1 : i32>, %T: memref<4x8x8xf32, 1 : i32>):
    nest.for %n : group.x to 4 {
      nest.for %y : serial to 8 {
        nest.for %x : serial to 8 {
          %v = nest.load %X[%n, %y, %x] : memref<4x8x8xf32, 1 : i32>
          nest.store %v, %T[0, %y, %x] : f32, memref<4x8x8xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "first", gpu.known_block_size = array<i32: 1, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%T: memref<4x8x8xf32, 1 : i32>, %O: memref<4x8x8xf32, 1 : i32>):
    nest.for %n : group.x to 4 {
      nest.for %y : serial to 8 {
        nest.for %x : serial to 8 {
          %v = nest.load %T[0, %y, %x] : memref<4x8x8xf32, 1 : i32>
          nest.store %v, %O[%n, %y, %x] : f32, memref<4x8x8xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "second", gpu.known_block_size = array<i32: 1, 1, 1>} : () -> ()
}) : () -> ()
func.func @places(%X: memref<4x8x8xf32, 1 : i32>) -> (memref<4x8x8xf32, 1 : i32>) {
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %T = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<4x8x8xf32, 1 : i32>
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %X, %T) <{kernel = @m::@first, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  %O = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<4x8x8xf32, 1 : i32>
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %T, %O) <{kernel = @m::@second, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  "gpu.dealloc"(%T) {operandSegmentSizes = array<i32: 0, 1>} : (memref<4x8x8xf32, 1 : i32>) -> ()
  func.return %O : memref<4x8x8xf32, 1 : i32>
}

// -----

// Work-items of a group wait for one another.
// CHECK-LABEL: func.func @items(
// CHECK:         "gpu.launch_func"({{.*}}@first
// CHECK:         "gpu.launch_func"({{.*}}@second
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%X: memref<4x8x8xf32, 1 : i32>, %T: memref<4x8x8xf32, 1 : i32>):
    nest.for %n : group.x to 4 {
      nest.for %y : serial to 8 {
        nest.for %x : serial to 8 {
          %v = nest.load %X[%n, %y, %x] : memref<4x8x8xf32, 1 : i32>
          nest.store %v, %T[%n, %y, %x] : f32, memref<4x8x8xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "first", gpu.known_block_size = array<i32: 1, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%T: memref<4x8x8xf32, 1 : i32>, %O: memref<4x8x8xf32, 1 : i32>):
    nest.for %n : group.x to 4 {
      nest.for %y : serial to 8 {
        nest.for %x : serial to 8 {
          %v = nest.load %T[%n, 7 - %y, %x] : memref<4x8x8xf32, 1 : i32>
          nest.store %v, %O[%n, %y, %x] : f32, memref<4x8x8xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "second", gpu.known_block_size = array<i32: 8, 1, 1>} : () -> ()
}) : () -> ()
func.func @items(%X: memref<4x8x8xf32, 1 : i32>) -> (memref<4x8x8xf32, 1 : i32>) {
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %T = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<4x8x8xf32, 1 : i32>
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %X, %T) <{kernel = @m::@first, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  %O = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<4x8x8xf32, 1 : i32>
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %T, %O) <{kernel = @m::@second, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  "gpu.dealloc"(%T) {operandSegmentSizes = array<i32: 0, 1>} : (memref<4x8x8xf32, 1 : i32>) -> ()
  func.return %O : memref<4x8x8xf32, 1 : i32>
}

// -----

// The host writes it first: the kernel may leave some of that.
// CHECK-LABEL: func.func @begun(
// CHECK:         "gpu.launch_func"({{.*}}@first
// CHECK:         "gpu.launch_func"({{.*}}@second
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%X: memref<4x8x8xf32, 1 : i32>, %T: memref<4x8x8xf32, 1 : i32>):
    nest.for %n : group.x to 4 {
      nest.for %y : serial to 8 {
        nest.for %x : serial to 8 {
          %v = nest.load %X[%n, %y, %x] : memref<4x8x8xf32, 1 : i32>
          nest.store %v, %T[%n, %y, %x] : f32, memref<4x8x8xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "first", gpu.known_block_size = array<i32: 1, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%T: memref<4x8x8xf32, 1 : i32>, %O: memref<4x8x8xf32, 1 : i32>):
    nest.for %n : group.x to 4 {
      nest.for %y : serial to 8 {
        nest.for %x : serial to 8 {
          %v = nest.load %T[%n, 7 - %y, %x] : memref<4x8x8xf32, 1 : i32>
          nest.store %v, %O[%n, %y, %x] : f32, memref<4x8x8xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "second", gpu.known_block_size = array<i32: 1, 1, 1>} : () -> ()
}) : () -> ()
func.func @begun(%X: memref<4x8x8xf32, 1 : i32>) -> (memref<4x8x8xf32, 1 : i32>) {
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %T = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<4x8x8xf32, 1 : i32>
  "gpu.memcpy"(%T, %X) {operandSegmentSizes = array<i32: 0, 1, 1>} : (memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %X, %T) <{kernel = @m::@first, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  %O = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<4x8x8xf32, 1 : i32>
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %T, %O) <{kernel = @m::@second, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  "gpu.dealloc"(%T) {operandSegmentSizes = array<i32: 0, 1>} : (memref<4x8x8xf32, 1 : i32>) -> ()
  func.return %O : memref<4x8x8xf32, 1 : i32>
}

// -----

// Something else is launched between.
// CHECK-LABEL: func.func @between(
// CHECK:         "gpu.launch_func"({{.*}}@first
// CHECK:         "gpu.launch_func"({{.*}}@second
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%X: memref<4x8x8xf32, 1 : i32>, %T: memref<4x8x8xf32, 1 : i32>):
    nest.for %n : group.x to 4 {
      nest.for %y : serial to 8 {
        nest.for %x : serial to 8 {
          %v = nest.load %X[%n, %y, %x] : memref<4x8x8xf32, 1 : i32>
          nest.store %v, %T[%n, %y, %x] : f32, memref<4x8x8xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "first", gpu.known_block_size = array<i32: 1, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%T: memref<4x8x8xf32, 1 : i32>, %O: memref<4x8x8xf32, 1 : i32>):
    nest.for %n : group.x to 4 {
      nest.for %y : serial to 8 {
        nest.for %x : serial to 8 {
          %v = nest.load %T[%n, 7 - %y, %x] : memref<4x8x8xf32, 1 : i32>
          nest.store %v, %O[%n, %y, %x] : f32, memref<4x8x8xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "second", gpu.known_block_size = array<i32: 1, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%X: memref<4x8x8xf32, 1 : i32>, %U: memref<4x8x8xf32, 1 : i32>):
    nest.for %n : serial to 4 {
      nest.for %y : serial to 8 {
        nest.for %x : serial to 8 {
          %v = nest.load %X[%n, %y, %x] : memref<4x8x8xf32, 1 : i32>
          nest.store %v, %U[%n, %y, %x] : f32, memref<4x8x8xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "third", gpu.known_block_size = array<i32: 1, 1, 1>} : () -> ()
}) : () -> ()
func.func @between(%X: memref<4x8x8xf32, 1 : i32>) -> (memref<4x8x8xf32, 1 : i32>) {
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %T = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<4x8x8xf32, 1 : i32>
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %X, %T) <{kernel = @m::@first, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  %U = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<4x8x8xf32, 1 : i32>
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %X, %U) <{kernel = @m::@third, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  %O = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<4x8x8xf32, 1 : i32>
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %T, %O) <{kernel = @m::@second, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  "gpu.dealloc"(%T) {operandSegmentSizes = array<i32: 0, 1>} : (memref<4x8x8xf32, 1 : i32>) -> ()
  func.return %O : memref<4x8x8xf32, 1 : i32>
}

// -----

// Both are launched again.
// CHECK-LABEL: func.func @twice(
// CHECK:         "gpu.launch_func"({{.*}}@first
// CHECK:         "gpu.launch_func"({{.*}}@second
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%X: memref<4x8x8xf32, 1 : i32>, %T: memref<4x8x8xf32, 1 : i32>):
    nest.for %n : group.x to 4 {
      nest.for %y : serial to 8 {
        nest.for %x : serial to 8 {
          %v = nest.load %X[%n, %y, %x] : memref<4x8x8xf32, 1 : i32>
          nest.store %v, %T[%n, %y, %x] : f32, memref<4x8x8xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "first", gpu.known_block_size = array<i32: 1, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%T: memref<4x8x8xf32, 1 : i32>, %O: memref<4x8x8xf32, 1 : i32>):
    nest.for %n : group.x to 4 {
      nest.for %y : serial to 8 {
        nest.for %x : serial to 8 {
          %v = nest.load %T[%n, 7 - %y, %x] : memref<4x8x8xf32, 1 : i32>
          nest.store %v, %O[%n, %y, %x] : f32, memref<4x8x8xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "second", gpu.known_block_size = array<i32: 1, 1, 1>} : () -> ()
}) : () -> ()
func.func @twice(%X: memref<4x8x8xf32, 1 : i32>) -> (memref<4x8x8xf32, 1 : i32>) {
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %T = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<4x8x8xf32, 1 : i32>
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %X, %T) <{kernel = @m::@first, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  %O = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<4x8x8xf32, 1 : i32>
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %T, %O) <{kernel = @m::@second, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %X, %T) <{kernel = @m::@first, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %T, %O) <{kernel = @m::@second, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  "gpu.dealloc"(%T) {operandSegmentSizes = array<i32: 0, 1>} : (memref<4x8x8xf32, 1 : i32>) -> ()
  func.return %O : memref<4x8x8xf32, 1 : i32>
}

// -----

// The second kernel writes what the first one reads.
// CHECK-LABEL: func.func @back(
// CHECK:         "gpu.launch_func"({{.*}}@first
// CHECK:         "gpu.launch_func"({{.*}}@second
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%X: memref<4x8x8xf32, 1 : i32>, %T: memref<4x8x8xf32, 1 : i32>):
    nest.for %n : group.x to 4 {
      nest.for %y : serial to 8 {
        nest.for %x : serial to 8 {
          %v = nest.load %X[%n, %y, %x] : memref<4x8x8xf32, 1 : i32>
          nest.store %v, %T[%n, %y, %x] : f32, memref<4x8x8xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "first", gpu.known_block_size = array<i32: 1, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%T: memref<4x8x8xf32, 1 : i32>, %X: memref<4x8x8xf32, 1 : i32>):
    nest.for %n : group.x to 4 {
      nest.for %y : serial to 8 {
        nest.for %x : serial to 8 {
          %v = nest.load %T[%n, %y, %x] : memref<4x8x8xf32, 1 : i32>
          nest.store %v, %X[%n, %y, %x] : f32, memref<4x8x8xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "second", gpu.known_block_size = array<i32: 1, 1, 1>} : () -> ()
}) : () -> ()
func.func @back(%X: memref<4x8x8xf32, 1 : i32>) -> (memref<4x8x8xf32, 1 : i32>) {
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %T = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<4x8x8xf32, 1 : i32>
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %X, %T) <{kernel = @m::@first, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %T, %X) <{kernel = @m::@second, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  "gpu.dealloc"(%T) {operandSegmentSizes = array<i32: 0, 1>} : (memref<4x8x8xf32, 1 : i32>) -> ()
  func.return %X : memref<4x8x8xf32, 1 : i32>
}

// -----

// A GPU's groups are many, and its caches small.
// CHECK-LABEL: func.func @gpu(
// CHECK:         "gpu.launch_func"({{.*}}@first
// CHECK:         "gpu.launch_func"({{.*}}@second
builtin.module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"type" = "gpu">>} {
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%X: memref<4x8x8xf32, 1 : i32>, %T: memref<4x8x8xf32, 1 : i32>):
    nest.for %n : group.x to 4 {
      nest.for %y : serial to 8 {
        nest.for %x : serial to 8 {
          %v = nest.load %X[%n, %y, %x] : memref<4x8x8xf32, 1 : i32>
          nest.store %v, %T[%n, %y, %x] : f32, memref<4x8x8xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "first", gpu.known_block_size = array<i32: 1, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%T: memref<4x8x8xf32, 1 : i32>, %O: memref<4x8x8xf32, 1 : i32>):
    nest.for %n : group.x to 4 {
      nest.for %y : serial to 8 {
        nest.for %x : serial to 8 {
          %v = nest.load %T[%n, 7 - %y, %x] : memref<4x8x8xf32, 1 : i32>
          nest.store %v, %O[%n, %y, %x] : f32, memref<4x8x8xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "second", gpu.known_block_size = array<i32: 1, 1, 1>} : () -> ()
}) : () -> ()
func.func @gpu(%X: memref<4x8x8xf32, 1 : i32>) -> (memref<4x8x8xf32, 1 : i32>) {
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %T = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<4x8x8xf32, 1 : i32>
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %X, %T) <{kernel = @m::@first, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  %O = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<4x8x8xf32, 1 : i32>
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %T, %O) <{kernel = @m::@second, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  "gpu.dealloc"(%T) {operandSegmentSizes = array<i32: 0, 1>} : (memref<4x8x8xf32, 1 : i32>) -> ()
  func.return %O : memref<4x8x8xf32, 1 : i32>
}
}

// -----

// What no cache near a core holds.
// CHECK-LABEL: func.func @large(
// CHECK:         "gpu.launch_func"({{.*}}@first
// CHECK:         "gpu.launch_func"({{.*}}@second
builtin.module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"type" = "cpu", "cache_sizes" = [64, 128, 4096]>>} {
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%X: memref<4x8x8xf32, 1 : i32>, %T: memref<4x8x8xf32, 1 : i32>):
    nest.for %n : group.x to 4 {
      nest.for %y : serial to 8 {
        nest.for %x : serial to 8 {
          %v = nest.load %X[%n, %y, %x] : memref<4x8x8xf32, 1 : i32>
          nest.store %v, %T[%n, %y, %x] : f32, memref<4x8x8xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "first", gpu.known_block_size = array<i32: 1, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%T: memref<4x8x8xf32, 1 : i32>, %O: memref<4x8x8xf32, 1 : i32>):
    nest.for %n : group.x to 4 {
      nest.for %y : serial to 8 {
        nest.for %x : serial to 8 {
          %v = nest.load %T[%n, 7 - %y, %x] : memref<4x8x8xf32, 1 : i32>
          nest.store %v, %O[%n, %y, %x] : f32, memref<4x8x8xf32, 1 : i32>
        }
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "second", gpu.known_block_size = array<i32: 1, 1, 1>} : () -> ()
}) : () -> ()
func.func @large(%X: memref<4x8x8xf32, 1 : i32>) -> (memref<4x8x8xf32, 1 : i32>) {
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %T = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<4x8x8xf32, 1 : i32>
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %X, %T) <{kernel = @m::@first, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  %O = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<4x8x8xf32, 1 : i32>
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %T, %O) <{kernel = @m::@second, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<4x8x8xf32, 1 : i32>, memref<4x8x8xf32, 1 : i32>) -> ()
  "gpu.dealloc"(%T) {operandSegmentSizes = array<i32: 0, 1>} : (memref<4x8x8xf32, 1 : i32>) -> ()
  func.return %O : memref<4x8x8xf32, 1 : i32>
}
}
