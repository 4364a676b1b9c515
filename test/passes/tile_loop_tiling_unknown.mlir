// RUN: not tile-opt %s -p tile-loop-tiling 2>&1 | filecheck %s

// CHECK: the schedule has a loop over d1, which is no index here
func.func @given(%A: tensor<8xf32>) -> tensor<8xf32> {
  %C = tile.kernel(%a = %A : tensor<8xf32>) -> tensor<8xf32> schedule <serial d0 : 8, serial d1 : 2> {
    %c = tile.exp %a : (tensor<8xf32>) -> tensor<8xf32>
    tile.yield %c : tensor<8xf32>
  }
  func.return %C : tensor<8xf32>
}
