// RUN: not tile-opt %s -p tile-bounds 2>&1 | filecheck %s

// CHECK: nothing bounds the index j of O: add a constraint
func.func @unbounded(%A: tensor<6xf32>) -> tensor<6xf32> {
  %O = tile.contraction add(%A[i + j - k]) -> [i] : (tensor<6xf32>) -> tensor<6xf32>
  func.return %O : tensor<6xf32>
}
