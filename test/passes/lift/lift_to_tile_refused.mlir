// RUN: tile-opt %s -p lift-to-tile --split-input-file --verify-diagnostics | filecheck %s

// CHECK: map has a form in Tile once the size N is known: run tile-specialize first
func.func @open(%x: tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
  %r = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %b = arith.addf %a, %a : f32
    lift.yield %b : f32
  }
  func.return %r : tensor<?xf32, #lift.sizes<N>>
}

// -----

// CHECK: search(linear) has no form in Tile, and so no gradient
func.func @search(%x: tensor<8xi32>, %none: tensor<i32>) -> tensor<i32> {
  %default = tensor.extract %none[] : tensor<i32>
  %r = lift.search(linear)(%a in %x else %default) : (tensor<8xi32>, i32) -> i32 {
    %d = arith.subi %default, %a : i32
    lift.yield %d : i32
  }
  %t = tensor.from_elements %r : tensor<i32>
  func.return %t : tensor<i32>
}

// -----

// CHECK: reduce_seq of 200 elements by a function that is no sum, product or extreme is unrolled in Tile, for a gradient too: at most 128 steps
func.func @in_order(%one: tensor<f32>, %x: tensor<200xf32>) -> tensor<f32> {
  %start = tensor.extract %one[] : tensor<f32>
  %r = lift.reduce_seq(%a from %start, %e in %x) : (f32, tensor<200xf32>) -> f32 {
    %t = math.powf %a, %e : f32
    lift.yield %t : f32
  }
  %t = tensor.from_elements %r : tensor<f32>
  func.return %t : tensor<f32>
}

// -----

// CHECK: math.cbrt has no form in Tile, and so no gradient
func.func @root(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = lift.map(%a in %x) : (tensor<8xf32>) -> tensor<8xf32> {
    %b = math.cbrt %a : f32
    lift.yield %b : f32
  }
  func.return %r : tensor<8xf32>
}
