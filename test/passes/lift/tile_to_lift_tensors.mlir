// RUN: tile-opt %s -p 'tile-to-lift{tensors=C}' | filecheck %s
// RUN: not tile-opt %s -p 'tile-to-lift{tensors=E}' 2>&1 | filecheck %s --check-prefix UNKNOWN

// Only the contractions that are named are expressed as patterns.
// CHECK: lift.reduce(
// CHECK: %D = tile.contraction max(
// UNKNOWN: there is no contraction E; there is C, D
func.func @both(%A: tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %C = tile.contraction add(%A[i, k]) -> [i] domain <i = 0 to 2, k = 0 to 3> : (tensor<2x3xf32>) -> tensor<2xf32>
  %D = tile.contraction max(%A[i, k]) -> [i] domain <i = 0 to 2, k = 0 to 3> : (tensor<2x3xf32>) -> tensor<2xf32>
  func.return %C, %D : tensor<2xf32>, tensor<2xf32>
}
