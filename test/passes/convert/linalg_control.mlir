// RUN: tile-opt %s -p convert-linalg-to-tile | filecheck %s

// Iterations follow one another, as many as constants and sizes say; calls are inlined.
// CHECK:      func.func @powers(%x: tensor<3xf32>)
// CHECK-NEXT:   %y = tile.mul %x, %x
// CHECK-NEXT:   %y_1 = tile.mul %y, %x
// CHECK-NEXT:   %y_2 = tile.mul %y_1, %x
// CHECK-NEXT:   %y_3 = tile.mul %y_2, %x
// CHECK-NEXT:   %y_4 = tile.mul %y_3, %x
// CHECK-NEXT:   %y_5 = tile.mul %y_4, %x
// CHECK-NEXT:   func.return %y_5
func.func private @times(%x: tensor<3xf32>, %z: tensor<3xf32>) -> tensor<3xf32> {
  %y = tile.mul %x, %z : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}
func.func @powers(%x: tensor<3xf32>) -> tensor<3xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = tensor.dim %x, %zero : tensor<3xf32>
  %r = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> (tensor<3xf32>) {
    %m = arith.addi %i, %one : index
    %q = scf.for %j = %zero to %m step %one iter_args(%b = %a) -> (tensor<3xf32>) {
      %z = func.call @times(%b, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      scf.yield %z : tensor<3xf32>
    }
    scf.yield %q : tensor<3xf32>
  }
  func.return %r : tensor<3xf32>
}

// A branch whose condition is known is taken; of others both results are there.
// CHECK:      func.func @branches(%x: tensor<3xf32>, %c: tensor<i1>)
// CHECK-NEXT:   %e = tile.exp %x
// CHECK-NEXT:   %s = tile.sin %x
// CHECK-NEXT:   %{{.*}} = tile.select %c, %e, %s
func.func @branches(%x: tensor<3xf32>, %c: i1) -> (tensor<3xf32>, tensor<3xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %less = arith.cmpi slt, %zero, %one : index
  %e = tile.exp %x : (tensor<3xf32>) -> tensor<3xf32>
  %k = scf.if %less -> (tensor<3xf32>) {
    scf.yield %e : tensor<3xf32>
  } else {
    %l = tile.log %x : (tensor<3xf32>) -> tensor<3xf32>
    scf.yield %l : tensor<3xf32>
  }
  %t = scf.if %c -> (tensor<3xf32>) {
    scf.yield %k : tensor<3xf32>
  } else {
    %s = tile.sin %x : (tensor<3xf32>) -> tensor<3xf32>
    scf.yield %s : tensor<3xf32>
  }
  func.return %k, %t : tensor<3xf32>, tensor<3xf32>
}

// The host runs long loops; what asks for their index counts in a tensor.
// CHECK-LABEL: func.func @long(
// CHECK:         %[[N:.*]] = arith.constant 1000000 : index
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[N]] step %{{.*}} iter_args(%{{.*}} = %x) -> (tensor<3xf32>) {
// CHECK-NEXT:      %{{.*}} = tile.exp
// CHECK-NEXT:      scf.yield
func.func @long(%x: tensor<3xf32>) -> tensor<3xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = arith.constant 1000000 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> (tensor<3xf32>) {
    %y = tile.exp %a : (tensor<3xf32>) -> tensor<3xf32>
    scf.yield %y : tensor<3xf32>
  }
  func.return %r : tensor<3xf32>
}

// Data decide when a loop ends; numbers are carried as tensors.
// CHECK-LABEL: func.func @open(
// CHECK-SAME:      %n: tensor<i64>) -> (tensor<3xf32>, tensor<f32>)
// CHECK:         scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %x, %{{.*}} = %{{.*}}) : (tensor<i64>, tensor<3xf32>, tensor<f32>)
// CHECK-NEXT:      %[[C:.*]] = tile.cmp_lt %{{.*}}, %n
// CHECK-NEXT:      %[[E:.*]] = tensor.extract %[[C]][]
// CHECK-NEXT:      scf.condition(%[[E]])
func.func @open(%x: tensor<3xf32>, %n: index) -> (tensor<3xf32>, f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %r:2 = scf.for %i = %zero to %n step %one iter_args(%a = %x, %s = %z) -> (tensor<3xf32>, f32) {
    %y = tile.exp %a : (tensor<3xf32>) -> tensor<3xf32>
    %v = tensor.extract %y[%zero] : tensor<3xf32>
    %t = arith.addf %s, %v : f32
    scf.yield %y, %t : tensor<3xf32>, f32
  }
  func.return %r#0, %r#1 : tensor<3xf32>, f32
}
