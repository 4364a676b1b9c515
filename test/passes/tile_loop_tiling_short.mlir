// RUN: not tile-opt %s -p tile-loop-tiling 2>&1 | filecheck %s

// CHECK: the loops over d0 reach 5 of its 8 values
func.func @given(%A: tensor<8xf32>) -> tensor<8xf32> {
  %C = tile.kernel(%a = %A : tensor<8xf32>) -> tensor<8xf32> schedule <serial d0 : 5> {
    %c = tile.exp %a : (tensor<8xf32>) -> tensor<8xf32>
    tile.yield %c : tensor<8xf32>
  }
  func.return %C : tensor<8xf32>
}
