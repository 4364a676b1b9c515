// REQUIRES: stablehlo
// RUN: tile-opt %s | filecheck %s --check-prefix SYNTAX
// RUN: tile-opt %s -p convert-stablehlo-to-tile | filecheck %s
// RUN: tile-opt %s | tile-opt -p convert-stablehlo-to-tile | filecheck %s
// RUN: tile-opt %s --print-op-generic | tile-opt -p convert-stablehlo-to-tile | filecheck %s

// SYNTAX:      %r, %s = stablehlo.composite "my.both" %x, %y {{{.*}}decomposition = @both{{.*}}} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
// CHECK-LABEL: func.func @f(
// CHECK-NEXT:    %r = tile.add %x, %y
// CHECK-NEXT:    %{{.*}} = tile.constant 2.0
// CHECK:         %{{.*}} = tile.mul %x, %{{.*}}
// CHECK-NOT:   func.func
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %r, %s = stablehlo.composite "my.both" %x, %y {composite_attributes = {a = 1 : i32}, decomposition = @both, version = 1 : i32} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  func.return %r, %s : tensor<4xf32>, tensor<4xf32>
}
func.func private @both(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %r = stablehlo.add %x, %y : tensor<4xf32>
  %s = stablehlo.composite "my.twice" %x {decomposition = @twice} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r, %s : tensor<4xf32>, tensor<4xf32>
}
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<2.0> : tensor<4xf32>
  %r = stablehlo.multiply %x, %c : tensor<4xf32>
  func.return %r : tensor<4xf32>
}
