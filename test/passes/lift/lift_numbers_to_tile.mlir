// RUN: tile-opt %s -p lift-numbers-to-tile,canonicalize | filecheck %s

// CHECK-LABEL: func.func @scaled(
// CHECK-NEXT: %[[C:.*]] = tile.constant 2.0 : tensor<f32>
// CHECK-NEXT: %[[S:.*]] = tile.add %s, %[[C]]
// CHECK-NEXT: %[[R:.*]] = tile.mul %x, %[[S]]
// CHECK-NEXT: return %[[R]]
func.func @scaled(%x: tensor<8xf32>, %s: tensor<f32>) -> tensor<8xf32> {
  %number = tensor.extract %s[] : tensor<f32>
  %two = arith.constant 2.0 : f32
  %sum = arith.addf %number, %two : f32
  %factor = tensor.from_elements %sum : tensor<f32>
  %r = tile.mul %x, %factor : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}

// A number that a pattern gives is one still, and so is what a pattern takes.
// CHECK-LABEL: func.func @of_patterns(
// CHECK: arith.constant 0.000000e+00 : f32
// CHECK: lift.reduce
// CHECK: tensor.from_elements
func.func @of_patterns(%x: tensor<8xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %r = lift.reduce(%a from %zero, %e in %x) : (f32, tensor<8xf32>) -> f32 {
    %t = arith.addf %a, %e : f32
    lift.yield %t : f32
  }
  %t = tensor.from_elements %r : tensor<f32>
  func.return %t : tensor<f32>
}
