// RUN: tile-opt %s -p tile-bounds,tile-fuse --verify-diagnostics --split-input-file | filecheck %s
// RUN: tile-opt %s -p tile-bounds,tile-reduce,tile-defract,tile-fuse --split-input-file | filecheck %s --check-prefix=NORMAL

// Two work-items would write one element.
// CHECK: O[3] would be computed by two work-items, at i = {{.*}} and i = {{.*}}: run tile-reduce and tile-defract first
// NORMAL: -> [v0] domain <v0 = 0 to 8, v1 = 0 to 4>
func.func @convolution(%A: tensor<4xf32>, %B: tensor<5xf32>) -> tensor<8xf32> {
  %O = tile.contraction add(%A[i] mul %B[j]) -> [i + j] : (tensor<4xf32>, tensor<5xf32>) -> tensor<8xf32>
  func.return %O : tensor<8xf32>
}

// -----

// These are no digits: i goes beyond 1.
// CHECK: O[9] would be computed by two work-items
// NORMAL: -> [v0_0 + 2*v0_1] where 0 <= v0_0 < 2 domain <v0_0 = 0 to 2, v0_1 = 0 to 5, v1_0 = 0 to 2>
func.func @no_digits(%A: tensor<4xf32>, %B: tensor<5xf32>) -> tensor<10xf32> {
  %O = tile.contraction add(%A[i] mul %B[j]) -> [i + 2*j] : (tensor<4xf32>, tensor<5xf32>) -> tensor<10xf32>
  func.return %O : tensor<10xf32>
}

// -----

// Digits are in normal form as they are.
// CHECK: -> [i + 4*j] domain <i = 0 to 4, j = 0 to 5>
// NORMAL: tile.kernel
func.func @digits(%A: tensor<4xf32>, %B: tensor<5xf32>) -> tensor<20xf32> {
  %O = tile.contraction add(%A[i] mul %B[j]) -> [i + 4*j] : (tensor<4xf32>, tensor<5xf32>) -> tensor<20xf32>
  func.return %O : tensor<20xf32>
}
