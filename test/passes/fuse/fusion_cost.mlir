// RUN: tile-opt %s -p 'tile-bounds,tile-fuse{explain=true}' | filecheck %s
// RUN: tile-opt %s -p 'tile-bounds,tile-fuse{rows=false}' | filecheck %s --check-prefix=APART

// Reductions of one tensor read it together.
// CHECK-LABEL: @statistics
// CHECK-NEXT:    %S, %M = tile.kernel @{{\w+}}(%X_1 = %X : tensor<2048x512xf32>) -> (tensor<2048xf32>, tensor<2048xf32>) axes
// CHECK-SAME:      attributes {fused = ["S is in one kernel with M, over the same rows: 5.0 us instead of 10.0 us apart, moving 4.21 MB instead of 8.4 MB"]} {
// APART-LABEL: @statistics
// APART:         tile.kernel
// APART:         tile.kernel
func.func @statistics(%X: tensor<2048x512xf32>) -> (tensor<2048xf32>, tensor<2048xf32>) {
  %S = tile.contraction add(%X[i, j]) -> [i] : (tensor<2048x512xf32>) -> tensor<2048xf32>
  %M = tile.contraction max(%X[i, j]) -> [i] : (tensor<2048x512xf32>) -> tensor<2048xf32>
  func.return %S, %M : tensor<2048xf32>, tensor<2048xf32>
}

// Two long rows have two work-groups: kernels that share each row out are faster.
// CHECK-LABEL: @few_rows
// CHECK:         %M = tile.kernel
// CHECK:         %D = tile.kernel
// CHECK-SAME:      fused = ["M is not in one kernel with D, over the same rows, which would take 5033.2 us instead of 78.6 us apart, moving 101 MB instead of 101 MB, with 2 work-groups where 128 keep the device busy"]
func.func @few_rows(%X: tensor<2x4194304xf32>) -> tensor<2x4194304xf32> {
  %M = tile.contraction max(%X[i, j]) -> [i, 0] : (tensor<2x4194304xf32>) -> tensor<2x1xf32>
  %D = tile.sub %X, %M : (tensor<2x4194304xf32>, tensor<2x1xf32>) -> tensor<2x4194304xf32>
  func.return %D : tensor<2x4194304xf32>
}

// Rows that no work-group can keep are read once for each phase, which is no worse than apart.
// CHECK-LABEL: @long_rows
// CHECK-NEXT:    %D = tile.kernel @{{\w+}}(%{{.*}}) -> tensor<512x65536xf32> axes <d0 = 0 to 512, d1 = 0 to 65536>
func.func @long_rows(%X: tensor<512x65536xf32>) -> tensor<512x65536xf32> {
  %M = tile.contraction max(%X[i, j]) -> [i, 0] : (tensor<512x65536xf32>) -> tensor<512x1xf32>
  %D = tile.sub %X, %M : (tensor<512x65536xf32>, tensor<512x1xf32>) -> tensor<512x65536xf32>
  func.return %D : tensor<512x65536xf32>
}

// As many bytes as apart, and a launch less.
// CHECK-LABEL: @exponentials_of_long_rows
// CHECK-NEXT:    %E, %S = tile.kernel @{{\w+}}(%{{.*}}) -> (tensor<512x131072xf32>, tensor<512x1xf32>) axes
// CHECK-SAME:      "E is in one kernel with S, over the same rows: 838.9 us instead of 838.9 us apart, moving 1074 MB instead of 1074 MB"
func.func @exponentials_of_long_rows(%X: tensor<512x131072xf32>) -> (tensor<512x131072xf32>, tensor<512x1xf32>) {
  %M = tile.contraction max(%X[i, j]) -> [i, 0] : (tensor<512x131072xf32>) -> tensor<512x1xf32>
  %D = tile.sub %X, %M : (tensor<512x131072xf32>, tensor<512x1xf32>) -> tensor<512x131072xf32>
  %E = tile.exp %D : (tensor<512x131072xf32>) -> tensor<512x131072xf32>
  %S = tile.contraction add(%E[i, j]) -> [i, 0] : (tensor<512x131072xf32>) -> tensor<512x1xf32>
  func.return %E, %S : tensor<512x131072xf32>, tensor<512x1xf32>
}

// A maximum that every element takes is not found again for each of them.
// CHECK-LABEL: @maximum_of_few
// CHECK:         %M = tile.kernel
// CHECK:         %D = tile.kernel
// CHECK-SAME:      with 4429 million operations again"]
func.func @maximum_of_few(%P: tensor<264x1xf32>, %X: tensor<1x16777216xf32>) -> tensor<1x16777216xf32> {
  %M = tile.contraction max(%P[i, j]) -> [j, 0] : (tensor<264x1xf32>) -> tensor<1x1xf32>
  %D = tile.sub %X, %M : (tensor<1x16777216xf32>, tensor<1x1xf32>) -> tensor<1x16777216xf32>
  func.return %D : tensor<1x16777216xf32>
}
