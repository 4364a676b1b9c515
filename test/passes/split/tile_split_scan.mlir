// RUN: tile-opt %s -p 'tile-split-scan{block=8}' --split-input-file | filecheck %s

// The sum of the block before each, the running sums of these, and the blocks from there; the last
// block is shorter.
// CHECK-LABEL: @sum
// CHECK-NEXT: %sums = tile.contraction add(%I[i0, 8*block - 8 + k]) -> [i0, block] where 0 <= k < 8 domain <i0 = 0 to 4, block = 1 to 3, k = 0 to 8> : (tensor<4x20xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: %before = tile.scan add %sums axis 1 : (tensor<4x3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: %O = tile.scan add %I axis 1 every 8 from %before : (tensor<4x20xf32>, tensor<4x3xf32>) -> tensor<4x20xf32>
// CHECK-NEXT: return %O
func.func @sum(%I: tensor<4x20xf32>) -> tensor<4x20xf32> {
  %O = tile.scan add %I axis 1 : (tensor<4x20xf32>) -> tensor<4x20xf32>
  func.return %O : tensor<4x20xf32>
}

// -----

// From the end on; nothing comes before the last block.
// CHECK-LABEL: @max
// CHECK: %starts = tile.contraction assign(%start[]) -> [i0]
// CHECK-NEXT: %sums = tile.contraction max(%I[8*block + 8 + k]) -> [block] where 0 <= k < 8 default %starts
// CHECK-NEXT: %before = tile.scan max %sums axis 0 reverse : (tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %O = tile.scan max %I axis 0 reverse every 8 from %before
func.func @max(%I: tensor<20xf32>) -> tensor<20xf32> {
  %O = tile.scan max %I axis 0 reverse : (tensor<20xf32>) -> tensor<20xf32>
  func.return %O : tensor<20xf32>
}

// -----

// Sums of f16 are kept in f32.
// CHECK-LABEL: @half
// CHECK-NEXT: %wide = tile.cast %I : (tensor<20xf16>) -> tensor<20xf32>
// CHECK-NEXT: %sums = tile.contraction add(%wide[8*block - 8 + k])
// CHECK: tile.scan add %wide axis 0 every 8 from %before : (tensor<20xf32>, tensor<3xf32>) -> tensor<20xf32>
// CHECK-NEXT: %O = tile.cast %blocks : (tensor<20xf32>) -> tensor<20xf16>
func.func @half(%I: tensor<20xf16>) -> tensor<20xf16> {
  %O = tile.scan add %I axis 0 : (tensor<20xf16>) -> tensor<20xf16>
  func.return %O : tensor<20xf16>
}

// -----

// Short ones stay, and those that are split already.
// CHECK-LABEL: @others
// CHECK-NEXT: tile.scan add %I axis 0 : (tensor<8xf32>)
// CHECK-NEXT: tile.scan add %J axis 0 every 9 : (tensor<20xf32>)
// CHECK-NEXT: return
func.func @others(%I: tensor<8xf32>, %J: tensor<20xf32>) -> (tensor<8xf32>, tensor<20xf32>) {
  %O = tile.scan add %I axis 0 : (tensor<8xf32>) -> tensor<8xf32>
  %P = tile.scan add %J axis 0 every 9 : (tensor<20xf32>) -> tensor<20xf32>
  func.return %O, %P : tensor<8xf32>, tensor<20xf32>
}
