// RUN: not tile-opt %s -p tile-bounds 2>&1 | filecheck %s

// CHECK: O[0] is assigned twice: where i = 0, j = 0, and where i = 0, j = 1
func.func @twice(%A: tensor<6x2xf32>) -> tensor<6xf32> {
  %O = tile.contraction assign(%A[i, j]) -> [i] : (tensor<6x2xf32>) -> tensor<6xf32>
  func.return %O : tensor<6xf32>
}
