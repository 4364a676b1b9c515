// RUN: tile-opt %s --split-input-file -p tile-decompose | filecheck %s

// The numbers of the rows are a vector, not a table.
// CHECK:      %ones = tile.contraction assign(%one[]) -> [v] : (tensor<index>) -> tensor<9xi32>
// CHECK-NEXT: %rows = tile.index %ones axis 0 : (tensor<9xi32>) -> tensor<9xi32>
// CHECK-NEXT: %S = tile.contraction add(%rows[v] eq %I[i0] cond %U[i0, r0]) -> [v, r0] : (tensor<9xi32>, tensor<4xi32>, tensor<4x8xf32>) -> tensor<9x8xf32>
func.func @scatter(%U: tensor<4x8xf32>, %I: tensor<4xi32>, %V: tensor<9x8xf32>) -> tensor<9x8xf32> {
  %S = tile.scatter %U, %I, %V : (tensor<4x8xf32>, tensor<4xi32>, tensor<9x8xf32>) -> tensor<9x8xf32>
  func.return %S : tensor<9x8xf32>
}

// Of what it is like the length is asked for alone, which is that of an argument: nothing is computed for it.
// CHECK-LABEL: func.func @scatter_like_what_is_computed(
// CHECK:       [[V:%.*]] = tile.reshape %V to [] : tensor<3x3xf32> -> tensor<9xf32>
// CHECK-NEXT:  %rows = tile.index [[V]] axis 0 : (tensor<9xf32>) -> tensor<9xi32>
// CHECK-NEXT:  %S = tile.contraction add(%rows[v] eq %I[i0] cond %U[i0]) -> [v]
// CHECK-NEXT:  func.return %S
func.func @scatter_like_what_is_computed(%U: tensor<4xf32>, %I: tensor<4xi32>, %V: tensor<3x3xf32>) -> tensor<9xf32> {
  %E = tile.exp %V : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %F = tile.reshape %E to [] : tensor<3x3xf32> -> tensor<9xf32>
  %S = tile.scatter %U, %I, %F : (tensor<4xf32>, tensor<4xi32>, tensor<9xf32>) -> tensor<9xf32>
  func.return %S : tensor<9xf32>
}

// A number that is the default of all elements is one of the result's type.
// CHECK:      [[Z:%.*]] = tile.constant 7 : tensor<f16>
// CHECK-NEXT: %O = tile.contraction add(%I[i]) -> [2*i] default [[Z]] : (tensor<3xf16>, tensor<f16>) -> tensor<6xf16>
func.func @number(%I: tensor<3xf16>) -> tensor<6xf16> {
  %z = tile.constant 7 : tensor<index>
  %O = tile.contraction add(%I[i]) -> [2*i] default %z : (tensor<3xf16>, tensor<index>) -> tensor<6xf16>
  func.return %O : tensor<6xf16>
}

// A default of another element type than the result's is converted first.
// CHECK:      %{{.*}} = tile.cast %D : (tensor<6xi64>) -> tensor<6xf16>
// CHECK-NEXT: %O = tile.contraction add(%I[i]) -> [2*i] default %{{.*}} : (tensor<3xf16>, tensor<6xf16>) -> tensor<6xf16>
func.func @default(%I: tensor<3xf16>, %D: tensor<6xi64>) -> tensor<6xf16> {
  %O = tile.contraction add(%I[i]) -> [2*i] default %D : (tensor<3xf16>, tensor<6xi64>) -> tensor<6xf16>
  func.return %O : tensor<6xf16>
}

// -----

// Axes that were broadcast are summed over; those that `like` lacks go.
//      CHECK: func.func @sum_to(
// CHECK-NEXT:   %S = tile.contraction add(%G[i0, i1, i2]) -> [0, i2] : (tensor<5x4x8xf32>) -> tensor<1x8xf32>
// CHECK-NEXT:   func.return %S
func.func @sum_to(%G: tensor<5x4x8xf32>, %A: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %S = tile.sum_to %G, %A : (tensor<5x4x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>
  func.return %S : tensor<1x8xf32>
}

// -----

// Nothing to sum.
//      CHECK: func.func @same(
// CHECK-NEXT:   func.return %G
func.func @same(%G: tensor<4x8xf32>, %A: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %S = tile.sum_to %G, %A : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %S : tensor<4x8xf32>
}

// -----

// What is not known yet stays.
//      CHECK: func.func @open(
// CHECK-NEXT:   tile.sum_to %G, %A
func.func @open(%G: tensor<?x8xf32>, %A: tensor<8xf32>) -> tensor<8xf32> {
  %S = tile.sum_to %G, %A : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %S : tensor<8xf32>
}

// -----

// A custom gradient is its value, and what only its body needed goes.
//      CHECK: func.func @custom(
// CHECK-NEXT:   %y = tile.floor %x
// CHECK-NEXT:   func.return %y
func.func @custom(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tile.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %y = tile.floor %x : (tensor<8xf32>) -> tensor<8xf32>
  %z = tile.custom_gradient %y wrt(%x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%dz: tensor<8xf32>):
    %dx = tile.mul %dz, %e : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    tile.yield %dx : tensor<8xf32>
  }
  func.return %z : tensor<8xf32>
}
