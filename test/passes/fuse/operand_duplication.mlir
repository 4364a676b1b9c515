// RUN: tile-opt %s -p tile-fuse --split-input-file | filecheck %s

// What is read at two places is an operand for each; neighbours are at one place.
// CHECK-LABEL: func.func @squares(
// CHECK:         %C = tile.kernel @{{\w+}}(%A_1 = %A : tensor<8x4xf32>, %A_again = %A : tensor<8x4xf32>) -> tensor<8x8xf32> {
// CHECK-NEXT:      %{{.*}} = tile.contraction add(%A_1[i, k] mul %A_again[j, k]) -> [i, j]
func.func @squares(%A: tensor<8x4xf32>) -> tensor<8x8xf32> {
  %C = tile.contraction add(%A[i, k] mul %A[j, k]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 4> : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  func.return %C : tensor<8x8xf32>
}

// -----

// CHECK-LABEL: func.func @neighbours(
// CHECK:         %C = tile.kernel @{{\w+}}(%A_1 = %A : tensor<8x4xf32>) -> tensor<8xf32> {
// CHECK-NEXT:      %{{.*}} = tile.contraction add(%A_1[i, k] mul %A_1[i, k + 1]) -> [i]
func.func @neighbours(%A: tensor<8x4xf32>) -> tensor<8xf32> {
  %C = tile.contraction add(%A[i, k] mul %A[i, k + 1]) -> [i] domain <i = 0 to 8, k = 0 to 3> : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8xf32>
  func.return %C : tensor<8xf32>
}

// -----

// What follows the sum reads the first of them.
// CHECK-LABEL: func.func @three(
// CHECK:         %D = tile.kernel @{{\w+}}(%A_1 = %A : tensor<4x4xf32>, %A_again = %A : tensor<4x4xf32>, %A_again_again = %A : tensor<4x4xf32>)
// CHECK-NEXT:      %[[C:.*]] = tile.contraction add(%A_1[i, k] mul %A_again[k, l] mul %A_again_again[l, j]) -> [i, j]
// CHECK-NEXT:      tile.add %[[C]], %A_1
func.func @three(%A: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %C = tile.contraction add(%A[i, k] mul %A[k, l] mul %A[l, j]) -> [i, j] domain <i = 0 to 4, j = 0 to 4, k = 0 to 4, l = 0 to 4> : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %D = tile.add %C, %A : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %D : tensor<4x4xf32>
}

// -----

// What a contraction reads is not what its result begins as.
// CHECK-LABEL: func.func @default(
// CHECK:         %C = tile.kernel @{{\w+}}(%A_1 = %A : tensor<4x4xf32>, %A_again = %A : tensor<4x4xf32>)
// CHECK-NEXT:      tile.contraction assign(%A_1[i, j]) -> [i + 1, j] default %A_again
func.func @default(%A: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %C = tile.contraction assign(%A[i, j]) -> [i + 1, j] default %A domain <i = 0 to 3, j = 0 to 4> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %C : tensor<4x4xf32>
}

// -----

// Nor is what the operands of the contraction are computed of.
// CHECK-LABEL: func.func @computed(
// CHECK:         %C = tile.kernel @{{\w+}}(%A_1 = %A : tensor<4x4xf32>, %A_again = %A : tensor<4x4xf32>)
// CHECK-NEXT:      %[[B:.*]] = tile.exp %A_1
// CHECK-NEXT:      tile.contraction assign(%[[B]][3, j]) -> [0, j] default %A_again
func.func @computed(%A: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %B = tile.exp %A : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %C = tile.contraction assign(%B[3, j]) -> [0, j] default %A domain <j = 0 to 4> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %C : tensor<4x4xf32>
}
