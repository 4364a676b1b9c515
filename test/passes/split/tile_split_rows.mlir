// RUN: tile-opt %s -p 'tile-split-rows{parts=4}' | filecheck %s
// RUN: tile-opt %s -p 'tile-split-rows{parts=4 keep=V}' | filecheck %s --check-prefix=KEPT
// RUN: tile-opt %s -p tile-split-rows | filecheck %s --check-prefix=CHOSEN
// RUN: not tile-opt %s -p 'tile-split-rows{parts=1}' 2>&1 | filecheck %s --check-prefix=FEW

// FEW: `parts` must be at least 2, got 1

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<
    "platform" = "NVIDIA CUDA", "compute_units" = 132 : i64, "max_work_group_size" = 1024 : i64,
    "local_mem_size" = 49152 : i64, "bandwidth" = 2900.0 : f64, "launch" = 9.4 : f64>>} {

// Deviations from the means of parts, and those of the parts' means from the rows'.
// CHECK-LABEL: @variances
// CHECK: %0 = tile.reshape %X to [] : tensor<8x4194304xf32> -> tensor<8x4x1048576xf32>
// CHECK-NEXT: %S_parts, %V_parts = tile.kernel(%X_1 = %0 : tensor<8x4x1048576xf32>) -> (tensor<8x4x1xf32>, tensor<8x4x1xf32>) axes <d0 = 0 to 8, d1 = 0 to 4, d2 = 0 to 1048576>
// CHECK: tile.contraction add(%S_parts[r, c_part, 0]) -> [r, 0, 0]
// CHECK: %V = tile.contraction add(%{{.*}}[r, c_part, 0]) -> [r]
// KEPT-LABEL: @variances
// KEPT: %S = tile.contraction add(%X[r, c]) -> [r, 0]
// CHOSEN-LABEL: @variances
// CHOSEN: tile.reshape %X to [] : tensor<8x4194304xf32> -> tensor<8x256x16384xf32>
func.func @variances(%X: tensor<8x4194304xf32>) -> tensor<8xf32> {
  %n = tile.constant 4194304 : tensor<index>
  %S = tile.contraction add(%X[r, c]) -> [r, 0] domain <r = 0 to 8, c = 0 to 4194304> : (tensor<8x4194304xf32>) -> tensor<8x1xf32>
  %M = tile.div %S, %n : (tensor<8x1xf32>, tensor<index>) -> tensor<8x1xf32>
  %D = tile.sub %X, %M : (tensor<8x4194304xf32>, tensor<8x1xf32>) -> tensor<8x4194304xf32>
  %Q = tile.mul %D, %D : (tensor<8x4194304xf32>, tensor<8x4194304xf32>) -> tensor<8x4194304xf32>
  %V = tile.contraction add(%Q[r, c]) -> [r] domain <r = 0 to 8, c = 0 to 4194304> : (tensor<8x4194304xf32>) -> tensor<8xf32>
  func.return %V : tensor<8xf32>
}

// Work-groups keep rows of these, of which there are enough.
// CHOSEN-LABEL: @short_rows
// CHOSEN-NEXT: %M = tile.contraction max(%X[r, c]) -> [r, 0]
func.func @short_rows(%X: tensor<4096x4096xf32>) -> tensor<4096xi32> {
  %M = tile.contraction max(%X[r, c]) -> [r, 0] domain <r = 0 to 4096, c = 0 to 4096> : (tensor<4096x4096xf32>) -> tensor<4096x1xf32>
  %N = tile.contraction add(%X[r, c] eq %M[r, 0]) -> [r] domain <r = 0 to 4096, c = 0 to 4096> : (tensor<4096x4096xf32>, tensor<4096x1xf32>) -> tensor<4096xi32>
  func.return %N : tensor<4096xi32>
}

// Rows that none can keep would be read twice for what equals the maximum.
// CHOSEN-LABEL: @long_rows
// CHOSEN-NEXT: tile.reshape %X to [] : tensor<500x200000xf32> -> tensor<500x16x12500xf32>
func.func @long_rows(%X: tensor<500x200000xf32>) -> tensor<500xi32> {
  %M = tile.contraction max(%X[r, c]) -> [r, 0] domain <r = 0 to 500, c = 0 to 200000> : (tensor<500x200000xf32>) -> tensor<500x1xf32>
  %N = tile.contraction add(%X[r, c] eq %M[r, 0]) -> [r] domain <r = 0 to 500, c = 0 to 200000> : (tensor<500x200000xf32>, tensor<500x1xf32>) -> tensor<500xi32>
  func.return %N : tensor<500xi32>
}

// No sum of deviations from twice the mean follows from those of parts.
// CHECK-LABEL: @not_means
// CHECK-NOT: tile.kernel
func.func @not_means(%X: tensor<4x8xf32>) -> tensor<4xf32> {
  %n = tile.constant 4 : tensor<index>
  %S = tile.contraction add(%X[r, c]) -> [r, 0] domain <r = 0 to 4, c = 0 to 8> : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %M = tile.div %S, %n : (tensor<4x1xf32>, tensor<index>) -> tensor<4x1xf32>
  %D = tile.sub %X, %M : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %Q = tile.mul %D, %D : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %V = tile.contraction add(%Q[r, c]) -> [r] domain <r = 0 to 4, c = 0 to 8> : (tensor<4x8xf32>) -> tensor<4xf32>
  func.return %V : tensor<4xf32>
}
}
