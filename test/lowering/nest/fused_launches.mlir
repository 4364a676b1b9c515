// RUN: tile-opt %s -p tile-loop-tiling,tile-to-gpu | filecheck %s
// RUN: tile-opt %s -p tile-loop-tiling,tile-to-gpu{most=1} | filecheck %s --check-prefix APART

// CHECK:       %group = "gpu.block_id"
// CHECK:       sym_name = "copies_0_A_and_1"
// CHECK-NOT:   "gpu.func"
// CHECK-COUNT-1: "gpu.launch_func"
// CHECK-NOT:   "gpu.launch_func"
// APART:       sym_name = "copies_0_A", gpu.known
// APART:       sym_name = "copies_1_B", gpu.known
// APART-COUNT-2: "gpu.launch_func"
func.func @copies(%X: tensor<8xf32>, %Y: tensor<8xf64>) -> (tensor<8xf32> {tile.name = "A"}, tensor<8xf64> {tile.name = "B"}) {
  %A = tile.kernel(%x = %X : tensor<8xf32>) -> tensor<8xf32> {
    %a = arith.negf %x : tensor<8xf32>
    tile.yield %a : tensor<8xf32>
  }
  %B = tile.kernel(%y = %Y : tensor<8xf64>) -> tensor<8xf64> {
    %b = arith.negf %y : tensor<8xf64>
    tile.yield %b : tensor<8xf64>
  }
  func.return %A, %B : tensor<8xf32>, tensor<8xf64>
}
