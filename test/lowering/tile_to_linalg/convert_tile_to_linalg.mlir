// RUN: tile-opt %s -p convert-tile-to-linalg | filecheck %s

// Padding of a maximum changes nothing; of a product it does, where the other factor is infinite.

// CHECK: func.func @windows(%I: tensor<6xf32>, %K: tensor<3xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
// CHECK: tensor.pad %I low[1] high[1] {
// CHECK: arith.constant 0xff800000 : f32
// CHECK: %M = linalg.generic
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.maximumf
// CHECK-NEXT: linalg.yield
// CHECK: tensor.pad %I low[1] high[1] {
// CHECK: arith.constant 0.000000e+00 : f32
// CHECK: %P = linalg.generic
// CHECK: arith.mulf
// CHECK: arith.select
func.func @windows(%I: tensor<6xf32> {tile.name = "I"}, %K: tensor<3xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %M = tile.contraction max(%I[x + k - 1]) -> [x] where 0 <= k < 3 : (tensor<6xf32>) -> tensor<6xf32>
  %P = tile.contraction add(%I[x + k - 1] mul %K[k]) -> [x] : (tensor<6xf32>, tensor<3xf32>) -> tensor<6xf32>
  func.return %M, %P : tensor<6xf32>, tensor<6xf32>
}

// A part is a slice of the whole.

// CHECK: func.func @part(%I: tensor<3xi8>, %D: tensor<8xi8>) -> tensor<8xi8> {
// CHECK: %O = tensor.insert_slice %{{.*}} into %D[2] [3] [1] : tensor<3xi8> into tensor<8xi8>
func.func @part(%I: tensor<3xui8>, %D: tensor<8xui8>) -> tensor<8xui8> {
  %O = tile.contraction assign(%I[x]) -> [x + 2] default %D : (tensor<3xui8>, tensor<8xui8>) -> tensor<8xui8>
  func.return %O : tensor<8xui8>
}
