// RUN: tile-opt %s -p tile-bounds,tile-fuse | filecheck %s
// RUN: tile-opt %s -p tile-bounds,tile-fuse,tile-join-axes,tile-loop-tiling | filecheck %s
// RUN: tile-opt %s -p tile-bounds,tile-fuse --print-op-generic | tile-opt - -p tile-join-axes,tile-loop-tiling | filecheck %s

// Kernels are called after their results, each by a name of its own; one that has a name keeps it.
// CHECK-LABEL: @first
// CHECK:         tile.kernel @S_1(
// CHECK-LABEL: @second
// CHECK:         tile.kernel @S_2(
// CHECK-LABEL: @given
// CHECK:         tile.kernel @S(
func.func @first(%X: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %S = tile.exp %X : (tensor<8x8xf32>) -> tensor<8x8xf32>
  func.return %S : tensor<8x8xf32>
}
func.func @second(%X: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %S = tile.neg %X : (tensor<8x8xf32>) -> tensor<8x8xf32>
  func.return %S : tensor<8x8xf32>
}
func.func @given(%X: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %Y = tile.kernel @S(%x = %X : tensor<8x8xf32>) -> tensor<8x8xf32> {
    %y = tile.abs %x : (tensor<8x8xf32>) -> tensor<8x8xf32>
    tile.yield %y : tensor<8x8xf32>
  }
  func.return %Y : tensor<8x8xf32>
}
