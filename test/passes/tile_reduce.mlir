// RUN: tile-opt %s -p tile-reduce | filecheck %s
// RUN: tile-opt %s -p tile-bounds,tile-reduce | filecheck %s --check-prefix=DOMAIN

// The input gradient of a 2x dilated stride 3 convolution.
// CHECK: tile.contraction add(%DO[v0, 1/3*v1 - 2/3*v4, 1/3*v2 - 2/3*v5, v6] mul %K[v4, v5, v3, v6]) -> [v0, v1, v2, v3] : (
// DOMAIN: tile.contraction add(%DO[v0, 1/3*v1 - 2/3*v4, 1/3*v2 - 2/3*v5, v6] mul %K[v4, v5, v3, v6]) -> [v0, v1, v2, v3] domain <v0 = 0 to 2, v1 = 0 to 9, v2 = 0 to 9, v3 = 0 to 5, v4 = 0 to 2, v5 = 0 to 2, v6 = 0 to 7> : (
func.func @gradient(%DO: tensor<2x3x3x7xf32>, %K: tensor<2x2x5x7xf32>) -> tensor<2x9x9x5xf32> {
  %DI = tile.contraction add(%DO[n, y, x, co] mul %K[j, i, ci, co]) -> [n, 3*y + 2*j, 3*x + 2*i, ci] : (tensor<2x3x3x7xf32>, tensor<2x2x5x7xf32>) -> tensor<2x9x9x5xf32>
  func.return %DI : tensor<2x9x9x5xf32>
}

// Output indices that are single variables stay.
// CHECK: tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] : (
func.func @product(%A: tensor<3x4xf32>, %B: tensor<4x5xf32>) -> tensor<3x5xf32> {
  %C = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  func.return %C : tensor<3x5xf32>
}
