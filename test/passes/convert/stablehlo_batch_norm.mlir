// REQUIRES: stablehlo
// RUN: tile-opt %s | filecheck %s --check-prefix SYNTAX
// RUN: tile-opt %s -p convert-stablehlo-to-tile | filecheck %s
// RUN: tile-opt %s --print-op-generic | tile-opt -p convert-stablehlo-to-tile | filecheck %s

// SYNTAX: "stablehlo.batch_norm_inference"(%x, %scale, %offset, %mean, %variance) <{epsilon = {{.*}} : f32, feature_index = 0 : i64}>
// CHECK-LABEL: func.func @inference(
// CHECK:      %[[deviation:.*]] = tile.sqrt
// CHECK-NEXT: %[[scale:.*]] = tile.reshape %scale to [] : tensor<3xf32> -> tensor<3x1xf32>
// CHECK-NEXT: %[[factor:.*]] = tile.div %[[scale]], %[[deviation]]
// CHECK:      tile.mul %{{.*}}, %[[factor]] : (tensor<3x4xf32>, tensor<3x1xf32>)
// CHECK:      %r = tile.add
func.func @inference(%x: tensor<3x4xf32>, %scale: tensor<3xf32>, %offset: tensor<3xf32>, %mean: tensor<3xf32>, %variance: tensor<3xf32>) -> tensor<3x4xf32> {
  %r = "stablehlo.batch_norm_inference"(%x, %scale, %offset, %mean, %variance) <{epsilon = 1.0e-3 : f32, feature_index = 0 : i64}> : (tensor<3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3x4xf32>
  func.return %r : tensor<3x4xf32>
}

// SYNTAX: "stablehlo.batch_norm_training"(%x, %scale, %offset) <{epsilon = {{.*}} : f32, feature_index = 1 : i64}>
// Computed in f32, and rounded at the end.
// CHECK-LABEL: func.func @training(
// CHECK-NEXT: %[[x:.*]] = tile.cast %x : (tensor<3x4xf16>) -> tensor<3x4xf32>
// CHECK:      tile.contraction add(%[[x]][d0, d1]) -> [d1] : (tensor<3x4xf32>) -> tensor<4xf32>
// CHECK:      %variance = tile.cast %{{.*}} : (tensor<4xf32>) -> tensor<4xf16>
func.func @training(%x: tensor<3x4xf16>, %scale: tensor<4xf16>, %offset: tensor<4xf16>) -> (tensor<3x4xf16>, tensor<4xf16>, tensor<4xf16>) {
  %r, %mean, %variance = "stablehlo.batch_norm_training"(%x, %scale, %offset) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<3x4xf16>, tensor<4xf16>, tensor<4xf16>) -> (tensor<3x4xf16>, tensor<4xf16>, tensor<4xf16>)
  func.return %r, %mean, %variance : tensor<3x4xf16>, tensor<4xf16>, tensor<4xf16>
}

// SYNTAX: "stablehlo.batch_norm_grad"(%x, %scale, %mean, %variance, %g) <{epsilon = {{.*}} : f32, feature_index = 1 : i64}>
// CHECK-LABEL: func.func @gradients(
// CHECK:      %[[sum:.*]] = tile.contraction add(%g[d0, d1]) -> [d1]
// CHECK:      %[[total:.*]] = tile.reshape %[[sum]] to [] : tensor<4xf32> -> tensor<1x4xf32>
// CHECK:      %c = tile.reshape %[[total]]
// CHECK-NEXT: %a = tile.mul
func.func @gradients(%x: tensor<3x4xf32>, %scale: tensor<4xf32>, %mean: tensor<4xf32>, %variance: tensor<4xf32>, %g: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a, %b, %c = "stablehlo.batch_norm_grad"(%x, %scale, %mean, %variance, %g) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>)
  func.return %a, %b, %c : tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>
}
