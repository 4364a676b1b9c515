// RUN: tile-opt %s -p tile-bounds,tile-compose-copies | filecheck %s

// Slices, reshapes that split axes, transposition: one read.
// CHECK-LABEL: func.func @heads
// CHECK-NEXT:    %S = tile.contraction add(%X[q, 4*h + e] mul %X[k, 4*h + e + 8]) -> [h, q, k] where 0 <= e < 4 domain
// CHECK-NEXT:    func.return
func.func @heads(%X: tensor<6x16xf32>) -> tensor<2x6x6xf32> {
  %Q = tile.contraction assign(%X[i, j]) -> [i, j] : (tensor<6x16xf32>) -> tensor<6x8xf32>
  %K = tile.contraction assign(%X[i, j + 8]) -> [i, j] : (tensor<6x16xf32>) -> tensor<6x8xf32>
  %QH = tile.reshape %Q to [] : tensor<6x8xf32> -> tensor<6x2x4xf32>
  %KH = tile.reshape %K to [] : tensor<6x8xf32> -> tensor<6x2x4xf32>
  %KT = tile.contraction assign(%KH[i, j, k]) -> [j, i, k] : (tensor<6x2x4xf32>) -> tensor<2x6x4xf32>
  %S = tile.contraction add(%QH[q, h, e] mul %KT[h, k, e]) -> [h, q, k] : (tensor<6x2x4xf32>, tensor<2x6x4xf32>) -> tensor<2x6x6xf32>
  func.return %S : tensor<2x6x6xf32>
}

// Slices and transpositions whose axes a reshape divides anew: heads of a batch.
// CHECK-LABEL: func.func @batch
// CHECK-NEXT:    %S = tile.contraction add(%X[q, b, 3*h + e + 6]) -> [b, h, q] where 0 <= e < 3 domain
// CHECK-NEXT:    func.return
func.func @batch(%X: tensor<7x3x18xf32>) -> tensor<3x2x7xf32> {
  %K = tile.contraction assign(%X[i, j, k + 6]) -> [i, j, k] : (tensor<7x3x18xf32>) -> tensor<7x3x6xf32>
  %R = tile.reshape %K to [] : tensor<7x3x6xf32> -> tensor<7x6x3xf32>
  %T = tile.contraction assign(%R[i, j, k]) -> [j, i, k] : (tensor<7x6x3xf32>) -> tensor<6x7x3xf32>
  %H = tile.reshape %T to [] : tensor<6x7x3xf32> -> tensor<3x2x7x3xf32>
  %S = tile.contraction add(%H[b, h, q, e]) -> [b, h, q] : (tensor<3x2x7x3xf32>) -> tensor<3x2x7xf32>
  func.return %S : tensor<3x2x7xf32>
}

// Elements whose number has no digits that are affine are copied.
// CHECK-LABEL: func.func @divided
// CHECK:         tile.contraction assign(%X[
func.func @divided(%X: tensor<4x6xf32>) -> tensor<3xf32> {
  %T = tile.contraction assign(%X[j, i]) -> [i, j] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %R = tile.reshape %T to [] : tensor<6x4xf32> -> tensor<3x8xf32>
  %S = tile.contraction add(%R[i, j]) -> [i] : (tensor<3x8xf32>) -> tensor<3xf32>
  func.return %S : tensor<3xf32>
}

// An index that the copy alone bounded keeps its range.
// CHECK-LABEL: func.func @rows
// CHECK-NEXT:    %S = tile.contraction add(%A[i, j + 1]) -> [i] where 0 <= j < 3 domain <i = 0 to 4, j = 0 to 3>
func.func @rows(%A: tensor<4x8xf32>) -> tensor<4xf32> {
  %B = tile.contraction assign(%A[i, j + 1]) -> [i, j] : (tensor<4x8xf32>) -> tensor<4x3xf32>
  %S = tile.contraction add(%B[i, j]) -> [i] : (tensor<4x3xf32>) -> tensor<4xf32>
  func.return %S : tensor<4xf32>
}

