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

// A Kronecker product: digits of the output's places, which are known to have one owner with a domain,
// stay where single variables would be searched for the digits.
// CHECK: tile.contraction assign(%A[v1] mul %B[v0 - 4*v1]) -> [v0] : (
// DOMAIN: tile.contraction assign(%A[i] mul %B[k]) -> [4*i + k] domain <i = 0 to 3, k = 0 to 4> : (
func.func @kronecker(%A: tensor<3xf32>, %B: tensor<4xf32>) -> tensor<12xf32> {
  %K = tile.contraction assign(%A[i] mul %B[k]) -> [4*i + k] : (tensor<3xf32>, tensor<4xf32>) -> tensor<12xf32>
  func.return %K : tensor<12xf32>
}

// Elements that nothing lands on keep it from that, and so do places that meet.
// DOMAIN: tile.contraction assign(%A[v1] mul %B[v0 - 4*v1]) -> [v0] domain
func.func @unwritten(%A: tensor<3xf32>, %B: tensor<4xf32>) -> tensor<13xf32> {
  %K = tile.contraction assign(%A[i] mul %B[k]) -> [4*i + k] : (tensor<3xf32>, tensor<4xf32>) -> tensor<13xf32>
  func.return %K : tensor<13xf32>
}

// DOMAIN: tile.contraction add(%A[v1] mul %B[v0 - 3*v1]) -> [v0] domain
func.func @meeting(%A: tensor<3xf32>, %B: tensor<4xf32>) -> tensor<10xf32> {
  %K = tile.contraction add(%A[i] mul %B[k]) -> [3*i + k] : (tensor<3xf32>, tensor<4xf32>) -> tensor<10xf32>
  func.return %K : tensor<10xf32>
}

// Digits that tile-defract finds are left to it.
// DOMAIN: tile.contraction assign(%X[1/2*v0 - 1/2*v1]) -> [v0] where 0 <= v1 < 2 domain
func.func @repeated(%X: tensor<4xf32>) -> tensor<8xf32> {
  %R = tile.contraction assign(%X[i]) -> [2*i + k] where 0 <= k < 2 : (tensor<4xf32>) -> tensor<8xf32>
  func.return %R : tensor<8xf32>
}

// Not so what it splits into fewer classes than there are digits: others would be searched for.
// DOMAIN: tile.contraction assign(%X[c, 2*y + j, 2*x + i]) -> [4*c + 2*j + i, y, x] where 0 <= j < 2, 0 <= i < 2 domain <
func.func @unshuffled(%X: tensor<3x8x10xf32>) -> tensor<12x4x5xf32> {
  %R = tile.contraction assign(%X[c, 2*y + j, 2*x + i]) -> [4*c + 2*j + i, y, x] where 0 <= j < 2, 0 <= i < 2 : (tensor<3x8x10xf32>) -> tensor<12x4x5xf32>
  func.return %R : tensor<12x4x5xf32>
}

// DOMAIN: tile.contraction assign(%X[b, 7*y + j, 7*x + i]) -> [16*b + 4*y + x, 7*j + i] where
func.func @windows(%X: tensor<2x28x28xf32>) -> tensor<32x49xf32> {
  %R = tile.contraction assign(%X[b, 7*y + j, 7*x + i]) -> [16*b + 4*y + x, 7*j + i] where 0 <= j < 7, 0 <= i < 7, 0 <= y < 4, 0 <= x < 4 : (tensor<2x28x28xf32>) -> tensor<32x49xf32>
  func.return %R : tensor<32x49xf32>
}
