// RUN: tile-opt %s -p tile-narrow-operands | filecheck %s

// Sums of products and scans take what casts make f32 of 16 bits as it is; other sums do not.
// CHECK-LABEL: @sums
// CHECK: %C = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] : (tensor<4x8xf16>, tensor<8x5xf16>) -> tensor<4x5xf32>
// CHECK: %D = tile.contraction add(%A[i, k] mul %C[i, j]) -> [k, j] : (tensor<4x8xf16>, tensor<4x5xf32>) -> tensor<8x5xf32>
// CHECK: %S = tile.scan add %A axis 1 : (tensor<4x8xf16>) -> tensor<4x8xf32>
// CHECK: %T = tile.contraction add(%A_wide[i, k]) -> [i] : (tensor<4x8xf32>) -> tensor<4xf32>
func.func @sums(%A: tensor<4x8xf16>, %B: tensor<8x5xf16>) -> (tensor<8x5xf32>, tensor<4x8xf32>, tensor<4xf32>) {
  %A_wide = tile.cast %A : (tensor<4x8xf16>) -> tensor<4x8xf32>
  %B_wide = tile.cast %B : (tensor<8x5xf16>) -> tensor<8x5xf32>
  %C = tile.contraction add(%A_wide[i, k] mul %B_wide[k, j]) -> [i, j] : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  %D = tile.contraction add(%A_wide[i, k] mul %C[i, j]) -> [k, j] : (tensor<4x8xf32>, tensor<4x5xf32>) -> tensor<8x5xf32>
  %S = tile.scan add %A_wide axis 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %T = tile.contraction add(%A_wide[i, k]) -> [i] : (tensor<4x8xf32>) -> tensor<4xf32>
  func.return %D, %S, %T : tensor<8x5xf32>, tensor<4x8xf32>, tensor<4xf32>
}

// What is cast to f64 stays.
// CHECK-LABEL: @wider
// CHECK: tile.contraction add(%A_wide[i] mul %A_wide[i]) -> [] : (tensor<4xf64>, tensor<4xf64>) -> tensor<f64>
func.func @wider(%A: tensor<4xf16>) -> tensor<f64> {
  %A_wide = tile.cast %A : (tensor<4xf16>) -> tensor<4xf64>
  %S = tile.contraction add(%A_wide[i] mul %A_wide[i]) -> [] : (tensor<4xf64>, tensor<4xf64>) -> tensor<f64>
  func.return %S : tensor<f64>
}