// Repetitions, axes of one element and both operands of one reader.
// CHECK-LABEL: func.func @repeated
// CHECK-NEXT:    %S = tile.contraction add(%V[j] mul %V[j]) -> [i] domain
func.func @repeated(%V: tensor<5xf32>) -> tensor<4xf32> {
  %A = tile.contraction assign(%V[j]) -> [i, j] : (tensor<5xf32>) -> tensor<4x5xf32>
  %B = tile.reshape %A to [] : tensor<4x5xf32> -> tensor<1x4x1x5xf32>
  %S = tile.contraction add(%A[i, j] mul %B[0, i, 0, j]) -> [i] : (tensor<4x5xf32>, tensor<1x4x1x5xf32>) -> tensor<4xf32>
  func.return %S : tensor<4xf32>
}

// Sums over repetitions count them.
// CHECK-LABEL: func.func @counted
// CHECK-NEXT:    %S = tile.contraction add(%V[j]) -> [j] where 0 <= i < 4 domain <j = 0 to 5, i = 0 to 4>
func.func @counted(%V: tensor<5xf32>) -> tensor<5xf32> {
  %A = tile.contraction assign(%V[j]) -> [i, j] : (tensor<5xf32>) -> tensor<4x5xf32>
  %S = tile.contraction add(%A[i, j]) -> [j] : (tensor<4x5xf32>) -> tensor<5xf32>
  func.return %S : tensor<5xf32>
}

