// RUN: tile-opt %s -p tile-outline-parts | filecheck %s

// CHECK-LABEL: func.func @halved(
// CHECK-SAME:      %x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
// CHECK-NEXT:    %one = tile.constant 1 : tensor<i32>
// CHECK-NEXT:    %y = func.call @halved_part0(%x)
// CHECK-NEXT:    %i, %r = scf.while (%{{.*}} = %one, %{{.*}} = %y)
// CHECK-NEXT:      %c = func.call @halved_part1(%{{.*}}, %n)
// CHECK-NEXT:      %e = tensor.extract %c[] : tensor<i1>
// CHECK-NEXT:      scf.condition(%e)
// CHECK:         } do {
// CHECK:           %{{.*}}, %{{.*}} = func.call @halved_part2(
// CHECK-NEXT:      scf.yield
// CHECK:         %z = func.call @halved_part3(%r)
// CHECK-NEXT:    func.return %z
func.func @halved(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  %one = tile.constant 1 : tensor<i32>
  %y = tile.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %unused = tile.sin %x : (tensor<4xf32>) -> tensor<4xf32>
  %i, %r = scf.while (%k = %one, %a = %y) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) {
    %c = tile.cmp_lt %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %e = tensor.extract %c[] : tensor<i1>
    scf.condition(%e) %k, %a : tensor<i32>, tensor<4xf32>
  } do {
  ^bb0(%k: tensor<i32>, %a: tensor<4xf32>):
    %l = tile.add %k, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %half = tile.constant 0.5 : tensor<f32>
    %b = tile.mul %a, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    scf.yield %l, %b : tensor<i32>, tensor<4xf32>
  }
  %z = tile.neg %r : (tensor<4xf32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// Constants are in each part for themselves.
// CHECK-LABEL: func.func @halved_part0(
// CHECK-LABEL: func.func @halved_part1(
// CHECK-LABEL: func.func @halved_part2(
// CHECK:         %one = tile.constant 1 : tensor<i32>
// CHECK:         %half = tile.constant 0.5
// CHECK:         func.return %l, %b : tensor<i32>, tensor<4xf32>
// CHECK-LABEL: func.func @halved_part3(

// CHECK-LABEL: func.func @plain(
// CHECK-NEXT:    %y = tile.exp
func.func @plain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = tile.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
