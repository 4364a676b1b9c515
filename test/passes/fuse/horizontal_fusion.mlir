// RUN: tile-opt %s -p 'tile-bounds,tile-fuse{explain=true}' | filecheck %s
// RUN: tile-opt %s -p 'tile-bounds,tile-fuse{beside=false}' | filecheck %s --check-prefix=APART
// RUN: tile-opt %s -p 'tile-bounds,tile-fuse{apart=A}' | filecheck %s --check-prefix=APART

// Both read D: one kernel reads it once. What both compute it computes once.
// CHECK-LABEL: func.func @gradients
// CHECK-NEXT:    %A, %B = tile.kernel
// CHECK-SAME:      "A is in one kernel with B, over the same elements: {{.*}} moving 8 MB instead of 10 MB"
// CHECK-NEXT:      tile.exp
// CHECK-NEXT:      tile.mul
// CHECK-NEXT:      tile.neg
// CHECK-NEXT:      tile.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %A, %B
// APART-LABEL: func.func @gradients
// APART-COUNT-2: tile.kernel
func.func @gradients(%D: tensor<500000xf32>, %X: tensor<500000xf32>) -> (tensor<500000xf32>, tensor<500000xf32>) {
  %E = tile.exp %D : (tensor<500000xf32>) -> tensor<500000xf32>
  %A = tile.mul %E, %X : (tensor<500000xf32>, tensor<500000xf32>) -> tensor<500000xf32>
  %F = tile.exp %D : (tensor<500000xf32>) -> tensor<500000xf32>
  %B = tile.neg %F : (tensor<500000xf32>) -> tensor<500000xf32>
  func.return %A, %B : tensor<500000xf32>, tensor<500000xf32>
}

// A number, or a row, is not worth it; nor do kernels of other shapes share loops.
// CHECK-LABEL: func.func @strangers
// CHECK-COUNT-3: tile.kernel
func.func @strangers(%S: tensor<f32>, %X: tensor<50x70xf32>, %Y: tensor<50x70xf32>, %R: tensor<70xf32>)
    -> (tensor<50x70xf32>, tensor<50x70xf32>, tensor<70xf32>) {
  %T = tile.mul %S, %R : (tensor<f32>, tensor<70xf32>) -> tensor<70xf32>
  %A = tile.mul %X, %R : (tensor<50x70xf32>, tensor<70xf32>) -> tensor<50x70xf32>
  %B = tile.mul %Y, %R : (tensor<50x70xf32>, tensor<70xf32>) -> tensor<50x70xf32>
  func.return %A, %B, %T : tensor<50x70xf32>, tensor<50x70xf32>, tensor<70xf32>
}

// One that needs the other is not beside it, through what is between them either.
// CHECK-LABEL: func.func @chained
// CHECK:         tile.exp
// CHECK-NEXT:      tile.yield
// CHECK:         tile.contraction
// CHECK-NEXT:      tile.yield
// CHECK:         tile.add
func.func @chained(%X: tensor<250000xf32>) -> (tensor<250000xf32>, tensor<250000xf32>) {
  %A = tile.exp %X : (tensor<250000xf32>) -> tensor<250000xf32>
  %R = tile.reshape %A to [] : tensor<250000xf32> -> tensor<500x500xf32>
  %M = tile.contraction assign(%R[i, j]) -> [j, i] : (tensor<500x500xf32>) -> tensor<500x500xf32>
  %F = tile.reshape %M to [] : tensor<500x500xf32> -> tensor<250000xf32>
  %B = tile.add %F, %X : (tensor<250000xf32>, tensor<250000xf32>) -> tensor<250000xf32>
  func.return %A, %B : tensor<250000xf32>, tensor<250000xf32>
}

// Kernels of few elements take as long as a launch each: counters, which have no operand in common.
// CHECK-LABEL: func.func @counters
// CHECK-COUNT-1: tile.kernel
// CHECK-NOT:     tile.kernel
// CHECK:         func.return
func.func @counters(%A: tensor<i64>, %B: tensor<i64>, %C: tensor<i64>) -> (tensor<i64>, tensor<i64>, tensor<i64>) {
  %one = tile.constant 1 : tensor<i64>
  %X = tile.add %A, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %Y = tile.add %B, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %Z = tile.add %C, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
  func.return %X, %Y, %Z : tensor<i64>, tensor<i64>, tensor<i64>
}

// Few sums over tensors of one shape, which have nothing else in common; not those of another one's.
// CHECK-LABEL: func.func @offsets
// CHECK-NEXT:    %A, %B = tile.kernel {{.*}} -> (tensor<48xf32>, tensor<48xf32>) axes
// CHECK:         tile.kernel
// CHECK:           tile.contraction add({{.*}}) -> [i]
// CHECK-NOT:     tile.kernel
func.func @offsets(%X: tensor<60x48xf32>, %Y: tensor<60x48xf32>) -> (tensor<48xf32>, tensor<48xf32>, tensor<60xf32>) {
  %A = tile.contraction add(%X[i, j]) -> [j] : (tensor<60x48xf32>) -> tensor<48xf32>
  %B = tile.contraction add(%Y[i, j]) -> [j] : (tensor<60x48xf32>) -> tensor<48xf32>
  %Z = tile.reshape %X to [] : tensor<60x48xf32> -> tensor<48x60xf32>
  %C = tile.contraction add(%Z[j, i]) -> [i] : (tensor<48x60xf32>) -> tensor<60xf32>
  func.return %A, %B, %C : tensor<48xf32>, tensor<48xf32>, tensor<60xf32>
}
