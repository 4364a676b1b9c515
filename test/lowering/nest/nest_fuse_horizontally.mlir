// RUN: tile-opt %s -p nest-fuse-horizontally --split-input-file | filecheck %s
// RUN: tile-opt %s -p nest-fuse-horizontally{most=1} --split-input-file | filecheck %s --check-prefix APART

// The second and the third launch become one, of a kernel that calls both. What takes a result of
// the first one comes after it, and memory is freed after its last use.
// CHECK:       sym_name = "turn"
// CHECK-NEXT:    "gpu.func"
// CHECK-NEXT:  ^bb0(%X: memref<8xf32, 1 : i32>, %O: memref<8xf32, 1 : i32>, %X_1: memref<8xf32, 1 : i32>, %O_1: memref<8xf32, 1 : i32>):
// CHECK-NEXT:    nest.call @copy(%X, %O) : memref<8xf32, 1 : i32>, memref<8xf32, 1 : i32>
// CHECK-NEXT:    nest.call @turn(%X_1, %O_1) : memref<8xf32, 1 : i32>, memref<8xf32, 1 : i32>
// CHECK-NEXT:    "gpu.return"() : () -> ()
// CHECK:       sym_name = "copy_and_1", gpu.known_block_size = array<i32: 1, 1, 1>
// CHECK-SAME:  gpu.known_grid_size = array<i32: 6, 1, 1>
// CHECK-LABEL: func.func @pair(
// CHECK:         "gpu.launch_func"({{.*}}, %X, %A) <{kernel = @m::@copy,
// CHECK:         "gpu.launch_func"({{.*}}, %A, %C, %X, %B) <{kernel = @m::@copy_and_1
// CHECK-SAME:      nest.part = "C and B", nest.layers = {a = 1.500000e+00 : f64, b = 1.000000e+00 : f64}
// CHECK-NEXT:    "gpu.dealloc"(%A)
// CHECK-NEXT:    func.return %B, %C
// APART-LABEL: func.func @pair(
// APART-COUNT-3: "gpu.launch_func"
// APART-NOT:     copy_and
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8xf32, 1 : i32>, memref<8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%X: memref<8xf32, 1 : i32>, %O: memref<8xf32, 1 : i32>):
    nest.for %n : group.x to 4 {
      nest.for %k : serial to 2 {
        %v = nest.load %X[2*%n + %k] : memref<8xf32, 1 : i32>
        nest.store %v, %O[2*%n + %k] : f32, memref<8xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "copy", gpu.known_block_size = array<i32: 1, 1, 1>, gpu.known_grid_size = array<i32: 4, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<8xf32, 1 : i32>, memref<8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%X: memref<8xf32, 1 : i32>, %O: memref<8xf32, 1 : i32>):
    nest.for %n : group.x to 2 {
      nest.for %k : serial to 4 {
        %v = nest.load %X[7 - 4*%n - %k] : memref<8xf32, 1 : i32>
        nest.store %v, %O[4*%n + %k] : f32, memref<8xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "turn", gpu.known_block_size = array<i32: 1, 1, 1>, gpu.known_grid_size = array<i32: 2, 1, 1>} : () -> ()
}) : () -> ()
func.func @pair(%X: memref<8xf32, 1 : i32>) -> (memref<8xf32, 1 : i32>, memref<8xf32, 1 : i32>) {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %four = arith.constant 4 : index
  %A = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<8xf32, 1 : i32>
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %X, %A) <{kernel = @m::@copy, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> {nest.part = "A", nest.layers = {a = 2.0 : f64}} : (index, index, index, index, index, index, memref<8xf32, 1 : i32>, memref<8xf32, 1 : i32>) -> ()
  %C = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<8xf32, 1 : i32>
  "gpu.launch_func"(%four, %one, %one, %one, %one, %one, %A, %C) <{kernel = @m::@copy, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> {nest.part = "C", nest.layers = {a = 0.5 : f64}} : (index, index, index, index, index, index, memref<8xf32, 1 : i32>, memref<8xf32, 1 : i32>) -> ()
  "gpu.dealloc"(%A) {operandSegmentSizes = array<i32: 0, 1>} : (memref<8xf32, 1 : i32>) -> ()
  %B = "gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> memref<8xf32, 1 : i32>
  "gpu.launch_func"(%two, %one, %one, %one, %one, %one, %X, %B) <{kernel = @m::@turn, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> {nest.part = "B", nest.layers = {a = 1.0 : f64, b = 1.0 : f64}} : (index, index, index, index, index, index, memref<8xf32, 1 : i32>, memref<8xf32, 1 : i32>) -> ()
  func.return %B, %C : memref<8xf32, 1 : i32>, memref<8xf32, 1 : i32>
}

// -----

// A launch has sub-groups of one size.
// CHECK-LABEL: func.func @sizes(
// CHECK:         "gpu.launch_func"({{.*}}, %X, %A, %C) <{kernel = @m::@by_8_and_
// CHECK:         "gpu.launch_func"({{.*}}, %X, %B) <{kernel = @m::@by_16,
// CHECK-NOT:     "gpu.launch_func"
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<32xf32, 1 : i32>, memref<32xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%X: memref<32xf32, 1 : i32>, %O: memref<32xf32, 1 : i32>):
    nest.for %n : local.x to 32 {
      %x = nest.load %X[%n] : memref<32xf32, 1 : i32>
      %y = nest.shuffle %x xor 1 in 8 : f32
      nest.store %y, %O[%n] : f32, memref<32xf32, 1 : i32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "by_8", gpu.known_block_size = array<i32: 32, 1, 1>, gpu.known_grid_size = array<i32: 1, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<32xf32, 1 : i32>, memref<32xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%X: memref<32xf32, 1 : i32>, %O: memref<32xf32, 1 : i32>):
    nest.for %n : local.x to 32 {
      %x = nest.load %X[%n] : memref<32xf32, 1 : i32>
      %y = nest.shuffle %x xor 1 in 16 : f32
      nest.store %y, %O[%n] : f32, memref<32xf32, 1 : i32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "by_16", gpu.known_block_size = array<i32: 32, 1, 1>, gpu.known_grid_size = array<i32: 1, 1, 1>} : () -> ()
}) : () -> ()
func.func @sizes(%X: memref<32xf32, 1 : i32>, %A: memref<32xf32, 1 : i32>, %B: memref<32xf32, 1 : i32>, %C: memref<32xf32, 1 : i32>) {
  %one = arith.constant 1 : index
  %n = arith.constant 32 : index
  "gpu.launch_func"(%one, %one, %one, %n, %one, %one, %X, %A) <{kernel = @m::@by_8, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<32xf32, 1 : i32>, memref<32xf32, 1 : i32>) -> ()
  "gpu.launch_func"(%one, %one, %one, %n, %one, %one, %X, %B) <{kernel = @m::@by_16, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<32xf32, 1 : i32>, memref<32xf32, 1 : i32>) -> ()
  "gpu.launch_func"(%one, %one, %one, %n, %one, %one, %X, %C) <{kernel = @m::@by_8, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<32xf32, 1 : i32>, memref<32xf32, 1 : i32>) -> ()
  func.return
}
