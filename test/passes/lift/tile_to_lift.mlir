// RUN: tile-opt %s -p tile-to-lift --split-input-file --verify-diagnostics | filecheck %s

// The input gradient of a convolution of stride 1: what is read beyond the edges is 0.
// CHECK-LABEL: func.func @gradient(
// CHECK: lift.pad_constant(1, 1) %DO
// CHECK: lift.slide(2, 1)
// CHECK: lift.gather(i -> -i + 1)
// CHECK: lift.zip
// CHECK: lift.reduce(
func.func @gradient(%DO: tensor<4xf32>, %K: tensor<2xf32>) -> tensor<5xf32> {
  %DI = tile.contraction add(%DO[x - k] mul %K[k]) -> [x] domain <x = 0 to 5, k = 0 to 2> : (tensor<4xf32>, tensor<2xf32>) -> tensor<5xf32>
  func.return %DI : tensor<5xf32>
}

// -----

// A product of matrices: the second operand is transposed, so that its columns are mapped over.
// CHECK-LABEL: func.func @product(
// CHECK: [[COLUMNS:%[0-9]+]] = lift.transpose %B
// CHECK: lift.map([[ROW:%[a-z0-9_]+]] in %A)
// CHECK:   lift.map([[COLUMN:%[a-z0-9_]+]] in [[COLUMNS]])
// CHECK:     lift.zip [[ROW]], [[COLUMN]]
// CHECK:     arith.mulf
// CHECK:     lift.reduce(
// CHECK:       arith.addf
func.func @product(%A: tensor<2x3xf32>, %B: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %C = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] domain <i = 0 to 2, j = 0 to 4, k = 0 to 3> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  func.return %C : tensor<2x4xf32>
}

// -----

// CHECK: C cannot be expressed as patterns: its indices have no ranges; run tile-bounds first
func.func @ranges(%A: tensor<4xf32>) -> tensor<4xf32> {
  %C = tile.contraction add(%A[i]) -> [i] : (tensor<4xf32>) -> tensor<4xf32>
  func.return %C : tensor<4xf32>
}

// -----

// A constraint that the ranges do not imply is tested at each point.
// CHECK-LABEL: func.func @constraint(
// CHECK-COUNT-2: lift.generate(
// CHECK: lift.map(
// CHECK:   arith.cmpi sge
// CHECK:   arith.cmpi slt
// CHECK:   arith.select
// CHECK:   lift.reduce(
func.func @constraint(%A: tensor<4xf32>) -> tensor<4xf32> {
  %C = tile.contraction add(%A[j]) -> [i] where 0 <= i - j < 2 domain <i = 0 to 4, j = 0 to 4> : (tensor<4xf32>) -> tensor<4xf32>
  func.return %C : tensor<4xf32>
}

// -----

// Elements without points are those of the default.
// CHECK-LABEL: func.func @default(
// CHECK: arith.cmpi sgt
// CHECK: arith.select
func.func @default(%A: tensor<4xf32>) -> tensor<4xf32> {
  %C = tile.contraction add(%A[i + 1]) -> [i] default %A domain <i = 0 to 3> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %C : tensor<4xf32>
}
