// REQUIRES: stablehlo
// RUN: tile-opt %s -p convert-stablehlo-to-tile | filecheck %s
// RUN: tile-opt %s | tile-opt -p convert-stablehlo-to-tile | filecheck %s
// RUN: tile-opt %s --print-op-generic | tile-opt -p convert-stablehlo-to-tile | filecheck %s

// All dimension numbers, dilations both ways, padding.
// CHECK-LABEL: func.func @convolution(
// CHECK-NEXT: %r = tile.contraction add(%x[1/2*x0 + k0 - 1/2, n, c] mul %k[c, k0, o]) -> [n, o, x0]
func.func @convolution(%x: tensor<5x2x3xf32>, %k: tensor<3x4x6xf32>) -> tensor<2x6x7xf32> {
  %r = stablehlo.convolution(%x, %k) dim_numbers = [0, b, f]x[i, 0, o]->[b, f, 0], window = {stride = [1], pad = [[1, 3]], lhs_dilate = [2], rhs_dilate = [2], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<5x2x3xf32>, tensor<3x4x6xf32>) -> tensor<2x6x7xf32>
  func.return %r : tensor<2x6x7xf32>
}

// Groups of features.
// CHECK-LABEL: func.func @groups(
// CHECK-NEXT: %r = tile.contraction add(%x[n, x0 + k0, 2*g + c] mul %k[k0, c, 3*g + o]) -> [n, x0, 3*g + o] where 0 <= o < 3, 0 <= c < 2
func.func @groups(%x: tensor<1x5x4xf32>, %k: tensor<3x2x6xf32>) -> tensor<1x3x6xf32> {
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x5x4xf32>, tensor<3x2x6xf32>) -> tensor<1x3x6xf32>
  func.return %r : tensor<1x3x6xf32>
}

// CHECK-LABEL: func.func @dot(
// CHECK-NEXT: %r = tile.contraction add(%a[m0, b0, k0] mul %b[b0, k0, n2]) -> [b0, m0, n2]
func.func @dot(%a: tensor<3x2x4xf32>, %b: tensor<2x4x5xf32>) -> tensor<2x3x5xf32> {
  %r = stablehlo.dot_general %a, %b, batching_dims = [1] x [0], contracting_dims = [2] x [1] : (tensor<3x2x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  func.return %r : tensor<2x3x5xf32>
}

// A sum in a wider type.
// CHECK-LABEL: func.func @wide_dot(
// CHECK-NEXT: %r = tile.contraction add(%a[k0] mul %b[k0]) -> [] : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<f32>
func.func @wide_dot(%a: tensor<4xbf16>, %b: tensor<4xbf16>) -> tensor<f32> {
  %r = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// Windows that are all padding take the initial value.
// CHECK-LABEL: func.func @pool(
// CHECK:      %[[least:.*]] = tile.constant -inf : tensor<f32>
// CHECK-NEXT: %r = tile.contraction max(%x[2*d0 + w0 - 3]) -> [d0] where 0 <= w0 < 2 default %[[least]]
func.func @pool(%x: tensor<5xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %r = "stablehlo.reduce_window"(%x, %c) <{padding = dense<[[3, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<5xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @padding(
// CHECK-NEXT: %r = tile.contraction assign(%x[d0]) -> [2*d0 - 1] : (tensor<4xf32>) -> tensor<8xf32>
func.func @padding(%x: tensor<4xf32>) -> tensor<8xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.pad %x, %c, low = [-1], high = [2], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}

// CHECK-LABEL: func.func @layout(
// CHECK-NEXT: %a = tile.contraction assign(%x[3 - d0, d1]) -> [d0, d1]
// CHECK-NEXT: %b = tile.contraction assign(%a[3*d0 + 1, 2*d1]) -> [d0, d1]
// CHECK-NEXT: %c = tile.contraction assign(%b[d1, d0]) -> [d0, d1]
// CHECK-NEXT: %{{.*}} = tile.contraction assign(%c[d0, d1]) -> [d0, d1]
// CHECK-NEXT: %d = tile.contraction assign(%c[d0, d1]) -> [d0 + 2, d1] default %{{.*}}
func.func @layout(%x: tensor<4x4xf32>) -> tensor<4x1xf32> {
  %a = stablehlo.reverse %x, dims = [0] : tensor<4x4xf32>
  %b = stablehlo.slice %a [1:4:3, 0:4:2] : (tensor<4x4xf32>) -> tensor<1x2xf32>
  %c = stablehlo.transpose %b, dims = [1, 0] : (tensor<1x2xf32>) -> tensor<2x1xf32>
  %d = stablehlo.concatenate %c, %c, dim = 0 : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<4x1xf32>
  func.return %d : tensor<4x1xf32>
}

// A place that is known is no gather.
// CHECK-LABEL: func.func @known_slice(
// CHECK-NEXT: %r = tile.contraction assign(%x[d0 + 2]) -> [d0]
func.func @known_slice(%x: tensor<4xf32>) -> tensor<2xf32> {
  %c = stablehlo.constant dense<3> : tensor<i32>
  %r = stablehlo.dynamic_slice %x, %c, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @tuples(
// CHECK-NEXT: func.return %x
func.func @tuples(%x: tensor<4xf32>, %y: tensor<i32>) -> tensor<4xf32> {
  %t = stablehlo.tuple %x, %y : tuple<tensor<4xf32>, tensor<i32>>
  %r = stablehlo.get_tuple_element %t[0] : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @top(
// CHECK: tile.gather
func.func @top(%x: tensor<4xf32>) -> tensor<2xf32> {
  %v, %i = chlo.top_k(%x, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
  func.return %v : tensor<2xf32>
}

// The name of the kind of a comparison in the generic form.
// CHECK-LABEL: func.func @total_order(
// CHECK: tile.recip
func.func @total_order(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  %r = "stablehlo.compare"(%x, %y) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  func.return %r : tensor<4xi1>
}
