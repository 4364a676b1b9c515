// RUN: tile-opt %s -p tile-bounds,tile-fuse | filecheck %s

// What is written at one place of an axis gets an index there: one kernel adds it to the rest.
// CHECK-LABEL: func.func @column
// CHECK:         tile.kernel
// CHECK-NEXT:      tile.contraction add(%{{.*}}[i, k]) -> [i, 3 + v0] where 0 <= k < 2, 0 <= v0 < 1 domain <i = 0 to 8, v0 = -3 to 2, k = 0 to 2>
// CHECK-NEXT:      tile.add
// CHECK-NEXT:      tile.yield
// CHECK-NOT:     tile.kernel
func.func @column(%A: tensor<8x4xf32>, %B: tensor<8x5xf32>) -> tensor<8x5xf32> {
  %C = tile.contraction add(%A[i, k]) -> [i, 3] where 0 <= k < 2 : (tensor<8x4xf32>) -> tensor<8x5xf32>
  %D = tile.add %B, %C : (tensor<8x5xf32>, tensor<8x5xf32>) -> tensor<8x5xf32>
  func.return %D : tensor<8x5xf32>
}

// CHECK-LABEL: func.func @corner
// CHECK:         -> [1 + v1, v2] where 0 <= v1 < 1, 0 <= v2 < 1
func.func @corner(%v0: tensor<4xf32>) -> tensor<2x3xf32> {
  %C = tile.contraction add(%v0[v0]) -> [1, 0] : (tensor<4xf32>) -> tensor<2x3xf32>
  func.return %C : tensor<2x3xf32>
}

// Many points are not visited for elements that have none.
// CHECK-LABEL: func.func @many
// CHECK:         -> [1, i]
func.func @many(%A: tensor<64x8xf32>) -> tensor<3x8xf32> {
  %C = tile.contraction add(%A[k, i]) -> [1, i] : (tensor<64x8xf32>) -> tensor<3x8xf32>
  func.return %C : tensor<3x8xf32>
}
