// RUN: tile-opt %s -p 'tile-bounds,tile-fuse' | filecheck %s

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<
    "type" = "gpu", "compute_units" = 132 : i64>>} {

// Neighbours are read again, from a cache.
// CHECK-LABEL: func.func @difference
// CHECK:         tile.kernel @{{\w+}}(%[[X:.*]] = %X : tensor<64x65xf32>) -> tensor<64x64xf32> {
// CHECK-NEXT:      %[[A:.*]] = tile.contraction assign(%[[X]][i, j + 1])
// CHECK-NEXT:      %[[B:.*]] = tile.contraction assign(%[[X]][i, j])
// CHECK-NEXT:      tile.sub %[[A]], %[[B]]
func.func @difference(%X: tensor<64x65xf32>) -> tensor<64x64xf32> {
  %A = tile.contraction assign(%X[i, j + 1]) -> [i, j] : (tensor<64x65xf32>) -> tensor<64x64xf32>
  %B = tile.contraction assign(%X[i, j]) -> [i, j] : (tensor<64x65xf32>) -> tensor<64x64xf32>
  %D = tile.sub %A, %B : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %D : tensor<64x64xf32>
}

// A transposition has a schedule of its own.
// CHECK-LABEL: func.func @transposed
// CHECK-COUNT-2: tile.kernel
func.func @transposed(%X: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %A = tile.contraction assign(%X[j, i]) -> [i, j] : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %B = tile.contraction add(%X[i, j + k]) -> [i, j] where 0 <= k < 3 : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %D = tile.sub %A, %B : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %D : tensor<64x64xf32>
}

// Many points have registers of their own.
// CHECK-LABEL: func.func @windows
// CHECK-COUNT-2: tile.kernel
func.func @windows(%X: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %A = tile.contraction add(%X[i + k, j]) -> [i, j] where 0 <= k < 9 : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %B = tile.contraction add(%X[i, j + k]) -> [i, j] where 0 <= k < 9 : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %D = tile.sub %A, %B : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %D : tensor<64x64xf32>
}
}
