// RUN: tile-opt %s -p 'tile-specialize{function=conv arguments="2x9x9x5xf32","2x2x5x7xf32"}' | filecheck %s
// RUN: tile-opt %s -p 'tile-specialize{function=halves arguments="7xi16"}' | filecheck %s --check-prefix=HALVES
// RUN: tile-opt %s -p 'tile-specialize{function=widths arguments="7xf64"}' | filecheck %s --check-prefix=WIDE
// RUN: tile-opt %s -p 'tile-specialize{function=widths arguments="50000xf32"}' | filecheck %s --check-prefix=LONG
// RUN: not tile-opt %s -p 'tile-specialize{function=conv arguments="2x9x9x5xf32","2x2x4x7xf32"}' 2>&1 | filecheck %s --check-prefix=MISMATCH
// RUN: not tile-opt %s -p 'tile-specialize{function=conv arguments="2x9x9x5xf32"}' 2>&1 | filecheck %s --check-prefix=COUNT
// RUN: not tile-opt %s -p 'tile-specialize{function=conv arguments="9x9x5xf32","2x2x5x7xf32"}' 2>&1 | filecheck %s --check-prefix=RANK
// RUN: not tile-opt %s -p 'tile-specialize{function=conv arguments="2x9x9x5xf32","2x2x5x7xf33"}' 2>&1 | filecheck %s --check-prefix=TYPE
// RUN: not tile-opt %s -p 'tile-specialize' 2>&1 | filecheck %s --check-prefix=WHICH
// RUN: not tile-opt %s -p 'tile-specialize{function=halves}' 2>&1 | filecheck %s --check-prefix=OPEN
// RUN: not tile-opt %s -p 'tile-specialize{function=nothing}' 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not tile-opt %s -p 'tile-specialize{function=shrink arguments="3xf32"}' 2>&1 | filecheck %s --check-prefix=NEGATIVE
// RUN: not tile-opt %s -p 'tile-specialize{function=divide arguments="0xf32"}' 2>&1 | filecheck %s --check-prefix=ZERO
// RUN: not tile-opt %s -p 'tile-specialize{function=sum arguments="3xf32","4xf32"}' 2>&1 | filecheck %s --check-prefix=BROADCAST
// RUN: not tile-opt %s -p 'tile-specialize{function=other arguments="3xf32"}' 2>&1 | filecheck %s --check-prefix=OTHER

func.func @conv(%I: tensor<?x?x?x?x!tile.any> {tile.name = "I", tile.dims = ["N", "H", "W", "CI"]}, %K: tensor<?x?x?x?x!tile.any> {tile.name = "K", tile.dims = ["KH", "KW", "CI", "CO"]}) -> (tensor<?x?x?x?x!tile.any> {tile.name = "O"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %N = tensor.dim %I, %c0 : tensor<?x?x?x?x!tile.any>
  %H = tensor.dim %I, %c1 : tensor<?x?x?x?x!tile.any>
  %W = tensor.dim %I, %c2 : tensor<?x?x?x?x!tile.any>
  %CO = tensor.dim %K, %c3 : tensor<?x?x?x?x!tile.any>
  %h = arith.divsi %H, %c3 : index
  %w = arith.divsi %W, %c3 : index
  %O = tile.contraction add(%I[n, 3*y + 2*j, 3*x + 2*i, ci] mul %K[j, i, ci, co]) -> [n : %N, y : %h, x : %w, co : %CO] : (tensor<?x?x?x?x!tile.any>, tensor<?x?x?x?x!tile.any>) -> tensor<?x?x?x?x!tile.any>
  func.return %O : tensor<?x?x?x?x!tile.any>
}

// Sizes, symbols in index expressions and constraints, and sizes as numbers become literal.
func.func @halves(%A: tensor<?x!tile.any> {tile.name = "A", tile.dims = ["N"]}) -> (tensor<?x!tile.any> {tile.name = "B"}) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %N = tensor.dim %A, %c0 : tensor<?x!tile.any>
  %M = arith.divsi %N, %c2 : index
  %S = tile.contraction add(%A[%N*i - %M*j + 1/2*k]) -> [i : %M] where 0 <= j < %M, 0 <= k < %N : (tensor<?x!tile.any>) -> tensor<?x!tile.any>
  %n = tile.size %N : tensor<index>
  %half = tile.constant 0.5 : tensor<!tile.real>
  %x = tile.mul %n, %half : (tensor<index>, tensor<!tile.real>) -> tensor<!tile.real>
  %B = tile.mul %S, %x : (tensor<?x!tile.any>, tensor<!tile.real>) -> tensor<?x!tile.any>
  func.return %B : tensor<?x!tile.any>
}

// What is left open takes the width that it meets; what is declared keeps its own.
func.func @widths(%A: tensor<?x!tile.any> {tile.name = "A"}) -> (tensor<?x!tile.any> {tile.name = "B"}, tensor<?x!tile.any> {tile.name = "C"}, tensor<?x!tile.any> {tile.name = "D"}) {
  %i = tile.index %A axis 0 : (tensor<?x!tile.any>) -> tensor<?xi32>
  %tenth = tile.constant 0.1 : tensor<!tile.real>
  %B = tile.mul %i, %tenth : (tensor<?xi32>, tensor<!tile.real>) -> tensor<?x!tile.any>
  %f = tile.mul %i, %tenth : (tensor<?xi32>, tensor<!tile.real>) -> tensor<?xf32>
  %C = tile.add %A, %f : (tensor<?x!tile.any>, tensor<?xf32>) -> tensor<?x!tile.any>
  %D = tile.mul %i, %i : (tensor<?xi32>, tensor<?xi32>) -> tensor<?x!tile.any>
  func.return %B, %C, %D : tensor<?x!tile.any>, tensor<?x!tile.any>, tensor<?x!tile.any>
}

