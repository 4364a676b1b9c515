// RUN: tile-opt %s -p 'tile-bounds,tile-fuse' | filecheck %s

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<
    "type" = "gpu", "compute_units" = 132 : i64>>} {

// The product is written alone: what is made of it is more, and only the rows' kernel takes that.
// CHECK-LABEL: func.func @rows
// CHECK:         %[[P:.*]] = tile.kernel @{{\w+}}(%{{.*}} = %A : {{.*}}, %{{.*}} = %B : tensor<64x1024xf32>) -> tensor<4096x1024xf32>
// CHECK-NEXT:      tile.contraction
// CHECK-NEXT:      tile.yield
// CHECK:         tile.kernel @{{\w+}}({{.*}}%[[P]] : tensor<4096x1024xf32>{{.*}}) -> tensor<4096x1024xf32> axes
// CHECK:           tile.mul
// CHECK:           tile.exp
// CHECK-NOT:     tile.kernel
func.func @rows(%A: tensor<4096x64xf32>, %B: tensor<64x1024xf32>, %E: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
  %P = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] : (tensor<4096x64xf32>, tensor<64x1024xf32>) -> tensor<4096x1024xf32>
  %D = tile.mul %P, %E : (tensor<4096x1024xf32>, tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %G = tile.exp %P : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %S = tile.contraction add(%D[i, j]) -> [i, 0] : (tensor<4096x1024xf32>) -> tensor<4096x1xf32>
  %H = tile.sub %G, %S : (tensor<4096x1024xf32>, tensor<4096x1xf32>) -> tensor<4096x1024xf32>
  %O = tile.mul %H, %E : (tensor<4096x1024xf32>, tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  func.return %O : tensor<4096x1024xf32>
}

// What is returned stays with the product.
// CHECK-LABEL: func.func @returned
// CHECK:         %{{.*}}, %[[G:.*]] = tile.kernel
// CHECK:         func.return %[[G]]
func.func @returned(%A: tensor<4096x64xf32>, %B: tensor<64x1024xf32>, %E: tensor<4096x1024xf32>) -> (tensor<4096x1024xf32>, tensor<4096x1xf32>) {
  %P = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] : (tensor<4096x64xf32>, tensor<64x1024xf32>) -> tensor<4096x1024xf32>
  %D = tile.mul %P, %E : (tensor<4096x1024xf32>, tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %G = tile.exp %P : (tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %S = tile.contraction add(%D[i, j]) -> [i, 0] : (tensor<4096x1024xf32>) -> tensor<4096x1xf32>
  func.return %G, %S : tensor<4096x1024xf32>, tensor<4096x1xf32>
}
}
