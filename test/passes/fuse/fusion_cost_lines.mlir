// RUN: tile-opt %s -p 'tile-bounds,tile-fuse{explain=true}' | filecheck %s

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "type" = "cpu", "compute_units" = 4 : i64>>} {

// Pieces of 8 elements are half a cache line, the rest of which is another row's, much later.
// CHECK-LABEL: @half_lines
// CHECK:         %M = tile.kernel
// CHECK:         %D = tile.kernel
// CHECK-SAME:      fused = ["M is not in one kernel with D, over the same rows, which would take
func.func @half_lines(%X: tensor<16x1024x8x8xf32>) -> tensor<16x1024x8x8xf32> {
  %M = tile.contraction max(%X[n, p, g, k]) -> [n, 0, g, 0] : (tensor<16x1024x8x8xf32>) -> tensor<16x1x8x1xf32>
  %D = tile.sub %X, %M : (tensor<16x1024x8x8xf32>, tensor<16x1x8x1xf32>) -> tensor<16x1024x8x8xf32>
  func.return %D : tensor<16x1024x8x8xf32>
}

// Whole lines are read once.
// CHECK-LABEL: @whole_lines
// CHECK-NEXT:    %D = tile.kernel @{{\w+}}(%{{.*}}) -> tensor<16x1024x4x16xf32> axes
func.func @whole_lines(%X: tensor<16x1024x4x16xf32>) -> tensor<16x1024x4x16xf32> {
  %M = tile.contraction max(%X[n, p, g, k]) -> [n, 0, g, 0] : (tensor<16x1024x4x16xf32>) -> tensor<16x1x4x1xf32>
  %D = tile.sub %X, %M : (tensor<16x1024x4x16xf32>, tensor<16x1x4x1xf32>) -> tensor<16x1024x4x16xf32>
  func.return %D : tensor<16x1024x4x16xf32>
}

// Lines of few pieces are still there when the next row takes the rest of them.
// CHECK-LABEL: @few_lines
// CHECK-NEXT:    %D = tile.kernel @{{\w+}}(%{{.*}}) -> tensor<256x64x8x8xf32> axes
func.func @few_lines(%X: tensor<256x64x8x8xf32>) -> tensor<256x64x8x8xf32> {
  %M = tile.contraction max(%X[n, p, g, k]) -> [n, 0, g, 0] : (tensor<256x64x8x8xf32>) -> tensor<256x1x8x1xf32>
  %D = tile.sub %X, %M : (tensor<256x64x8x8xf32>, tensor<256x1x8x1xf32>) -> tensor<256x64x8x8xf32>
  func.return %D : tensor<256x64x8x8xf32>
}

// Neighbours of one row lie together, however few they are.
// CHECK-LABEL: @short_rows
// CHECK-NEXT:    %D = tile.kernel @{{\w+}}(%{{.*}}) -> tensor<131072x8xf32> axes
func.func @short_rows(%X: tensor<131072x8xf32>) -> tensor<131072x8xf32> {
  %M = tile.contraction max(%X[r, k]) -> [r, 0] : (tensor<131072x8xf32>) -> tensor<131072x1xf32>
  %D = tile.sub %X, %M : (tensor<131072x8xf32>, tensor<131072x1xf32>) -> tensor<131072x8xf32>
  func.return %D : tensor<131072x8xf32>
}

}
