// RUN: tile-opt %s -p 'tile-split-reduction{index=k parts=4}' --split-input-file | filecheck %s
// RUN: tile-opt %s -p 'tile-bounds,tile-split-reduction{index=k parts=4}' --split-input-file | filecheck %s --check-prefix=BOUNDS

// Each part has its own product; where the last part is shorter, the inputs' sizes say so.
// CHECK-LABEL: @product
// CHECK-NEXT: %C_parts = tile.contraction add(%A[i, 3*k_part + k] mul %B[3*k_part + k, j]) -> [k_part, i, j] where 0 <= k < 3 : (tensor<5x10xf32>, tensor<10x7xf32>) -> tensor<4x5x7xf32>
// CHECK-NEXT: %C = tile.contraction add(%C_parts[k_part, i, j]) -> [i, j] : (tensor<4x5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT: return %C
// BOUNDS-LABEL: @product
// BOUNDS: where 0 <= k < 3 domain <k_part = 0 to 4, i = 0 to 5, j = 0 to 7, k = 0 to 3> :
// BOUNDS: domain <i = 0 to 5, j = 0 to 7, k_part = 0 to 4> :
func.func @product(%A: tensor<5x10xf32>, %B: tensor<10x7xf32>) -> tensor<5x7xf32> {
  %C = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] : (tensor<5x10xf32>, tensor<10x7xf32>) -> tensor<5x7xf32>
  func.return %C : tensor<5x7xf32>
}

// -----

// A full sum; there are no more parts than values. The partial results of f16 are f32.
// CHECK-LABEL: @sum
// CHECK-NEXT: %S_parts = tile.contraction add(%A[k_part + k, j]) -> [k_part] where 0 <= k < 1 : (tensor<3x8xf16>) -> tensor<3xf32>
// CHECK-NEXT: %total = tile.contraction add(%S_parts[k_part]) -> [] : (tensor<3xf32>) -> tensor<f32>
// CHECK-NEXT: %S = tile.cast %total : (tensor<f32>) -> tensor<f16>
func.func @sum(%A: tensor<3x8xf16>) -> tensor<f16> {
  %S = tile.contraction add(%A[k, j]) -> [] : (tensor<3x8xf16>) -> tensor<f16>
  func.return %S : tensor<f16>
}

// -----

// Nothing lands on some partial maxima, which must change nothing then; but every x has a k.
// CHECK-LABEL: @ends
// CHECK-NEXT: %start = tile.constant -inf : tensor<f32>
// CHECK-NEXT: %starts = tile.contraction assign(%start[]) -> [i0, i1] : (tensor<f32>) -> tensor<4x4xf32>
// CHECK-NEXT: tile.contraction max(%A[2*k_part + k]) -> [k_part, x] where 0 <= 2*x - 2*k_part - k < 2, 0 <= k < 2 default %starts
func.func @ends(%A: tensor<8xf32>) -> tensor<4xf32> {
  %M = tile.contraction max(%A[k]) -> [x] where 0 <= 2*x - k < 2 : (tensor<8xf32>) -> tensor<4xf32>
  func.return %M : tensor<4xf32>
}

// -----

// The output's own index expressions stay with the second contraction, and so does the default.
// CHECK-LABEL: @strided
// CHECK-NEXT: %M_parts = tile.contraction max(%A[x, 2*k_part + k]) -> [k_part, x] where 0 <= k < 2 : (tensor<3x8xi32>) -> tensor<4x3xi32>
// CHECK-NEXT: %M = tile.contraction max(%M_parts[k_part, x]) -> [2*x + 1] default %D : (tensor<4x3xi32>, tensor<9xi32>) -> tensor<9xi32>
func.func @strided(%A: tensor<3x8xi32>, %D: tensor<9xi32>) -> tensor<9xi32> {
  %M = tile.contraction max(%A[x, k]) -> [2*x + 1] default %D : (tensor<3x8xi32>, tensor<9xi32>) -> tensor<9xi32>
  func.return %M : tensor<9xi32>
}
