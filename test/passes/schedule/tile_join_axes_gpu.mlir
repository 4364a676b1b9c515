// RUN: tile-opt %s -p tile-join-axes | filecheck %s

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<
    "type" = "gpu", "compute_units" = 132 : i64>>} {

// Accesses of 16 bytes do not divide rows of 7 numbers: elements are one long row, also with
// constants.
// CHECK-LABEL: @odd
// CHECK: tile.kernel({{.*}}) -> tensor<315xf32> {
func.func @odd(%X: tensor<5x9x7xf32>) -> tensor<5x9x7xf32> {
  %Z = tile.kernel(%x = %X : tensor<5x9x7xf32>) -> tensor<5x9x7xf32> {
    %two = tile.constant 2.0 : tensor<!tile.real>
    %z = tile.mul %x, %two : (tensor<5x9x7xf32>, tensor<!tile.real>) -> tensor<5x9x7xf32>
    tile.yield %z : tensor<5x9x7xf32>
  }
  func.return %Z : tensor<5x9x7xf32>
}

// They divide rows of 8 numbers, not of 4 halves, nor of 36.
// CHECK-LABEL: @even
// CHECK: tile.kernel({{.*}}) -> tensor<5x9x8xf32> {
// CHECK: tile.kernel({{.*}}) -> tensor<540xf16> {
func.func @even(%X: tensor<5x9x8xf32>, %Y: tensor<15x9x4xf16>) -> (tensor<5x9x8xf32>, tensor<15x9x4xf16>) {
  %Z = tile.kernel(%x = %X : tensor<5x9x8xf32>) -> tensor<5x9x8xf32> {
    %z = tile.exp %x : (tensor<5x9x8xf32>) -> tensor<5x9x8xf32>
    tile.yield %z : tensor<5x9x8xf32>
  }
  %W = tile.kernel(%y = %Y : tensor<15x9x4xf16>) -> tensor<15x9x4xf16> {
    %w = tile.exp %y : (tensor<15x9x4xf16>) -> tensor<15x9x4xf16>
    tile.yield %w : tensor<15x9x4xf16>
  }
  func.return %Z, %W : tensor<5x9x8xf32>, tensor<15x9x4xf16>
}

// A row of 7 that each of 45 rows takes stays; of a row kernel what is summed over is one axis.
// CHECK-LABEL: @stay
// CHECK: tile.kernel({{.*}}) -> tensor<5x9x7xf32> {
// CHECK: tile.kernel({{.*}}) -> tensor<5x63xf32> axes <d0 = 0 to 5, d1 = 0 to 63>
func.func @stay(%X: tensor<5x9x7xf32>, %B: tensor<7xf32>) -> (tensor<5x9x7xf32>, tensor<5x9x7xf32>) {
  %Z = tile.kernel(%x = %X : tensor<5x9x7xf32>, %b = %B : tensor<7xf32>) -> tensor<5x9x7xf32> {
    %z = tile.mul %x, %b : (tensor<5x9x7xf32>, tensor<7xf32>) -> tensor<5x9x7xf32>
    tile.yield %z : tensor<5x9x7xf32>
  }
  %Y = tile.kernel(%x = %X : tensor<5x9x7xf32>) -> tensor<5x9x7xf32> axes <d0 = 0 to 5, d1 = 0 to 9, d2 = 0 to 7> {
    %s = tile.contraction add(%x[d0, d1, d2]) -> [d0, 0, 0] : (tensor<5x9x7xf32>) -> tensor<5x1x1xf32>
    %y = tile.sub %x, %s : (tensor<5x9x7xf32>, tensor<5x1x1xf32>) -> tensor<5x9x7xf32>
    tile.yield %y : tensor<5x9x7xf32>
  }
  func.return %Z, %Y : tensor<5x9x7xf32>, tensor<5x9x7xf32>
}

// Rows and columns of few pixels are one axis of a product of matrices; of many they stay, as a
// work-item has a tile of a row.
// CHECK-LABEL: @pixels
// CHECK: tile.kernel({{.*}}) -> tensor<196x32xf32> {
// CHECK: tile.kernel({{.*}}) -> tensor<4x14x14x32xf32> {
func.func @pixels(%A: tensor<4x7x7x16xf32>, %B: tensor<4x14x14x16xf32>, %K: tensor<16x32xf32>)
    -> (tensor<4x7x7x32xf32>, tensor<4x14x14x32xf32>) {
  %Y = tile.kernel(%a = %A : tensor<4x7x7x16xf32>, %k = %K : tensor<16x32xf32>) -> tensor<4x7x7x32xf32> {
    %y = tile.contraction add(%a[n, x, y, c] mul %k[c, d]) -> [n, x, y, d] domain <n = 0 to 4, x = 0 to 7, y = 0 to 7, d = 0 to 32, c = 0 to 16>
      : (tensor<4x7x7x16xf32>, tensor<16x32xf32>) -> tensor<4x7x7x32xf32>
    tile.yield %y : tensor<4x7x7x32xf32>
  }
  %Z = tile.kernel(%b = %B : tensor<4x14x14x16xf32>, %k = %K : tensor<16x32xf32>) -> tensor<4x14x14x32xf32> {
    %z = tile.contraction add(%b[n, x, y, c] mul %k[c, d]) -> [n, x, y, d] domain <n = 0 to 4, x = 0 to 14, y = 0 to 14, d = 0 to 32, c = 0 to 16>
      : (tensor<4x14x14x16xf32>, tensor<16x32xf32>) -> tensor<4x14x14x32xf32>
    tile.yield %z : tensor<4x14x14x32xf32>
  }
  func.return %Y, %Z : tensor<4x7x7x32xf32>, tensor<4x14x14x32xf32>
}

// Channels before pixels: pixels are one row. Sums of partial results have rows of a sub-group.
// CHECK-LABEL: @rows
// CHECK: tile.kernel({{.*}}) -> tensor<4x32x3136xf32> {
// CHECK: tile.kernel({{.*}}) -> tensor<8x64xf32> {
// CHECK: tile.kernel({{.*}}) -> tensor<72xf32> {
func.func @rows(%A: tensor<4x16x56x56xf32>, %K: tensor<32x16xf32>, %P: tensor<5x8x64xf32>, %Q: tensor<5x8x9xf32>)
    -> (tensor<4x32x56x56xf32>, tensor<8x64xf32>, tensor<8x9xf32>) {
  %Y = tile.kernel(%a = %A : tensor<4x16x56x56xf32>, %k = %K : tensor<32x16xf32>) -> tensor<4x32x56x56xf32> {
    %y = tile.contraction add(%a[n, c, x, y] mul %k[d, c]) -> [n, d, x, y] domain <n = 0 to 4, d = 0 to 32, x = 0 to 56, y = 0 to 56, c = 0 to 16>
      : (tensor<4x16x56x56xf32>, tensor<32x16xf32>) -> tensor<4x32x56x56xf32>
    tile.yield %y : tensor<4x32x56x56xf32>
  }
  %S = tile.kernel(%p = %P : tensor<5x8x64xf32>) -> tensor<8x64xf32> {
    %s = tile.contraction add(%p[p, i, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 64, p = 0 to 5> : (tensor<5x8x64xf32>) -> tensor<8x64xf32>
    tile.yield %s : tensor<8x64xf32>
  }
  %T = tile.kernel(%q = %Q : tensor<5x8x9xf32>) -> tensor<8x9xf32> {
    %t = tile.contraction add(%q[p, i, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 9, p = 0 to 5> : (tensor<5x8x9xf32>) -> tensor<8x9xf32>
    tile.yield %t : tensor<8x9xf32>
  }
  func.return %Y, %S, %T : tensor<4x32x56x56xf32>, tensor<8x64xf32>, tensor<8x9xf32>
}

// What one tensor is summed over is one axis, however long: columns, and rows.
// CHECK-LABEL: @sums
// CHECK: tile.contraction add({{.*}}[d0, d2]) -> [d2] domain <d2 = 0 to 384, d0 = 0 to 196>
// CHECK: tile.contraction max({{.*}}[c, x]) -> [c] domain <c = 0 to 8, x = 0 to 3136>
func.func @sums(%A: tensor<14x14x384xf32>, %B: tensor<8x56x56xf32>) -> (tensor<384xf32>, tensor<8xf32>) {
  %S = tile.kernel(%a = %A : tensor<14x14x384xf32>) -> tensor<384xf32> {
    %s = tile.contraction add(%a[d0, d1, d2]) -> [d2] domain <d2 = 0 to 384, d0 = 0 to 14, d1 = 0 to 14> : (tensor<14x14x384xf32>) -> tensor<384xf32>
    tile.yield %s : tensor<384xf32>
  }
  %M = tile.kernel(%b = %B : tensor<8x56x56xf32>) -> tensor<8xf32> {
    %m = tile.contraction max(%b[c, x, y]) -> [c] domain <c = 0 to 8, x = 0 to 56, y = 0 to 56> : (tensor<8x56x56xf32>) -> tensor<8xf32>
    tile.yield %m : tensor<8xf32>
  }
  func.return %S, %M : tensor<384xf32>, tensor<8xf32>
}
}
