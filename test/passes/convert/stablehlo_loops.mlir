// RUN: tile-opt %s -p convert-stablehlo-to-tile | filecheck %s

// Data decide when a loop ends: the host runs it.
// CHECK-LABEL: func.func @doubled(
// CHECK:         scf.while (%{{.*}} = %a) : (tensor<f32>) -> tensor<f32> {
// CHECK-NEXT:      %{{.*}} = tile.constant 9.0 : tensor<f32>
// CHECK-NEXT:      %[[P:.*]] = tile.cmp_lt
// CHECK-NEXT:      %[[C:.*]] = tensor.extract %[[P]][] : tensor<i1>
// CHECK-NEXT:      scf.condition(%[[C]])
// CHECK-NEXT:    } do {
// CHECK-NEXT:    ^bb0(%[[A:.*]]: tensor<f32>):
// CHECK-NEXT:      %[[B:.*]] = tile.add %[[A]], %[[A]]
// CHECK-NEXT:      scf.yield %[[B]] : tensor<f32>
func.func @doubled(%a: tensor<f32>) -> tensor<f32> {
  %r = "stablehlo.while"(%a) ({
  ^bb0(%x: tensor<f32>):
    %c = stablehlo.constant dense<9.0> : tensor<f32>
    %p = stablehlo.compare LT, %x, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%x: tensor<f32>):
    %y = stablehlo.add %x, %x : tensor<f32>
    stablehlo.return %y : tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>
  func.return %r : tensor<f32>
}

// A long loop has its number of iterations, whichever way it counts.
// CHECK-LABEL: func.func @counted_down(
// CHECK-DAG:     %[[N:.*]] = arith.constant 500 : index
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[N]] step %{{.*}} iter_args(
func.func @counted_down(%a: tensor<f32>) -> tensor<f32> {
  %n = stablehlo.constant dense<1000> : tensor<ui16>
  %k = stablehlo.constant dense<0> : tensor<ui16>
  %r:3 = "stablehlo.while"(%n, %a, %k) ({
  ^bb0(%i: tensor<ui16>, %x: tensor<f32>, %e: tensor<ui16>):
    %p = stablehlo.compare LT, %e, %i : (tensor<ui16>, tensor<ui16>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%i: tensor<ui16>, %x: tensor<f32>, %e: tensor<ui16>):
    %two = stablehlo.constant dense<2> : tensor<ui16>
    %j = stablehlo.subtract %i, %two : tensor<ui16>
    %y = stablehlo.add %x, %x : tensor<f32>
    stablehlo.return %j, %y, %e : tensor<ui16>, tensor<f32>, tensor<ui16>
  }) : (tensor<ui16>, tensor<f32>, tensor<ui16>) -> (tensor<ui16>, tensor<f32>, tensor<ui16>)
  func.return %r#1 : tensor<f32>
}

// A counter that wraps never passes its end.
// CHECK-LABEL: func.func @wrapping(
// CHECK:         scf.while
func.func @wrapping(%a: tensor<f32>) -> tensor<f32> {
  %n = stablehlo.constant dense<0> : tensor<i8>
  %r:2 = "stablehlo.while"(%n, %a) ({
  ^bb0(%i: tensor<i8>, %x: tensor<f32>):
    %e = stablehlo.constant dense<127> : tensor<i8>
    %p = stablehlo.compare LE, %i, %e : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%i: tensor<i8>, %x: tensor<f32>):
    %one = stablehlo.constant dense<1> : tensor<i8>
    %j = stablehlo.add %one, %i : tensor<i8>
    %y = stablehlo.add %x, %x : tensor<f32>
    stablehlo.return %j, %y : tensor<i8>, tensor<f32>
  }) : (tensor<i8>, tensor<f32>) -> (tensor<i8>, tensor<f32>)
  func.return %r#1 : tensor<f32>
}

// A branch with such a loop is run by the host, too; others are selected.
// CHECK-LABEL: func.func @branched(
// CHECK:         %[[C:.*]] = tensor.extract %c[] : tensor<i1>
// CHECK-NEXT:    scf.if %[[C]] -> (tensor<f32>) {
// CHECK:           scf.while
// CHECK:         } else {
// CHECK-NEXT:      %{{.*}} = tile.neg
// CHECK-NEXT:      %{{.*}} = tile.select %d,
func.func @branched(%c: tensor<i1>, %d: tensor<i1>, %a: tensor<f32>) -> tensor<f32> {
  %r = "stablehlo.if"(%c) ({
    %s = "stablehlo.while"(%a) ({
    ^bb0(%x: tensor<f32>):
      %p = stablehlo.compare LT, %x, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }, {
    ^bb0(%x: tensor<f32>):
      %y = stablehlo.add %x, %x : tensor<f32>
      stablehlo.return %y : tensor<f32>
    }) : (tensor<f32>) -> tensor<f32>
    stablehlo.return %s : tensor<f32>
  }, {
    %t = "stablehlo.if"(%d) ({
      stablehlo.return %a : tensor<f32>
    }, {
      %n = stablehlo.negate %a : tensor<f32>
      stablehlo.return %n : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  func.return %r : tensor<f32>
}
