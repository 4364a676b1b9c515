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
// are read beside the rows, rows that reals name, and few rows.
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

// -----

// What is only counted: ones are added. So they are where elementwise ops compare, and choose a number;
// reals name rows where they are whole numbers.
// CHECK-LABEL: @histogram
// CHECK-NEXT: %number = tile.constant 1 : tensor<i32>
// CHECK-NEXT: %O = tile.scatter %number, %I, %W : (tensor<i32>, tensor<6xi32>, tensor<10xf32>) -> tensor<10xi32>
// CHECK-NEXT: return %O
func.func @histogram(%I: tensor<6xi32>, %W: tensor<10xf32>) -> tensor<10xi32> {
  %rows = tile.index %W axis 0 : (tensor<10xf32>) -> tensor<10xi32>
  %O = tile.contraction add(%I[p] eq %rows[v]) -> [v] : (tensor<6xi32>, tensor<10xi32>) -> tensor<10xi32>
  func.return %O : tensor<10xi32>
}

// CHECK-LABEL: @chosen
// CHECK: %number = tile.constant 0.5 : tensor<f32>
// CHECK: %whole = tile.cmp_eq %X, %floor : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
// CHECK: %place = tile.select %{{.*}}, %X, %{{.*}} : (tensor<6xi1>, tensor<6xf32>, tensor<index>) -> tensor<6xf32>
// CHECK-NEXT: %converted = tile.cast %place : (tensor<6xf32>) -> tensor<6xi32>
// CHECK-NEXT: %O = tile.scatter %number, %converted, %W : (tensor<f32>, tensor<6xi32>, tensor<10xf32>) -> tensor<10xf32>
func.func @chosen(%X: tensor<6xf32>, %W: tensor<10xf32>) -> tensor<10xf32> {
  %rows = tile.index %W axis 0 : (tensor<10xf32>) -> tensor<10xi32>
  %column = tile.reshape %rows to [] : tensor<10xi32> -> tensor<10x1xi32>
  %row = tile.reshape %X to [] : tensor<6xf32> -> tensor<1x6xf32>
  %equal = tile.cmp_eq %column, %row : (tensor<10x1xi32>, tensor<1x6xf32>) -> tensor<10x6xi1>
  %half = tile.constant 0.5 : tensor<!tile.real>
  %zero = tile.constant 0.0 : tensor<!tile.real>
  %chosen = tile.select %equal, %half, %zero : (tensor<10x6xi1>, tensor<!tile.real>, tensor<!tile.real>) -> tensor<10x6xf32>
  %O = tile.contraction add(%chosen[n, j]) -> [n] domain <n = 0 to 10, j = 0 to 6> : (tensor<10x6xf32>) -> tensor<10xf32>
  func.return %O : tensor<10xf32>
}

// CHECK-LABEL: @weighted
// CHECK: %O = tile.scatter %Y, %I, %W : (tensor<6xf32>, tensor<6xi32>, tensor<10xf32>) -> tensor<10xf32>
func.func @weighted(%I: tensor<6xi32>, %Y: tensor<6xf32>, %W: tensor<10xf32>) -> tensor<10xf32> {
  %rows = tile.index %W axis 0 : (tensor<10xf32>) -> tensor<10xi32>
  %column = tile.reshape %rows to [] : tensor<10xi32> -> tensor<10x1xi32>
  %equal = tile.cmp_eq %column, %I : (tensor<10x1xi32>, tensor<6xi32>) -> tensor<10x6xi1>
  %zero = tile.constant 0.0 : tensor<!tile.real>
  %chosen = tile.select %equal, %Y, %zero : (tensor<10x6xi1>, tensor<6xf32>, tensor<!tile.real>) -> tensor<10x6xf32>
  %O = tile.contraction add(%chosen[n, j]) -> [n] domain <n = 0 to 10, j = 0 to 6> : (tensor<10x6xf32>) -> tensor<10xf32>
  func.return %O : tensor<10xf32>
}

// -----

// On a CPU with vectors of 16 few rows are counted faster by comparing with each; more rows of f16 than
// it can tell from one another, what is taken elsewhere, and other windows of it stay, too.
// CHECK-LABEL: @compared
// CHECK-COUNT-4: tile.contraction add
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "type" = "cpu", "native_vector_width" = 16 : i64>>} {
  func.func @compared(%I: tensor<600xi32>, %F: tensor<600xf16>, %W: tensor<20xf32>, %L: tensor<300xf32>) -> (tensor<20xi32>, tensor<300xi32>, tensor<300xf32>, tensor<300xi32>) {
    %rows = tile.index %W axis 0 : (tensor<20xf32>) -> tensor<20xi32>
    %more = tile.index %L axis 0 : (tensor<300xf32>) -> tensor<300xi32>
    %column = tile.reshape %more to [] : tensor<300xi32> -> tensor<300x1xi32>
    %equal = tile.cmp_eq %column, %I : (tensor<300x1xi32>, tensor<600xi32>) -> tensor<300x600xi1>
    %one = tile.constant 1.0 : tensor<!tile.real>
    %half = tile.constant 0.5 : tensor<!tile.real>
    %chosen = tile.select %equal, %one, %half : (tensor<300x600xi1>, tensor<!tile.real>, tensor<!tile.real>) -> tensor<300x600xf32>
    %0 = tile.contraction add(%rows[v] eq %I[p]) -> [v] : (tensor<20xi32>, tensor<600xi32>) -> tensor<20xi32>
    %1 = tile.contraction add(%more[v] eq %F[p]) -> [v] : (tensor<300xi32>, tensor<600xf16>) -> tensor<300xi32>
    %2 = tile.contraction add(%chosen[n, j]) -> [n] : (tensor<300x600xf32>) -> tensor<300xf32>
    %3 = tile.contraction add(%equal[n, j]) -> [n] where 0 <= j - 3 < 100 : (tensor<300x600xi1>) -> tensor<300xi32>
    func.return %0, %1, %2, %3 : tensor<20xi32>, tensor<300xi32>, tensor<300xf32>, tensor<300xi32>
  }
}

// -----

// An axis of size 1 bounds its index, though what is compared is read at 0 there.
// CHECK-LABEL: @one_column
// CHECK: tile.contraction add(%{{.*}}[i + j, j]) -> []
func.func @one_column(%X: tensor<5x1xf32>, %Y: tensor<5x1xf32>) -> tensor<i32> {
  %equal = tile.cmp_eq %X, %Y : (tensor<5x1xf32>, tensor<5x1xf32>) -> tensor<5x1xi1>
  %O = tile.contraction add(%equal[i + j, j]) -> [] : (tensor<5x1xi1>) -> tensor<i32>
  func.return %O : tensor<i32>
}
