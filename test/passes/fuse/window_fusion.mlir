// RUN: tile-opt %s -p 'tile-bounds,tile-fuse' | filecheck %s
// RUN: tile-opt %s -p 'tile-bounds,tile-fuse{rows=false}' | filecheck %s --check-prefix APART

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<
    "type" = "gpu", "compute_units" = 4 : i64>>} {

// The windows are an axis, and the places in them another one.
// CHECK-LABEL: @centred
// CHECK-NEXT:    %{{.*}} = tile.reshape %X to [] : tensor<64x4096xf32> -> tensor<64x1024x4xf32>
// CHECK-NEXT:    %Y = tile.kernel @{{\w+}}(%{{.*}}) -> tensor<64x1024x4xf32> axes <d0 = 0 to 64, d1 = 0 to 1024, d2 = 0 to 4> {
// CHECK-NEXT:      %M = tile.contraction add(%{{.*}}[d0, d1, d2]) -> [d0, d1, 0] : (tensor<64x1024x4xf32>) -> tensor<64x1024x1xf32>
// CHECK-NEXT:      %B = tile.contraction assign(%M[d0, d1, 0]) -> [d0, d1, d2]
// CHECK-NEXT:      %Y_1 = tile.sub
// CHECK-NEXT:      tile.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    %{{.*}} = tile.reshape %Y to [] : tensor<64x1024x4xf32> -> tensor<64x4096xf32>
// APART-LABEL: @centred
// APART-NOT:     axes
func.func @centred(%X: tensor<64x4096xf32>) -> tensor<64x4096xf32> {
  %M = tile.contraction add(%X[r, 4*x + k]) -> [r, x] where 0 <= k < 4 : (tensor<64x4096xf32>) -> tensor<64x1024xf32>
  %B = tile.contraction assign(%M[r, x]) -> [r, 4*x + k] where 0 <= k < 4 : (tensor<64x1024xf32>) -> tensor<64x4096xf32>
  %Y = tile.sub %X, %B : (tensor<64x4096xf32>, tensor<64x4096xf32>) -> tensor<64x4096xf32>
  func.return %Y : tensor<64x4096xf32>
}

// Blocks of blocks are three axes.
// CHECK-LABEL: @levels
// CHECK:         tile.kernel @{{\w+}}({{.*}}) -> tensor<4096x4x2xf32> axes
// CHECK:           tile.contraction add(%{{.*}}[d0, d1, d2]) -> [d0, 0, 0]
func.func @levels(%X: tensor<32768xf32>) -> tensor<32768xf32> {
  %S = tile.contraction add(%X[8*a + 2*b + c]) -> [a] where 0 <= b < 4, 0 <= c < 2 : (tensor<32768xf32>) -> tensor<4096xf32>
  %Y = tile.contraction add(%X[8*a + 2*b + c] mul %S[a]) -> [8*a + 2*b + c] where 0 <= b < 4, 0 <= c < 2 : (tensor<32768xf32>, tensor<4096xf32>) -> tensor<32768xf32>
  func.return %Y : tensor<32768xf32>
}

// What is between two windows, as the last elements here, is none of an axis.
// CHECK-LABEL: @rest
// CHECK-NOT:     axes
// CHECK:         func.return
func.func @rest(%X: tensor<64x4097xf32>) -> tensor<64x4097xf32> {
  %M = tile.contraction add(%X[r, 4*x + k]) -> [r, x] where 0 <= k < 4 : (tensor<64x4097xf32>) -> tensor<64x1024xf32>
  %Y = tile.contraction add(%X[r, 4*x + k] mul %M[r, x]) -> [r, 4*x + k] where 0 <= k < 4 : (tensor<64x4097xf32>, tensor<64x1024xf32>) -> tensor<64x4097xf32>
  func.return %Y : tensor<64x4097xf32>
}

// Windows that meet are none either.
// CHECK-LABEL: @meeting
// CHECK-NOT:     axes
// CHECK:         func.return
func.func @meeting(%X: tensor<64x4098xf32>) -> tensor<64x4096xf32> {
  %M = tile.contraction add(%X[r, 4*x + k]) -> [r, x] where 0 <= k < 6 : (tensor<64x4098xf32>) -> tensor<64x1024xf32>
  %Y = tile.contraction assign(%M[r, x]) -> [r, 4*x + k] where 0 <= k < 4 : (tensor<64x1024xf32>) -> tensor<64x4096xf32>
  func.return %Y : tensor<64x4096xf32>
}

// What something between two kernels takes is made before that.
// CHECK-LABEL: @between
// CHECK:         %M = tile.kernel
// CHECK:         %{{.*}} = tile.gather
// CHECK:         %Y = tile.kernel
func.func @between(%X: tensor<64x4096xf32>, %I: tensor<64xi32>) -> tensor<64x4096xf32> {
  %M = tile.contraction add(%X[r, 4*x + k]) -> [r, x] where 0 <= k < 4 : (tensor<64x4096xf32>) -> tensor<64x1024xf32>
  %G = tile.gather %M, %I : (tensor<64x1024xf32>, tensor<64xi32>) -> tensor<64x1024xf32>
  %Y = tile.contraction add(%X[r, 4*x + k] mul %G[r, x]) -> [r, 4*x + k] where 0 <= k < 4 : (tensor<64x4096xf32>, tensor<64x1024xf32>) -> tensor<64x4096xf32>
  func.return %Y : tensor<64x4096xf32>
}

// A reshape of a result follows the kernel that makes it.
// CHECK-LABEL: @viewed
// CHECK:         %M, %Y = tile.kernel @{{\w+}}({{.*}}) -> (tensor<64x1024x1xf32>, tensor<64x1024x4xf32>) axes
// CHECK:         tile.reshape {{.*}} -> tensor<65536xf32>
func.func @viewed(%X: tensor<64x4096xf32>) -> (tensor<65536xf32>, tensor<64x4096xf32>) {
  %M = tile.contraction add(%X[r, 4*x + k]) -> [r, x] where 0 <= k < 4 : (tensor<64x4096xf32>) -> tensor<64x1024xf32>
  %V = tile.reshape %M to [] : tensor<64x1024xf32> -> tensor<65536xf32>
  %Y = tile.contraction add(%X[r, 4*x + k] mul %M[r, x]) -> [r, 4*x + k] where 0 <= k < 4 : (tensor<64x4096xf32>, tensor<64x1024xf32>) -> tensor<64x4096xf32>
  func.return %V, %Y : tensor<65536xf32>, tensor<64x4096xf32>
}

}
