// RUN: tile-opt %s -p nest-fuse-horizontally | filecheck %s

// The name of the kernel is none that is there. Launches that say what they wait for, or of sizes
// that their kernel is not for, stay as they are.
// CHECK:       sym_name = "copy_and_0_again_1"
// CHECK-LABEL: func.func @again(
// CHECK:         kernel = @m::@copy_and_0_again_1
// CHECK-LABEL: func.func @waiting(
// CHECK-COUNT-2: kernel = @m::@copy,
// CHECK-LABEL: func.func @smaller(
// CHECK-COUNT-2: kernel = @m::@copy,
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<8xf32, 1 : i32>, memref<8xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%X: memref<8xf32, 1 : i32>, %O: memref<8xf32, 1 : i32>):
    nest.for %n : group.x to 8 {
      %v = nest.load %X[%n] : memref<8xf32, 1 : i32>
      nest.store %v, %O[%n] : f32, memref<8xf32, 1 : i32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "copy", gpu.known_block_size = array<i32: 1, 1, 1>, gpu.known_grid_size = array<i32: 8, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = () -> (), kernel}> ({
    "gpu.return"() : () -> ()
  }) {sym_name = "copy_and_0"} : () -> ()
}) : () -> ()
func.func @again(%X: memref<8xf32, 1 : i32>, %A: memref<8xf32, 1 : i32>, %B: memref<8xf32, 1 : i32>) {
  %one = arith.constant 1 : index
  %eight = arith.constant 8 : index
  "gpu.launch_func"(%eight, %one, %one, %one, %one, %one, %X, %A) <{kernel = @m::@copy, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<8xf32, 1 : i32>, memref<8xf32, 1 : i32>) -> ()
  "gpu.launch_func"(%eight, %one, %one, %one, %one, %one, %X, %B) <{kernel = @m::@copy, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<8xf32, 1 : i32>, memref<8xf32, 1 : i32>) -> ()
  func.return
}
func.func @waiting(%X: memref<8xf32, 1 : i32>, %A: memref<8xf32, 1 : i32>, %B: memref<8xf32, 1 : i32>) {
  %one = arith.constant 1 : index
  %eight = arith.constant 8 : index
  %first = "gpu.launch_func"(%eight, %one, %one, %one, %one, %one, %X, %A) <{kernel = @m::@copy, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<8xf32, 1 : i32>, memref<8xf32, 1 : i32>) -> !gpu.async.token
  %second = "gpu.launch_func"(%first, %eight, %one, %one, %one, %one, %one, %X, %B) <{kernel = @m::@copy, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (!gpu.async.token, index, index, index, index, index, index, memref<8xf32, 1 : i32>, memref<8xf32, 1 : i32>) -> !gpu.async.token
  "gpu.wait"(%second) : (!gpu.async.token) -> ()
  func.return
}
func.func @smaller(%X: memref<8xf32, 1 : i32>, %A: memref<8xf32, 1 : i32>, %B: memref<8xf32, 1 : i32>) {
  %one = arith.constant 1 : index
  %eight = arith.constant 8 : index
  "gpu.launch_func"(%eight, %one, %one, %one, %one, %one, %X, %A) <{kernel = @m::@copy, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<8xf32, 1 : i32>, memref<8xf32, 1 : i32>) -> ()
  "gpu.launch_func"(%one, %one, %one, %one, %one, %one, %X, %B) <{kernel = @m::@copy, operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 0>}> : (index, index, index, index, index, index, memref<8xf32, 1 : i32>, memref<8xf32, 1 : i32>) -> ()
  func.return
}