// A copy that something else takes is made, and read.
// CHECK-LABEL: func.func @taken
// CHECK:         tile.contraction add(%T[i, k] mul %B[k, j])
func.func @taken(%A: tensor<4x6xf32>, %B: tensor<4x3xf32>) -> (tensor<5x3xf32>, tensor<5x4xf32>) {
  %T = tile.contraction assign(%A[j, i]) -> [i, j] : (tensor<4x6xf32>) -> tensor<5x4xf32>
  %P = tile.contraction add(%T[i, k] mul %B[k, j]) -> [i, j] : (tensor<5x4xf32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  func.return %P, %T : tensor<5x3xf32>, tensor<5x4xf32>
}

// So is one that is read through a reshape that joins axes, or also outside of it.
// CHECK-LABEL: func.func @joined
// CHECK:         tile.contraction assign(%A[
func.func @joined(%A: tensor<4x7xf32>) -> tensor<2xf32> {
  %T = tile.contraction assign(%A[j, i]) -> [i, j] : (tensor<4x7xf32>) -> tensor<6x4xf32>
  %R = tile.reshape %T to [] : tensor<6x4xf32> -> tensor<2x12xf32>
  %S = tile.contraction add(%R[i, j] mul %R[i, j]) -> [i] : (tensor<2x12xf32>, tensor<2x12xf32>) -> tensor<2xf32>
  func.return %S : tensor<2xf32>
}
// CHECK-LABEL: func.func @window
// CHECK:         tile.contraction assign(%A[
func.func @window(%A: tensor<9xf32>) -> tensor<5xf32> {
  %B = tile.contraction assign(%A[i + 2]) -> [i] : (tensor<9xf32>) -> tensor<5xf32>
  %S = tile.contraction add(%B[i + k - 1]) -> [i] where 0 <= k < 3 : (tensor<5xf32>) -> tensor<5xf32>
  func.return %S : tensor<5xf32>
}

// Copies into parts of a tensor have zeros beside them.
// CHECK-LABEL: func.func @padded
// CHECK:         tile.contraction assign(%A[
func.func @padded(%A: tensor<3xf32>) -> tensor<1xf32> {
  %B = tile.contraction assign(%A[i]) -> [i + 1] : (tensor<3xf32>) -> tensor<5xf32>
  %S = tile.contraction max(%B[i]) -> [0] : (tensor<5xf32>) -> tensor<1xf32>
  func.return %S : tensor<1xf32>
}

// A transposed argument.
// CHECK-LABEL: func.func @transposed
// CHECK-NEXT:    %P = tile.contraction add(%A[i, k] mul %B[j, k]) -> [i, j]
func.func @transposed(%A: tensor<4x5xf32>, %B: tensor<3x5xf32>) -> tensor<4x3xf32> {
  %T = tile.contraction assign(%B[j, k]) -> [k, j] : (tensor<3x5xf32>) -> tensor<5x3xf32>
  %P = tile.contraction add(%A[i, k] mul %T[k, j]) -> [i, j] : (tensor<4x5xf32>, tensor<5x3xf32>) -> tensor<4x3xf32>
  func.return %P : tensor<4x3xf32>
}

// Kernels that are given keep their indices, which schedules name.
// CHECK-LABEL: func.func @given
// CHECK:         tile.contraction assign(%a[i + 2])
func.func @given(%A: tensor<9xf32>) -> tensor<4xf32> {
  %O = tile.kernel(%a = %A : tensor<9xf32>) -> tensor<4xf32> schedule <group.x 2*d0 : 2, local.x d0 : 2> {
    %c = tile.contraction assign(%a[i + 2]) -> [i] domain <i = 0 to 6> : (tensor<9xf32>) -> tensor<6xf32>
    %e = tile.contraction assign(%c[j + 1]) -> [j] domain <j = 0 to 4> : (tensor<6xf32>) -> tensor<4xf32>
    tile.yield %e : tensor<4xf32>
  }
  func.return %O : tensor<4xf32>
}

// Heads that share keys: the repetition is an index that the keys are not read at. The mask and the
// sum over rows follow.
// CHECK-LABEL: func.func @shared_heads
// CHECK:         %[[Q:.*]] = tile.reshape %Q to [] : tensor<6x3x4xf32> -> tensor<3x2x3x4xf32>
// CHECK-NEXT:    %[[S:.*]] = tile.contraction add(%[[Q]][h_0, h_1, i, e] mul %K[h_0, j, e]) -> [h_0, h_1, i, j]
// CHECK-NEXT:    %[[M:.*]] = tile.add %[[S]], %B : (tensor<3x2x3x5xf32>, tensor<3x5xf32>)
// CHECK-NEXT:    %[[T:.*]] = tile.contraction max(%[[M]][h_0, h_1, i, j]) -> [h_0, h_1, i, 0]
// CHECK-NEXT:    tile.reshape %[[T]] to [] : tensor<3x2x3x1xf32> -> tensor<6x3x1xf32>
func.func @shared_heads(%Q: tensor<6x3x4xf32>, %K: tensor<3x5x4xf32>, %B: tensor<3x5xf32>) -> tensor<6x3x1xf32> {
  %R = tile.contraction assign(%K[g, j, e]) -> [g, r, j, e] where 0 <= r < 2 : (tensor<3x5x4xf32>) -> tensor<3x2x5x4xf32>
  %H = tile.reshape %R to [] : tensor<3x2x5x4xf32> -> tensor<6x5x4xf32>
  %S = tile.contraction add(%Q[h, i, e] mul %H[h, j, e]) -> [h, i, j] : (tensor<6x3x4xf32>, tensor<6x5x4xf32>) -> tensor<6x3x5xf32>
  %M = tile.add %S, %B : (tensor<6x3x5xf32>, tensor<3x5xf32>) -> tensor<6x3x5xf32>
  %T = tile.contraction max(%M[h, i, j]) -> [h, i, 0] : (tensor<6x3x5xf32>) -> tensor<6x3x1xf32>
  func.return %T : tensor<6x3x1xf32>
}

// Heads that a reshape merges with the batch: an index for each.
// CHECK-LABEL: func.func @merged_heads
// CHECK-NEXT:    %[[S:.*]] = tile.contraction add(%X[b_0, i, 4*b_1 + e] mul %X[b_0, j, 4*b_1 + e + 8]) -> [b_0, b_1, i, j]
// CHECK-NEXT:    %[[R:.*]] = tile.reshape %[[S]] to [] : tensor<3x2x5x5xf32> -> tensor<6x5x5xf32>
// CHECK-NEXT:    func.return %[[R]]
func.func @merged_heads(%X: tensor<3x5x16xf32>) -> tensor<6x5x5xf32> {
  %Q = tile.contraction assign(%X[b, i, 4*h + e]) -> [b, h, i, e] where 0 <= h < 2, 0 <= e < 4 : (tensor<3x5x16xf32>) -> tensor<3x2x5x4xf32>
  %K = tile.contraction assign(%X[b, i, 4*h + e + 8]) -> [b, h, i, e] where 0 <= h < 2, 0 <= e < 4 : (tensor<3x5x16xf32>) -> tensor<3x2x5x4xf32>
  %A = tile.reshape %Q to [] : tensor<3x2x5x4xf32> -> tensor<6x5x4xf32>
  %B = tile.reshape %K to [] : tensor<3x2x5x4xf32> -> tensor<6x5x4xf32>
  %S = tile.contraction add(%A[b, i, e] mul %B[b, j, e]) -> [b, i, j] : (tensor<6x5x4xf32>, tensor<6x5x4xf32>) -> tensor<6x5x5xf32>
  func.return %S : tensor<6x5x5xf32>
}
