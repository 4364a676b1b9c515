// RUN: tile-opt %s -p lift-lower | filecheck %s
// RUN: tile-opt %s -p lift-lower -t 'lift-steps{function=nested}' | filecheck %s --check-prefix STEPS

// Up to three maps that are one another's functions are shared out, and the next is sequential.
// CHECK-LABEL: func.func @nested(
// CHECK: lift.map_glb(2)(
// CHECK:   lift.map_glb(1)(
// CHECK:     lift.map_glb(0)(
// CHECK:       lift.map_seq(
// STEPS: map_seq at map/map/map/map
// STEPS-NEXT: map_glb(dim=0) at map/map/map
// STEPS-NEXT: map_glb(dim=1) at map/map
// STEPS-NEXT: map_glb(dim=2) at map
func.func @nested(%x: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %r = lift.map(%a in %x) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
    %s = lift.map(%b in %a) : (tensor<3x4x5xf32>) -> tensor<3x4x5xf32> {
      %t = lift.map(%c in %b) : (tensor<4x5xf32>) -> tensor<4x5xf32> {
        %u = lift.map(%d in %c) : (tensor<5xf32>) -> tensor<5xf32> {
          %y = arith.addf %d, %d : f32
          lift.yield %y : f32
        }
        lift.yield %u : tensor<5xf32>
      }
      lift.yield %t : tensor<4x5xf32>
    }
    lift.yield %s : tensor<3x4x5xf32>
  }
  func.return %r : tensor<2x3x4x5xf32>
}

// What a reduction goes through is part of it; a map in an iteration is shared out each time.
// CHECK-LABEL: func.func @parts(
// CHECK: lift.iterate(2)(
// CHECK:   lift.map_glb(0)(
// CHECK: lift.map(
// CHECK: lift.reduce_seq(
func.func @parts(%x: tensor<8xf32>) -> tensor<f32> {
  %i = lift.iterate(2)(%v : tensor<8xf32> from %x) : (tensor<8xf32>) -> tensor<8xf32> {
    %m = lift.map(%a in %v) : (tensor<8xf32>) -> tensor<8xf32> {
      %y = arith.addf %a, %a : f32
      lift.yield %y : f32
    }
    lift.yield %m : tensor<8xf32>
  }
  %s = lift.map(%a in %i) : (tensor<8xf32>) -> tensor<8xf32> {
    %y = arith.mulf %a, %a : f32
    lift.yield %y : f32
  }
  %zero = arith.constant 0.0 : f32
  %t = lift.reduce(%a from %zero, %b in %s) : (f32, tensor<8xf32>) -> f32 {
    %y = arith.addf %a, %b : f32
    lift.yield %y : f32
  }
  %r = tensor.from_elements %t : tensor<f32>
  func.return %r : tensor<f32>
}

// What a program says itself of who does what stays as it is.
// CHECK-LABEL: func.func @said(
// CHECK: lift.map_glb(0)(
// CHECK: lift.reduce(
func.func @said(%x: tensor<8x4xf32>) -> tensor<8xf32> {
  %r = lift.map_glb(0)(%a in %x) : (tensor<8x4xf32>) -> tensor<8xf32> {
    %zero = arith.constant 0.0 : f32
    %t = lift.reduce(%s from %zero, %b in %a) : (f32, tensor<4xf32>) -> f32 {
      %y = arith.addf %s, %b : f32
      lift.yield %y : f32
    }
    lift.yield %t : f32
  }
  func.return %r : tensor<8xf32>
}

// The maps around are loops.
// CHECK-LABEL: func.func @around(
// CHECK: lift.map_seq(
// CHECK:   lift.map_glb(0)(
func.func @around(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %r = lift.map(%a in %x) : (tensor<8x4xf32>) -> tensor<8x4xf32> {
    %t = lift.map_glb(0)(%b in %a) : (tensor<4xf32>) -> tensor<4xf32> {
      %y = arith.addf %b, %b : f32
      lift.yield %y : f32
    }
    lift.yield %t : tensor<4xf32>
  }
  func.return %r : tensor<8x4xf32>
}
