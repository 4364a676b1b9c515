// REQUIRES: stablehlo
// RUN: tile-opt %s -p convert-stablehlo-to-tile | filecheck %s
// RUN: tile-opt %s --print-op-generic | tile-opt -p convert-stablehlo-to-tile | filecheck %s

// Calls are inlined, loops of a known number of iterations are written out, choices are selections.
// CHECK-LABEL: func.func @control(
// CHECK-NEXT: %[[w:.*]] = tile.mul %x, %x
// CHECK-NEXT: %[[y:.*]] = tile.mul %[[w]], %[[w]]
// CHECK-NEXT: %[[z:.*]] = tile.exp %[[y]]
// CHECK-NEXT: %{{.*}} = tile.select %p, %[[z]], %[[y]]
// CHECK-NOT: @square
func.func @control(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c2 = stablehlo.constant dense<2> : tensor<i32>
  %i, %y = stablehlo.while(%k = %c0, %v = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %t = stablehlo.compare LT, %k, %c2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  } do {
    %w = func.call @square(%v) : (tensor<4xf32>) -> tensor<4xf32>
    %n = stablehlo.add %k, %c1 : tensor<i32>
    stablehlo.return %n, %w : tensor<i32>, tensor<4xf32>
  }
  %r = "stablehlo.if"(%p) ({
    %e = stablehlo.exponential %y : tensor<4xf32>
    stablehlo.return %e : tensor<4xf32>
  }, {
    stablehlo.return %y : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
func.func private @square(%v: tensor<4xf32>) -> tensor<4xf32> {
  %w = stablehlo.multiply %v, %v : tensor<4xf32>
  func.return %w : tensor<4xf32>
}