func.func @shrink(%A: tensor<?x!tile.any>) -> tensor<?x!tile.any> {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %N = tensor.dim %A, %c0 : tensor<?x!tile.any>
  %M = arith.subi %N, %c5 : index
  %B = tile.contraction add(%A[i]) -> [i : %M] : (tensor<?x!tile.any>) -> tensor<?x!tile.any>
  func.return %B : tensor<?x!tile.any>
}

func.func @other(%A: tensor<?x!tile.any>) -> tensor<?x!tile.any> {
  %c0 = arith.constant 0 : index
  %N = tensor.dim %A, %c0 : tensor<?x!tile.any>
  %M = arith.shli %N, %N : index
  %B = tile.contraction add(%A[i]) -> [i : %M] : (tensor<?x!tile.any>) -> tensor<?x!tile.any>
  func.return %B : tensor<?x!tile.any>
}

func.func @divide(%A: tensor<?x!tile.any>) -> tensor<?x!tile.any> {
  %c0 = arith.constant 0 : index
  %N = tensor.dim %A, %c0 : tensor<?x!tile.any>
  %M = arith.divsi %N, %N : index
  %B = tile.contraction add(%A[i]) -> [i : %M] : (tensor<?x!tile.any>) -> tensor<?x!tile.any>
  func.return %B : tensor<?x!tile.any>
}

func.func @sum(%A: tensor<*x!tile.any>, %B: tensor<*x!tile.any>) -> tensor<*x!tile.any> {
  %C = tile.add %A, %B : (tensor<*x!tile.any>, tensor<*x!tile.any>) -> tensor<*x!tile.any>
  func.return %C : tensor<*x!tile.any>
}

// CHECK:      func.func @conv(%I: tensor<2x9x9x5xf32> {tile.name = "I", tile.dims = ["N", "H", "W", "CI"]}, %K: tensor<2x2x5x7xf32> {tile.name = "K", tile.dims = ["KH", "KW", "CI", "CO"]}) -> (tensor<2x3x3x7xf32> {tile.name = "O"}) {
// CHECK-NEXT:   %O = tile.contraction add(%I[n, 3*y + 2*j, 3*x + 2*i, ci] mul %K[j, i, ci, co]) -> [n, y, x, co] : (tensor<2x9x9x5xf32>, tensor<2x2x5x7xf32>) -> tensor<2x3x3x7xf32>
// CHECK-NEXT:   func.return %O : tensor<2x3x3x7xf32>

// HALVES:      func.func @halves(%A: tensor<7xi16> {tile.name = "A", tile.dims = ["N"]}) -> (tensor<3xf32> {tile.name = "B"}) {
// HALVES-NEXT:   %S = tile.contraction add(%A[7*i - 3*j + 1/2*k]) -> [i] where 0 <= j < 3, 0 <= k < 7 : (tensor<7xi16>) -> tensor<3xi16>
// HALVES-NEXT:   %n = tile.constant 7 : tensor<index>
// HALVES-NEXT:   %half = tile.constant 0.5 : tensor<!tile.real>
// HALVES-NEXT:   %x = tile.constant 3.5 : tensor<!tile.real>
// HALVES-NEXT:   %B = tile.mul %S, %x : (tensor<3xi16>, tensor<!tile.real>) -> tensor<3xf32>

// WIDE:      [[I:%\w+]] = tile.cast %i : (tensor<7xi32>) -> tensor<7xf64>
// WIDE-NEXT: %B = tile.mul [[I]], %tenth : (tensor<7xf64>, tensor<!tile.real>) -> tensor<7xf64>
// WIDE-NEXT: %f = tile.mul %i, %tenth : (tensor<7xi32>, tensor<!tile.real>) -> tensor<7xf32>
// WIDE-NEXT: %C = tile.add %A, %f : (tensor<7xf64>, tensor<7xf32>) -> tensor<7xf64>
// WIDE-NEXT: %D = tile.mul %i, %i : (tensor<7xi32>, tensor<7xi32>) -> tensor<7xi32>

// LONG:      %B = tile.mul %i, %tenth : (tensor<50000xi32>, tensor<!tile.real>) -> tensor<50000xf32>
// LONG:      %D = tile.mul {{.*}} : (tensor<50000xi64>, tensor<50000xi64>) -> tensor<50000xi64>

// MISMATCH: dimension CI is 5 in I (axis 3) but 4 in K (axis 2)
// COUNT: conv takes 2 inputs (I, K), but 1 was given; K is missing
// RANK: I has 4 dimensions in the header (N, H, W, CI), but the one given has 3 (9x9x5)
// TYPE: '2x2x5x7xf33' is not a type such as 2x9xf32
// WHICH: name one of the functions here: conv, halves, widths, shrink, other, divide, sum
// OPEN: give the type of A, which is declared as tensor<?x!tile.any>
// UNKNOWN: there is no function nothing here
// NEGATIVE: axis 0 of B gets the size -2, which is {{.+}}
// ZERO: a dimension is divided by 0 here
// BROADCAST: the shapes of A (3) and B (4) do not broadcast together
// OTHER: arith.shli does not compute a size
