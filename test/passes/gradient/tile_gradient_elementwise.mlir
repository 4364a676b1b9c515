// RUN: tile-opt %s --split-input-file -p tile-gradient,canonicalize,cse | filecheck %s

// abs
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %0 = tile.constant 0 : tensor<index>
// CHECK-NEXT:    %1 = tile.cmp_lt %x, %0 : (tensor<4xf32>, tensor<index>) -> tensor<4xi1>
// CHECK-NEXT:    %2 = tile.neg %DY : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %3 = tile.select %1, %2, %0 : (tensor<4xi1>, tensor<4xf32>, tensor<index>) -> tensor<4xf32>
// CHECK-NEXT:    %4 = tile.cmp_gt %x, %0 : (tensor<4xf32>, tensor<index>) -> tensor<4xi1>
// CHECK-NEXT:    %DX = tile.select %4, %DY, %3 : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX : tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.abs %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// neg
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %DX = tile.neg %DY : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX : tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// relu
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %0 = tile.constant 0 : tensor<index>
// CHECK-NEXT:    %1 = tile.cmp_gt %x, %0 : (tensor<4xf32>, tensor<index>) -> tensor<4xi1>
// CHECK-NEXT:    %DX = tile.select %1, %DY, %0 : (tensor<4xi1>, tensor<4xf32>, tensor<index>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX : tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// ident
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    func.return %DY : tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.ident %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// acos
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %0 = tile.mul %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %1 = tile.constant 1 : tensor<index>
// CHECK-NEXT:    %2 = tile.sub %1, %0 : (tensor<index>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %3 = tile.sqrt %2 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %4 = tile.div %DY, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %DX = tile.neg %4 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX : tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.acos %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// asin
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %0 = tile.mul %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %1 = tile.constant 1 : tensor<index>
// CHECK-NEXT:    %2 = tile.sub %1, %0 : (tensor<index>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %3 = tile.sqrt %2 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %DX = tile.div %DY, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX : tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.asin %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// atan
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %0 = tile.mul %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %1 = tile.constant 1 : tensor<index>
// CHECK-NEXT:    %2 = tile.add %1, %0 : (tensor<index>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %DX = tile.div %DY, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX : tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.atan %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// cos
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %0 = tile.sin %x : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %1 = tile.mul %DY, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %DX = tile.neg %1 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX : tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.cos %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// cosh
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %0 = tile.sinh %x : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %DX = tile.mul %DY, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX : tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.cosh %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// erf
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %0 = tile.mul %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %1 = tile.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %2 = tile.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %3 = tile.mul %DY, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %4 = tile.constant 1.1283791670955126 : tensor<!tile.real>
// CHECK-NEXT:    %DX = tile.mul %3, %4 : (tensor<4xf32>, tensor<!tile.real>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX : tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.erf %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// exp
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %y = tile.exp %x : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %DX = tile.mul %DY, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX : tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// log
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %DX = tile.div %DY, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX : tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.log %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// recip
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %y = tile.recip %x : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %0 = tile.mul %y, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %1 = tile.mul %DY, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %DX = tile.neg %1 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX : tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.recip %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// sigmoid
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %y = tile.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %0 = tile.constant 1 : tensor<index>
// CHECK-NEXT:    %1 = tile.sub %0, %y : (tensor<index>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %2 = tile.mul %y, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %DX = tile.mul %DY, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX : tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// sin
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %0 = tile.cos %x : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %DX = tile.mul %DY, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX : tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.sin %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// sinh
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %0 = tile.cosh %x : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %DX = tile.mul %DY, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX : tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.sinh %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// sqrt
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %y = tile.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %0 = tile.constant 2 : tensor<index>
// CHECK-NEXT:    %1 = tile.mul %0, %y : (tensor<index>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %DX = tile.div %DY, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX : tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// tan
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %y = tile.tan %x : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %0 = tile.mul %y, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %1 = tile.constant 1 : tensor<index>
// CHECK-NEXT:    %2 = tile.add %1, %0 : (tensor<index>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %DX = tile.mul %DY, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX : tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.tan %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// tanh
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %y = tile.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %0 = tile.mul %y, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %1 = tile.constant 1 : tensor<index>
// CHECK-NEXT:    %2 = tile.sub %1, %0 : (tensor<index>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %DX = tile.mul %DY, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX : tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// add
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    func.return %DY, %DY : tensor<4xf32>, tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}, %z: tensor<4xf32> {tile.name = "Z"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.add %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// sub
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %DZ = tile.neg %DY : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DY, %DZ : tensor<4xf32>, tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}, %z: tensor<4xf32> {tile.name = "Z"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.sub %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// mul
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %DX = tile.mul %DY, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %DZ = tile.mul %DY, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX, %DZ : tensor<4xf32>, tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}, %z: tensor<4xf32> {tile.name = "Z"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.mul %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// div
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %y = tile.div %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %DX = tile.div %DY, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %0 = tile.mul %DX, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %DZ = tile.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX, %DZ : tensor<4xf32>, tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}, %z: tensor<4xf32> {tile.name = "Z"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.div %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// div by what is broadcast: by one reciprocal for all that it divides, of the divisor or its quarter.
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %y = tile.div %x, %z : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %0 = tile.abs %z : (tensor<3x1xf32>) -> tensor<3x1xf32>
// CHECK-NEXT:    %1 = tile.constant 4.253529586511731e+37 : tensor<!tile.real>
// CHECK-NEXT:    %2 = tile.cmp_gt %0, %1 : (tensor<3x1xf32>, tensor<!tile.real>) -> tensor<3x1xi1>
// CHECK-NEXT:    %3 = tile.constant 0.25 : tensor<!tile.real>
// CHECK-NEXT:    %4 = tile.constant 1.0 : tensor<!tile.real>
// CHECK-NEXT:    %5 = tile.select %2, %3, %4 : (tensor<3x1xi1>, tensor<!tile.real>, tensor<!tile.real>) -> tensor<3x1xf32>
// CHECK-NEXT:    %6 = tile.mul %z, %5 : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
// CHECK-NEXT:    %7 = tile.recip %6 : (tensor<3x1xf32>) -> tensor<3x1xf32>
// CHECK-NEXT:    %8 = tile.mul %DY, %7 : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %DX = tile.mul %8, %5 : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %9 = tile.mul %DX, %y : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %10 = tile.neg %9 : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %DZ = tile.sum_to %10, %z : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
// CHECK-NEXT:    func.return %DX, %DZ : tensor<3x4xf32>, tensor<3x1xf32>
func.func @f(%x: tensor<3x4xf32> {tile.name = "X"}, %z: tensor<3x1xf32> {tile.name = "Z"}) -> (tensor<3x4xf32> {tile.name = "Y"}) {
  %y = tile.div %x, %z : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// div by what is never so large: by its reciprocal, and so is what the gradient computes again.
// CHECK-LABEL: func.func @f_gradient(
// CHECK:         %0 = tile.recip %r : (tensor<3x1xf32>) -> tensor<3x1xf32>
// CHECK-NEXT:    %y = tile.mul %x, %0 : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %DX = tile.mul %DY, %0 : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
// CHECK-NOT:     tile.select
// CHECK:         func.return %DX
func.func @f(%x: tensor<3x4xf32> {tile.name = "X"}, %z: tensor<3x1xf32>) -> (tensor<3x4xf32> {tile.name = "Y"}) {
  %r = tile.sqrt %z : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %y = tile.div %x, %r : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// pow
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %y = tile.pow %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %0 = tile.constant 0 : tensor<index>
// CHECK-NEXT:    %1 = tile.cmp_eq %x, %0 : (tensor<4xf32>, tensor<index>) -> tensor<4xi1>
// CHECK-NEXT:    %2 = tile.constant 1 : tensor<index>
// CHECK-NEXT:    %3 = tile.select %1, %2, %x : (tensor<4xi1>, tensor<index>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %4 = tile.cmp_eq %z, %0 : (tensor<4xf32>, tensor<index>) -> tensor<4xi1>
// CHECK-NEXT:    %5 = tile.select %4, %3, %x : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %6 = tile.sub %z, %2 : (tensor<4xf32>, tensor<index>) -> tensor<4xf32>
// CHECK-NEXT:    %7 = tile.pow %5, %6 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %8 = tile.mul %z, %7 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %9 = tile.cmp_gt %x, %0 : (tensor<4xf32>, tensor<index>) -> tensor<4xi1>
// CHECK-NEXT:    %10 = tile.select %9, %x, %2 : (tensor<4xi1>, tensor<4xf32>, tensor<index>) -> tensor<4xf32>
// CHECK-NEXT:    %11 = tile.log %10 : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %12 = tile.mul %y, %11 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %DX = tile.mul %DY, %8 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %DZ = tile.mul %DY, %12 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX, %DZ : tensor<4xf32>, tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}, %z: tensor<4xf32> {tile.name = "Z"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.pow %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// max
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %0 = tile.cmp_eq %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT:    %1 = tile.constant 0.5 : tensor<!tile.real>
// CHECK-NEXT:    %2 = tile.mul %DY, %1 : (tensor<4xf32>, tensor<!tile.real>) -> tensor<4xf32>
// CHECK-NEXT:    %3 = tile.constant 0 : tensor<index>
// CHECK-NEXT:    %4 = tile.select %0, %2, %3 : (tensor<4xi1>, tensor<4xf32>, tensor<index>) -> tensor<4xf32>
// CHECK-NEXT:    %5 = tile.cmp_gt %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT:    %DX = tile.select %5, %DY, %4 : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %6 = tile.cmp_gt %z, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT:    %DZ = tile.select %6, %DY, %4 : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX, %DZ : tensor<4xf32>, tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}, %z: tensor<4xf32> {tile.name = "Z"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.max %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// min
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %0 = tile.cmp_eq %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT:    %1 = tile.constant 0.5 : tensor<!tile.real>
// CHECK-NEXT:    %2 = tile.mul %DY, %1 : (tensor<4xf32>, tensor<!tile.real>) -> tensor<4xf32>
// CHECK-NEXT:    %3 = tile.constant 0 : tensor<index>
// CHECK-NEXT:    %4 = tile.select %0, %2, %3 : (tensor<4xi1>, tensor<4xf32>, tensor<index>) -> tensor<4xf32>
// CHECK-NEXT:    %5 = tile.cmp_lt %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT:    %DX = tile.select %5, %DY, %4 : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %6 = tile.cmp_lt %z, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT:    %DZ = tile.select %6, %DY, %4 : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX, %DZ : tensor<4xf32>, tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}, %z: tensor<4xf32> {tile.name = "Z"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.min %x, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// Broadcast operands get sums.
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %0 = tile.neg %DY : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    %DX = tile.sum_to %DY, %x : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %DZ = tile.sum_to %0, %z : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
// CHECK-NEXT:    func.return %DX, %DZ : tensor<4xf32>, tensor<3x1xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}, %z: tensor<3x1xf32> {tile.name = "Z"}) -> (tensor<3x4xf32> {tile.name = "Y"}) {
  %y = tile.sub %x, %z : (tensor<4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// A choice: the cotangent goes the way the value came.
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %0 = tile.constant 0 : tensor<index>
// CHECK-NEXT:    %DX = tile.select %c, %DY, %0 : (tensor<4xi1>, tensor<4xf32>, tensor<index>) -> tensor<4xf32>
// CHECK-NEXT:    %DZ = tile.select %c, %0, %DY : (tensor<4xi1>, tensor<index>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX, %DZ : tensor<4xf32>, tensor<4xf32>
func.func @f(%c: tensor<4xi1> {tile.name = "C"}, %x: tensor<4xf32> {tile.name = "X"}, %z: tensor<4xf32> {tile.name = "Z"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.select %c, %x, %z : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// Casts between reals, and through integers.
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %i = tile.cast %x : (tensor<4xf32>) -> tensor<4xi32>
// CHECK-NEXT:    %Dw = tile.mul %DY, %i : (tensor<4xf64>, tensor<4xi32>) -> tensor<4xf64>
// CHECK-NEXT:    %DX = tile.cast %Dw : (tensor<4xf64>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX : tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}) -> (tensor<4xf64> {tile.name = "Y"}) {
  %w = tile.cast %x : (tensor<4xf32>) -> tensor<4xf64>
  %i = tile.cast %x : (tensor<4xf32>) -> tensor<4xi32>
  %y = tile.mul %w, %i : (tensor<4xf64>, tensor<4xi32>) -> tensor<4xf64>
  func.return %y : tensor<4xf64>
}

// -----

// Nothing flows through roundings, comparisons and positions.
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %0 = tile.constant 0 : tensor<index>
// CHECK-NEXT:    %DX = tile.select %0, %x, %0 : (tensor<index>, tensor<4xf32>, tensor<index>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX : tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %f = tile.floor %x : (tensor<4xf32>) -> tensor<4xf32>
  %c = tile.cmp_lt %x, %f : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %i = tile.index %x axis 0 : (tensor<4xf32>) -> tensor<4xi32>
  %a = tile.add %c, %i : (tensor<4xi1>, tensor<4xi32>) -> tensor<4xi32>
  %y = tile.add %f, %a : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// A value that is used twice gets a sum.
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %s = tile.sin %x : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %Dx = tile.mul %DY, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %Ds = tile.mul %DY, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %0 = tile.cos %x : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %1 = tile.mul %Ds, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %DX = tile.add %Dx, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX : tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %s = tile.sin %x : (tensor<4xf32>) -> tensor<4xf32>
  %y = tile.mul %x, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// A gather becomes a scatter, with the indices brought into range.
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %0 = tile.constant 8 : tensor<index>
// CHECK-NEXT:    %1 = tile.min %i, %0 : (tensor<4xi32>, tensor<index>) -> tensor<4xi32>
// CHECK-NEXT:    %2 = tile.constant 0 : tensor<index>
// CHECK-NEXT:    %3 = tile.max %1, %2 : (tensor<4xi32>, tensor<index>) -> tensor<4xi32>
// CHECK-NEXT:    %DX = tile.scatter %DY, %3, %x : (tensor<4x8xf32>, tensor<4xi32>, tensor<9x8xf32>) -> tensor<9x8xf32>
// CHECK-NEXT:    func.return %DX : tensor<9x8xf32>
func.func @f(%x: tensor<9x8xf32> {tile.name = "X"}, %i: tensor<4xi32> {tile.name = "I"}) -> (tensor<4x8xf32> {tile.name = "Y"}) {
  %y = tile.gather %x, %i : (tensor<9x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// -----

// A scatter becomes a selection of slices, 0 for indices outside.
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %0 = tile.index %DY axis 0 : (tensor<9x8xf32>) -> tensor<9x8xi32>
// CHECK-NEXT:    %DX = tile.contraction add(%0[v, 0] eq %i[i0] cond %DY[v, r0]) -> [i0, r0] : (tensor<9x8xi32>, tensor<4xi32>, tensor<9x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %1 = tile.constant 0 : tensor<index>
// CHECK-NEXT:    %DV = tile.select %1, %v, %1 : (tensor<index>, tensor<9xf32>, tensor<index>) -> tensor<9xf32>
// CHECK-NEXT:    func.return %DX, %DV : tensor<4x8xf32>, tensor<9xf32>
func.func @f(%x: tensor<4x8xf32> {tile.name = "X"}, %i: tensor<4xi32> {tile.name = "I"}, %v: tensor<9xf32> {tile.name = "V"}) -> (tensor<9x8xf32> {tile.name = "Y"}) {
  %y = tile.scatter %x, %i, %v : (tensor<4x8xf32>, tensor<4xi32>, tensor<9xf32>) -> tensor<9x8xf32>
  func.return %y : tensor<9x8xf32>
}

// -----

// A reshape is undone.
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %DX = tile.reshape %DY to [] : tensor<32xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %DX : tensor<4x8xf32>
func.func @f(%x: tensor<4x8xf32> {tile.name = "X"}) -> (tensor<32xf32> {tile.name = "Y"}) {
  %y = tile.reshape %x to [] : tensor<4x8xf32> -> tensor<32xf32>
  func.return %y : tensor<32xf32>
}

// -----

// What was summed is spread.
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %0 = tile.constant 1 : tensor<index>
// CHECK-NEXT:    %DX = tile.select %0, %DY, %x : (tensor<index>, tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %1 = tile.constant 0 : tensor<index>
// CHECK-NEXT:    %DZ = tile.select %1, %z, %1 : (tensor<index>, tensor<8xf32>, tensor<index>) -> tensor<8xf32>
// CHECK-NEXT:    func.return %DX, %DZ : tensor<4x8xf32>, tensor<8xf32>
func.func @f(%x: tensor<4x8xf32> {tile.name = "X"}, %z: tensor<8xf32> {tile.name = "Z"}) -> (tensor<8xf32> {tile.name = "Y"}) {
  %y = tile.sum_to %x, %z : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// -----

// Random numbers are constants.
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %r = tile.prng_value %s to [] : tensor<4xui32> -> tensor<4xf32>
// CHECK-NEXT:    %DX = tile.mul %DY, %r : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX : tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}, %s: tensor<4xui32> {tile.name = "S"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %r = tile.prng_value %s to [] : tensor<4xui32> -> tensor<4xf32>
  %y = tile.mul %x, %r : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// A scan of runs: the same runs from the other end.
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %DX = tile.scan add %DY axis 0 reverse runs %k : (tensor<8xf32>, tensor<8xi32>) -> tensor<8xf32>
// CHECK-NEXT:    func.return %DX : tensor<8xf32>
func.func @f(%x: tensor<8xf32> {tile.name = "X"}, %k: tensor<8xi32> {tile.name = "K"}) -> (tensor<8xf32> {tile.name = "Y"}) {
  %Y = tile.scan add %x axis 0 runs %k : (tensor<8xf32>, tensor<8xi32>) -> tensor<8xf32>
  func.return %Y : tensor<8xf32>
}

// -----

// expm1
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %y = tile.expm1 %x : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %0 = tile.constant 1 : tensor<index>
// CHECK-NEXT:    %1 = tile.add %y, %0 : (tensor<4xf32>, tensor<index>) -> tensor<4xf32>
// CHECK-NEXT:    %DX = tile.mul %DY, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX : tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.expm1 %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// log1p
// CHECK-LABEL: func.func @f_gradient(
// CHECK-NEXT:    %0 = tile.constant 1 : tensor<index>
// CHECK-NEXT:    %1 = tile.add %0, %x : (tensor<index>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    %DX = tile.div %DY, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:    func.return %DX : tensor<4xf32>
func.func @f(%x: tensor<4xf32> {tile.name = "X"}) -> (tensor<4xf32> {tile.name = "Y"}) {
  %y = tile.log1p %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
