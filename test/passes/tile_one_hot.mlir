// RUN: tile-opt %s -p 'tile-one-hot' --split-input-file | filecheck %s

// A row of the table for each index; 0 for an index that names none.
// CHECK-LABEL: @embedding
// CHECK-NEXT: %taken = tile.gather %W, %I : (tensor<10x4xf32>, tensor<6xi32>) -> tensor<6x4xf32>
// CHECK-NEXT: %column = tile.reshape %I to [] : tensor<6xi32> -> tensor<6x1xi32>
// CHECK: %inside = tile.bit_and %not_before, %not_after
// CHECK-NEXT: %O = tile.select %inside, %taken, %number
// CHECK-NEXT: return %O
func.func @embedding(%I: tensor<6xi32>, %W: tensor<10x4xf32>) -> tensor<6x4xf32> {
  %rows = tile.index %W axis 0 : (tensor<10x4xf32>) -> tensor<10x4xi32>
  %O = tile.contraction add(%rows[v, 0] eq %I[p] cond %W[v, r]) -> [p, r] : (tensor<10x4xi32>, tensor<6xi32>, tensor<10x4xf32>) -> tensor<6x4xf32>
  func.return %O : tensor<6x4xf32>
}

// -----

// The other way around, with the axes in another order; indices of few bits are made wider.
// CHECK-LABEL: @transposed
// CHECK-NEXT: %moved = tile.contraction assign(%W[r, v]) -> [v, r]
// CHECK-NEXT: %taken = tile.gather %moved, %I
// CHECK: tile.cast %column : (tensor<6x1xui8>) -> tensor<6x1xi64>
// CHECK: %rows = tile.select
// CHECK-NEXT: %O = tile.contraction assign(%rows[p, r]) -> [r, p]
func.func @transposed(%I: tensor<6xui8>, %W: tensor<4x300xf32>) -> tensor<4x6xf32> {
  %rows = tile.index %W axis 1 : (tensor<4x300xf32>) -> tensor<4x300xi32>
  %O = tile.contraction add(%I[p] eq %rows[0, v] cond %W[r, v]) -> [r, p] : (tensor<6xui8>, tensor<4x300xi32>, tensor<4x300xf32>) -> tensor<4x6xf32>
  func.return %O : tensor<4x6xf32>
}

// -----

// The gradient: values are added to the rows that the indices name; of f16 in f32.
// CHECK-LABEL: @gradient
// CHECK-NEXT: %converted = tile.cast %D : (tensor<6x4xf16>) -> tensor<6x4xf32>
// CHECK-NEXT: %sums = tile.scatter %converted, %I, %W : (tensor<6x4xf32>, tensor<6xi32>, tensor<10xf16>) -> tensor<10x4xf32>
// CHECK-NEXT: %O = tile.cast %sums : (tensor<10x4xf32>) -> tensor<10x4xf16>
// CHECK-NEXT: return %O
func.func @gradient(%I: tensor<6xi32>, %W: tensor<10xf16>, %D: tensor<6x4xf16>) -> tensor<10x4xf16> {
  %rows = tile.index %W axis 0 : (tensor<10xf16>) -> tensor<10xi32>
  %O = tile.contraction add(%rows[v] eq %I[p] cond %D[p, r]) -> [v, r] : (tensor<10xi32>, tensor<6xi32>, tensor<6x4xf16>) -> tensor<10x4xf16>
  func.return %O : tensor<10x4xf16>
}

// -----

// These stay: another aggregation, what is compared with numbers that are no rows, indices that
// are read beside the rows, real indices, and few rows.
// CHECK-LABEL: @others
// CHECK-COUNT-5: tile.contraction
func.func @others(%I: tensor<6xi32>, %F: tensor<6xf32>, %W: tensor<10x4xf32>, %D: tensor<6x4xf32>, %S: tensor<3xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>, tensor<4x4xf32>, tensor<6x4xf32>, tensor<3x4xf32>) {
  %rows = tile.index %W axis 0 : (tensor<10x4xf32>) -> tensor<10x4xi32>
  %few = tile.index %S axis 0 : (tensor<3xf32>) -> tensor<3xi32>
  %square = tile.mul %rows, %rows : (tensor<10x4xi32>, tensor<10x4xi32>) -> tensor<10x4xi32>
  %0 = tile.contraction max(%rows[v, 0] eq %I[p] cond %W[v, r]) -> [p, r] : (tensor<10x4xi32>, tensor<6xi32>, tensor<10x4xf32>) -> tensor<6x4xf32>
  %1 = tile.contraction add(%square[v, 0] eq %I[p] cond %W[v, r]) -> [p, r] : (tensor<10x4xi32>, tensor<6xi32>, tensor<10x4xf32>) -> tensor<6x4xf32>
  %2 = tile.contraction add(%rows[v, 0] eq %I[r] cond %W[v, r]) -> [r, s] where 0 <= s < 4 : (tensor<10x4xi32>, tensor<6xi32>, tensor<10x4xf32>) -> tensor<4x4xf32>
  %3 = tile.contraction add(%rows[v, 0] eq %F[p] cond %W[v, r]) -> [p, r] : (tensor<10x4xi32>, tensor<6xf32>, tensor<10x4xf32>) -> tensor<6x4xf32>
  %4 = tile.contraction add(%few[v] eq %I[p] cond %D[p, r]) -> [v, r] : (tensor<3xi32>, tensor<6xi32>, tensor<6x4xf32>) -> tensor<3x4xf32>
  func.return %0, %1, %2, %3, %4 : tensor<6x4xf32>, tensor<6x4xf32>, tensor<4x4xf32>, tensor<6x4xf32>, tensor<3x4xf32>
}
