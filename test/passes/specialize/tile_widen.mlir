// RUN: tile-opt %s -p tile-widen --split-input-file | filecheck %s

// What is computed is of f32; what is returned is rounded.
// CHECK-LABEL: @statements
// CHECK-NEXT: %X_wide = tile.cast %X : (tensor<4x8xf16>) -> tensor<4x8xf32>
// CHECK-NEXT: %Y = tile.exp %X_wide : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %S = tile.contraction add(%Y[i, j]) -> [i] : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT: %0 = tile.constant 100000 : tensor<index>
// CHECK-NEXT: %M = tile.div %S, %0 : (tensor<4xf32>, tensor<index>) -> tensor<4xf32>
// CHECK-NEXT: %M_1 = tile.cast %M : (tensor<4xf32>) -> tensor<4xf16>
// CHECK-NEXT: return %M_1 : tensor<4xf16>
func.func @statements(%X: tensor<4x8xf16>) -> tensor<4xf16> {
  %Y = tile.exp %X : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %S = tile.contraction add(%Y[i, j]) -> [i] : (tensor<4x8xf16>) -> tensor<4xf16>
  %0 = tile.constant 100000 : tensor<index>
  %M = tile.div %S, %0 : (tensor<4xf16>, tensor<index>) -> tensor<4xf16>
  func.return %M : tensor<4xf16>
}

// -----

// Factors of products of matrices are rounded; those of a matrix and a vector are not.
// CHECK-LABEL: @products
// CHECK: %H = tile.exp %A_wide
// CHECK-NEXT: %[[ROUNDED:.*]] = tile.cast %H : (tensor<4x8xf32>) -> tensor<4x8xbf16>
// CHECK-NEXT: %[[FACTOR:.*]] = tile.cast %[[ROUNDED]] : (tensor<4x8xbf16>) -> tensor<4x8xf32>
// CHECK-NEXT: %C = tile.contraction add(%[[FACTOR]][i, k] mul %B_wide[k, j]) -> [i, j]
// CHECK-NEXT: %V = tile.contraction add(%H[i, k] mul %x_wide[k]) -> [i]
func.func @products(%A: tensor<4x8xbf16>, %B: tensor<8x5xbf16>, %x: tensor<8xbf16>) -> (tensor<4x5xbf16>, tensor<4xbf16>) {
  %H = tile.exp %A : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %C = tile.contraction add(%H[i, k] mul %B[k, j]) -> [i, j] : (tensor<4x8xbf16>, tensor<8x5xbf16>) -> tensor<4x5xbf16>
  %V = tile.contraction add(%H[i, k] mul %x[k]) -> [i] : (tensor<4x8xbf16>, tensor<8xbf16>) -> tensor<4xbf16>
  func.return %C, %V : tensor<4x5xbf16>, tensor<4xbf16>
}

// -----

// What only moves elements, and extremes that are compared with them, stay as they are.
// CHECK-LABEL: @moved
// CHECK-NOT: cast
// CHECK: tile.contraction max(%T[i, j]) -> [i] : (tensor<8x4xf16>) -> tensor<8xf16>
// CHECK: tile.contraction add(%T[i, j] eq %M[i])
func.func @moved(%X: tensor<4x8xf16>, %I: tensor<3xi32>) -> (tensor<3x4xf16>, tensor<8xi32>) {
  %T = tile.contraction assign(%X[j, i]) -> [i, j] : (tensor<4x8xf16>) -> tensor<8x4xf16>
  %G = tile.gather %T, %I : (tensor<8x4xf16>, tensor<3xi32>) -> tensor<3x4xf16>
  %M = tile.contraction max(%T[i, j]) -> [i] : (tensor<8x4xf16>) -> tensor<8xf16>
  %N = tile.contraction add(%T[i, j] eq %M[i]) -> [i] : (tensor<8x4xf16>, tensor<8xf16>) -> tensor<8xi32>
  func.return %G, %N : tensor<3x4xf16>, tensor<8xi32>
}

// -----

// A cast that is written rounds, sums take f32, and a custom gradient becomes its value.
// CHECK-LABEL: @others
// CHECK: %H = tile.mul %X_wide, %X_wide : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %R = tile.cast %H : (tensor<4x8xf32>) -> tensor<4x8xf16>
// CHECK-NEXT: %R_wide = tile.cast %R
// CHECK-NEXT: %S = tile.scan add %R_wide axis 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %Z = tile.sum_to %S, %Y : (tensor<4x8xf32>, tensor<8xf16>) -> tensor<8xf32>
// CHECK-NEXT: %C = tile.scatter %H, %I, %Y : (tensor<4x8xf32>, tensor<4xi32>, tensor<8xf16>) -> tensor<8x8xf32>
// CHECK-NOT: custom_gradient
func.func @others(%X: tensor<4x8xf16>, %Y: tensor<8xf16>, %I: tensor<4xi32>) -> (tensor<8xf16>, tensor<8x8xf16>) {
  %H = tile.mul %X, %X : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  %R = tile.cast %H : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %S = tile.scan add %R axis 1 : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %Z = tile.sum_to %S, %Y : (tensor<4x8xf16>, tensor<8xf16>) -> tensor<8xf16>
  %C = tile.scatter %H, %I, %Y : (tensor<4x8xf16>, tensor<4xi32>, tensor<8xf16>) -> tensor<8x8xf16>
  %G = tile.custom_gradient %Z wrt(%Y) : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16> {
  ^bb0(%g: tensor<8xf16>):
    tile.yield %g : tensor<8xf16>
  }
  func.return %G, %C : tensor<8xf16>, tensor<8x8xf16>
}

// -----

// CHECK-LABEL: @exact
// CHECK-NOT: f32
module attributes {tile.precision = "exact"} {
  func.func @exact(%X: tensor<4x8xf16>) -> tensor<4x8xf16> {
    %Y = tile.exp %X : (tensor<4x8xf16>) -> tensor<4x8xf16>
    func.return %Y : tensor<4x8xf16>
  }
}
