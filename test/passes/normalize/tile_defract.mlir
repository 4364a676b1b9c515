// RUN: tile-opt %s -p tile-defract | filecheck %s

// The reduced input gradient of a 2x dilated stride 3 convolution.
// CHECK: tile.contraction add(%DO[v0_0, -v1_0 + v1_1 - 2*v4_0, -v2_0 + v2_1 - 2*v5_0, v6_0] mul %K[2*v1_0 + 3*v4_0, 2*v2_0 + 3*v5_0, v3_0, v6_0]) -> [v0_0, v1_0 + 3*v1_1, v2_0 + 3*v2_1, v3_0] where 0 <= v1_0 < 3, 0 <= v2_0 < 3 : (
func.func @gradient(%DO: tensor<2x3x3x7xf32>, %K: tensor<2x2x5x7xf32>) -> tensor<2x9x9x5xf32> {
  %DI = tile.contraction add(%DO[v0, 1/3*v1 - 2/3*v4, 1/3*v2 - 2/3*v5, v6] mul %K[v4, v5, v3, v6]) -> [v0, v1, v2, v3] : (tensor<2x3x3x7xf32>, tensor<2x2x5x7xf32>) -> tensor<2x9x9x5xf32>
  func.return %DI : tensor<2x9x9x5xf32>
}

// Without fractions nothing changes.
// CHECK: tile.contraction add(%A[2*i + k]) -> [i] where 0 <= k < 2 : (
// Under `no_defract` fractions go, too.
// CHECK: tile.contraction add(%A[i_0]) -> [2*i_0] no_defract : (
func.func @others(%A: tensor<6xf32>) -> (tensor<3xf32>, tensor<12xf32>) {
  %B = tile.contraction add(%A[2*i + k]) -> [i] where 0 <= k < 2 : (tensor<6xf32>) -> tensor<3xf32>
  %C = tile.contraction add(%A[1/2*i]) -> [i] no_defract : (tensor<6xf32>) -> tensor<12xf32>
  func.return %B, %C : tensor<3xf32>, tensor<12xf32>
}
