// REQUIRES: stablehlo
// RUN: tile-opt %s -p convert-stablehlo-to-tile --split-input-file --verify-diagnostics | filecheck %s

// CHECK: stablehlo.custom_call of @solve cannot be converted: it is code of another compiler
func.func @custom(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = stablehlo.custom_call @solve(%a) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// -----

// CHECK: stablehlo.custom_call of @print cannot be converted: it is code of another compiler
func.func @effect(%a: tensor<4xf32>) -> tensor<4xf32> {
  stablehlo.custom_call @print(%a) {has_side_effect = true} : (tensor<4xf32>) -> ()
  func.return %a : tensor<4xf32>
}

// -----

// CHECK: stablehlo.add cannot be converted: the shape of tensor<?xf32> is open; bind it before the export
func.func @open(%a: tensor<?xf32>) -> tensor<?xf32> {
  %r = stablehlo.add %a, %a : tensor<?xf32>
  func.return %r : tensor<?xf32>
}

// -----

// CHECK: stablehlo.negate cannot be converted: there are no tensors of complex<f32>
func.func @complex(%a: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %r = stablehlo.negate %a : tensor<4xcomplex<f32>>
  func.return %r : tensor<4xcomplex<f32>>
}

// -----

// CHECK: stablehlo.rng_bit_generator cannot be converted: its bits are those of XLA's own generators
func.func @bits(%s: tensor<2xui64>) -> tensor<4xui32> {
  %t, %r = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  func.return %r : tensor<4xui32>
}

// -----

// CHECK: f calls itself
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = func.call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %s = stablehlo.add %r, %r : tensor<4xf32>
  func.return %s : tensor<4xf32>
}

// -----

// CHECK: a tensor<3x4xf32> has no axis 2
func.func @no_axis(%x: tensor<3x4xf32>, %s: tensor<4xf32>) -> tensor<3x4xf32> {
  %r, %m, %v = "stablehlo.batch_norm_training"(%x, %s, %s) <{epsilon = 1.0e-3 : f32, feature_index = 2 : i64}> : (tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>)
  func.return %r : tensor<3x4xf32>
}

// -----

// CHECK: axis 0 of a tensor<3x4xf32> is normalized by a tensor<4xf32>
func.func @other_axis(%x: tensor<3x4xf32>, %s: tensor<4xf32>) -> tensor<3x4xf32> {
  %r, %m, %v = "stablehlo.batch_norm_training"(%x, %s, %s) <{epsilon = 1.0e-3 : f32, feature_index = 0 : i64}> : (tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>)
  func.return %r : tensor<3x4xf32>
}

// -----

// CHECK: stablehlo.composite "my.op": '@missing' could not be found in symbol table
func.func @no_decomposition(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = stablehlo.composite "my.op" %a {decomposition = @missing} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// -----

// CHECK: stablehlo.composite "my.op": operand type mismatch: expected operand type tensor<3xf32>, but provided tensor<4xf32>
func.func @other_decomposition(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = stablehlo.composite "my.op" %a {decomposition = @three} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
func.func private @three(%a: tensor<3xf32>) -> tensor<3xf32> {
  func.return %a : tensor<3xf32>
}

// -----

// CHECK: g calls itself
func.func @g(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = stablehlo.composite "my.op" %a {decomposition = @g} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
