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

// A row of 7 that each of 45 rows takes, and row kernels, stay.
// CHECK-LABEL: @stay
// CHECK: tile.kernel({{.*}}) -> tensor<5x9x7xf32> {
// CHECK: tile.kernel({{.*}}) -> tensor<5x9x7xf32> axes <d0 = 0 to 5, d1 = 0 to 9, d2 = 0 to 7>
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
}
