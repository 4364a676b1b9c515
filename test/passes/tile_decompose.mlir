// RUN: tile-opt %s -p tile-decompose | filecheck %s

// CHECK:      %rows = tile.index %V axis 0 : (tensor<9x8xf32>) -> tensor<9x8xi32>
// CHECK-NEXT: %S = tile.contraction add(%rows[v, 0] eq %I[i0] cond %U[i0, r0]) -> [v, r0] : (tensor<9x8xi32>, tensor<4xi32>, tensor<4x8xf32>) -> tensor<9x8xf32>
func.func @scatter(%U: tensor<4x8xf32>, %I: tensor<4xi32>, %V: tensor<9x8xf32>) -> tensor<9x8xf32> {
  %S = tile.scatter %U, %I, %V : (tensor<4x8xf32>, tensor<4xi32>, tensor<9x8xf32>) -> tensor<9x8xf32>
  func.return %S : tensor<9x8xf32>
}

// A default of another element type than the result's is converted first.
// CHECK:      %{{.*}} = tile.cast %D : (tensor<6xi64>) -> tensor<6xf16>
// CHECK-NEXT: %O = tile.contraction add(%I[i]) -> [2*i] default %{{.*}} : (tensor<3xf16>, tensor<6xf16>) -> tensor<6xf16>
func.func @default(%I: tensor<3xf16>, %D: tensor<6xi64>) -> tensor<6xf16> {
  %O = tile.contraction add(%I[i]) -> [2*i] default %D : (tensor<3xf16>, tensor<6xi64>) -> tensor<6xf16>
  func.return %O : tensor<6xf16>
}
