// RUN: not tile-opt %s -p tile-loop-tiling 2>&1 | filecheck %s

// CHECK: the loops over d0 have a gap or an overlap at stride 4
func.func @given(%A: tensor<8xf32>) -> tensor<8xf32> {
  %C = tile.kernel(%a = %A : tensor<8xf32>) -> tensor<8xf32> schedule <serial 4*d0 : 2> {
    %c = tile.exp %a : (tensor<8xf32>) -> tensor<8xf32>
    tile.yield %c : tensor<8xf32>
  }
  func.return %C : tensor<8xf32>
}
