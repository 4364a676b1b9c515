// RUN: tile-opt %s --split-input-file -p tile-factor-sums | filecheck %s

// What is the same in all of a row leaves the sum, which need not wait for it then.
// CHECK-LABEL: func.func @factors(
// CHECK:      %S = tile.contraction add(%X[r, c]) -> [r, 0] : (tensor<4x8xf32>) -> tensor<4x1xf32>
// CHECK-NEXT: [[T:%[0-9]+]] = tile.contraction add(%Y[r, c]) -> [r, 0] : (tensor<4x8xf32>) -> tensor<4x1xf32>
// CHECK-NEXT: [[Q:%[0-9]+]] = tile.div [[T]], %S
// CHECK-NEXT: %T = tile.neg [[Q]]
// CHECK-NEXT: func.return %T
func.func @factors(%X: tensor<4x8xf32>, %Y: tensor<4x8xf32>) -> tensor<4x1xf32> {
  %S = tile.contraction add(%X[r, c]) -> [r, 0] : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %Q = tile.div %Y, %S : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %N = tile.neg %Q : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %T = tile.contraction add(%N[r, c]) -> [r, 0] : (tensor<4x8xf32>) -> tensor<4x1xf32>
  func.return %T : tensor<4x1xf32>
}

// -----

// Of a sum of terms each is summed; what is broadcast by a contraction is a factor, too, and a sum
// that is there already serves again.
// CHECK-LABEL: func.func @terms(
// CHECK:      %S = tile.contraction add(%X[r, c]) -> [r, 0]
// CHECK-NEXT: [[A:%[0-9]+]] = tile.mul %S, %S
// CHECK-NEXT: [[Y:%[0-9]+]] = tile.contraction add(%Y[r, c]) -> [r, 0]
// CHECK-NEXT: %T = tile.sub [[A]], [[Y]]
// CHECK-NOT:  tile.contraction
func.func @terms(%X: tensor<4x8xf64>, %Y: tensor<4x8xf64>) -> tensor<4x1xf64> {
  %S = tile.contraction add(%X[r, c]) -> [r, 0] : (tensor<4x8xf64>) -> tensor<4x1xf64>
  %B = tile.contraction add(%S[r, 0]) -> [r, c] : (tensor<4x1xf64>) -> tensor<4x8xf64>
  %P = tile.mul %X, %B : (tensor<4x8xf64>, tensor<4x8xf64>) -> tensor<4x8xf64>
  %D = tile.sub %P, %Y : (tensor<4x8xf64>, tensor<4x8xf64>) -> tensor<4x8xf64>
  %T = tile.contraction add(%D[r, c]) -> [r, 0] : (tensor<4x8xf64>) -> tensor<4x1xf64>
  func.return %T : tensor<4x1xf64>
}

// -----

// A product has the factors of both sides.
// CHECK-LABEL: func.func @product(
// CHECK:      [[P:%[0-9]+]] = tile.mul %Y, %X
// CHECK-NEXT: [[T:%[0-9]+]] = tile.contraction add([[P]][r, c]) -> [r, 0]
// CHECK-NEXT: [[Q:%[0-9]+]] = tile.div [[T]], %S
// CHECK-NEXT: %T = tile.div [[Q]], %S
func.func @product(%X: tensor<4x8xf32>, %Y: tensor<4x8xf32>) -> tensor<4x1xf32> {
  %S = tile.contraction add(%X[r, c]) -> [r, 0] : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %A = tile.div %Y, %S : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %B = tile.div %X, %S : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %P = tile.mul %A, %B : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %T = tile.contraction add(%P[r, c]) -> [r, 0] : (tensor<4x8xf32>) -> tensor<4x1xf32>
  func.return %T : tensor<4x1xf32>
}

// -----

// What is divided by its greatest element stays near 1, and so does what is squared once it is divided.
// CHECK-LABEL: func.func @scaled(
// CHECK:      %U = tile.contraction add(%E[r, c]) -> [r, 0]
// CHECK:      %V = tile.contraction add(%G[r, c]) -> [r, 0]
// CHECK:      %W = tile.contraction add(%I[r, c]) -> [r, 0]
func.func @scaled(%X: tensor<4x8xf32>, %Y: tensor<4x8xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>) {
  %A = tile.abs %X : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %M = tile.contraction max(%A[r, c]) -> [r, 0] : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %N = tile.neg %M : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %D = tile.div %X, %N : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %E = tile.mul %D, %Y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %U = tile.contraction add(%E[r, c]) -> [r, 0] : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %S = tile.contraction add(%A[r, c]) -> [r, 0] : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %F = tile.div %X, %S : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %G = tile.mul %F, %F : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %V = tile.contraction add(%G[r, c]) -> [r, 0] : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %H = tile.mul %F, %Y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %I = tile.mul %H, %X : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %W = tile.contraction add(%I[r, c]) -> [r, 0] : (tensor<4x8xf32>) -> tensor<4x1xf32>
  func.return %U, %V, %W : tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>
}

// -----

// A mean that is subtracted stays in the sum, which is nearly 0 and would lose its precision.
// CHECK-LABEL: func.func @centred(
// CHECK:      %D = tile.sub %X, %S
// CHECK-NEXT: %T = tile.contraction add(%D[r, c]) -> [r, 0]
func.func @centred(%X: tensor<4x8xf32>) -> tensor<4x1xf32> {
  %S = tile.contraction add(%X[r, c]) -> [r, 0] : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %D = tile.sub %X, %S : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %T = tile.contraction add(%D[r, c]) -> [r, 0] : (tensor<4x8xf32>) -> tensor<4x1xf32>
  func.return %T : tensor<4x1xf32>
}

// -----

// Integers are divided with remainders; sums of f16 may be too large for it before they are divided;
// and a factor that waits for nothing spares nothing.
// CHECK-LABEL: func.func @kept(
// CHECK:      %I = tile.contraction add(%P[r, c]) -> [r, 0]
// CHECK:      %H = tile.contraction add(%R[r, c]) -> [r, 0]
// CHECK:      %F = tile.contraction add(%M[r, c]) -> [r, 0]
func.func @kept(%X: tensor<4x8xi32>, %Y: tensor<4x8xf16>, %Z: tensor<4x8xf32>, %W: tensor<4x1xf32>) -> (tensor<4x1xi32>, tensor<4x1xf16>, tensor<4x1xf32>) {
  %S = tile.contraction add(%X[r, c]) -> [r, 0] : (tensor<4x8xi32>) -> tensor<4x1xi32>
  %P = tile.div %X, %S : (tensor<4x8xi32>, tensor<4x1xi32>) -> tensor<4x8xi32>
  %I = tile.contraction add(%P[r, c]) -> [r, 0] : (tensor<4x8xi32>) -> tensor<4x1xi32>
  %Q = tile.contraction add(%Y[r, c]) -> [r, 0] : (tensor<4x8xf16>) -> tensor<4x1xf16>
  %R = tile.div %Y, %Q : (tensor<4x8xf16>, tensor<4x1xf16>) -> tensor<4x8xf16>
  %H = tile.contraction add(%R[r, c]) -> [r, 0] : (tensor<4x8xf16>) -> tensor<4x1xf16>
  %M = tile.mul %Z, %W : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %F = tile.contraction add(%M[r, c]) -> [r, 0] : (tensor<4x8xf32>) -> tensor<4x1xf32>
  func.return %I, %H, %F : tensor<4x1xi32>, tensor<4x1xf16>, tensor<4x1xf32>
}

// -----

// A product of several, each of which differs along the row, is made once its factor is outside.
// CHECK-LABEL: func.func @of_three(
// CHECK-NEXT: %S = tile.contraction add(%X[r, c]) -> [r, 0]
// CHECK-NEXT: %[[XY:.*]] = tile.mul %X, %Y
// CHECK-NEXT: %[[XYZ:.*]] = tile.mul %[[XY]], %Z
// CHECK-NEXT: %[[SUM:.*]] = tile.contraction add(%[[XYZ]][{{.*}}]) -> [{{.*}}, 0]
// CHECK-NEXT: %T = tile.div %[[SUM]], %S
// CHECK-NEXT: func.return %T
func.func @of_three(%X: tensor<4x8xf32>, %Y: tensor<4x8xf32>, %Z: tensor<4x8xf32>) -> tensor<4x1xf32> {
  %S = tile.contraction add(%X[r, c]) -> [r, 0] : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %P = tile.div %X, %S : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %Q = tile.mul %P, %Y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %R = tile.mul %Q, %Z : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %T = tile.contraction add(%R[r, c]) -> [r, 0] : (tensor<4x8xf32>) -> tensor<4x1xf32>
  func.return %T : tensor<4x1xf32>
}

// -----

// The gradients of a batch normalization: sums that have no axes where they sum, products that are contractions,
// and what waits for nothing but has a factor in common. A product, and a sum of it, is there once.
// CHECK-LABEL: func.func @gradients(
// CHECK-NEXT: %V = tile.contraction add(%X[r, c]) -> [0, c]
// CHECK-NEXT: %[[Y:.*]] = tile.contraction add(%Y[r, c]) -> [0, c] : (tensor<4x8xf32>) -> tensor<1x8xf32>
// CHECK-NEXT: %B = tile.reshape %[[Y]] to [] : tensor<1x8xf32> -> tensor<8xf32>
// CHECK-NEXT: %[[XY:.*]] = tile.mul %Y, %X
// CHECK-NEXT: %[[S:.*]] = tile.contraction add(%[[XY]][r, c]) -> [0, c]
// CHECK-NEXT: %[[D:.*]] = tile.div %[[S]], %V
// CHECK-NEXT: %G = tile.reshape %[[D]] to [] : tensor<1x8xf32> -> tensor<8xf32>
// CHECK-NEXT: %[[SW:.*]] = tile.mul %[[S]], %W
// CHECK-NEXT: %A = tile.div %[[SW]], %V
// CHECK-NEXT: %[[YW:.*]] = tile.mul %[[Y]], %W
// CHECK-NEXT: %[[YWV:.*]] = tile.mul %[[YW]], %V
// CHECK-NEXT: %[[XV:.*]] = tile.mul %V, %V
// CHECK-NEXT: %C = tile.sub %[[YWV]], %[[XV]]
// CHECK-NEXT: func.return %B, %G, %A, %C
func.func @gradients(%X: tensor<4x8xf32>, %Y: tensor<4x8xf32>, %W: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<1x8xf32>, tensor<1x8xf32>) {
  %V = tile.contraction add(%X[r, c]) -> [0, c] : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %B = tile.contraction add(%Y[r, c]) -> [c] : (tensor<4x8xf32>) -> tensor<8xf32>
  %Z = tile.div %X, %V : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %P = tile.mul %Y, %Z : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %G = tile.contraction add(%P[r, c]) -> [c] : (tensor<4x8xf32>) -> tensor<8xf32>
  %Q = tile.mul %Y, %W : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %R = tile.mul %Q, %Z : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %A = tile.contraction add(%R[r, c]) -> [0, c] : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %T = tile.contraction add(%Q[r, c] mul %V[0, c]) -> [r, c] : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %U = tile.contraction add(%V[0, c] mul %X[r, c]) -> [r, c] : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %D = tile.sub %T, %U : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %C = tile.contraction add(%D[r, c]) -> [0, c] : (tensor<4x8xf32>) -> tensor<1x8xf32>
  func.return %B, %G, %A, %C : tensor<8xf32>, tensor<8xf32>, tensor<1x8xf32>, tensor<1x8xf32>
}

// -----

// Of K / T + X / T the sum of K is taken apart, too. It needs that of X, which stands before it.
// CHECK-LABEL: @in_order
// CHECK: %[[X:.*]] = tile.contraction add(%X[n, m]) -> [n, 0]
// CHECK-NEXT: %[[K:.*]] = tile.div %[[X]], %P
// CHECK-NEXT: %[[KY:.*]] = tile.add %[[K]], %P
// CHECK-NEXT: %[[FIRST:.*]] = tile.div %[[KY]], %T
// CHECK-NEXT: %[[SECOND:.*]] = tile.div %[[X]], %T
// CHECK-NEXT: %S = tile.add %[[FIRST]], %[[SECOND]]
// CHECK-NEXT: return %S
func.func @in_order(%X: tensor<5x7xf32>, %Y: tensor<5x7xf32>) -> tensor<5x1xf32> {
  %P = tile.contraction add(%Y[n, m]) -> [n, 0] : (tensor<5x7xf32>) -> tensor<5x1xf32>
  %0 = tile.div %X, %P : (tensor<5x7xf32>, tensor<5x1xf32>) -> tensor<5x7xf32>
  %K = tile.add %0, %Y : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %T = tile.contraction add(%K[n, m] mul %K[n, m]) -> [n, 0] : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x1xf32>
  %1 = tile.div %K, %T : (tensor<5x7xf32>, tensor<5x1xf32>) -> tensor<5x7xf32>
  %2 = tile.div %X, %T : (tensor<5x7xf32>, tensor<5x1xf32>) -> tensor<5x7xf32>
  %V = tile.add %1, %2 : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %S = tile.contraction add(%V[n, m]) -> [n, 0] : (tensor<5x7xf32>) -> tensor<5x1xf32>
  func.return %S : tensor<5x1xf32>
}

// A sum without axes where it sums, which is a factor, is there with them afterwards.
// CHECK-LABEL: func.func @times_own_sum(
// CHECK: %[[SUM:.*]] = tile.contraction add(%A[i, j]) -> [0, j]
// CHECK: %[[SHORT:.*]] = tile.reshape %[[SUM]]
// CHECK: tile.mul %[[SUM]], %[[SHORT]]
// CHECK-NOT: tile.contraction
func.func @times_own_sum(%A: tensor<17x8xf32>) -> tensor<8xf32> {
  %S = tile.contraction add(%A[i, j]) -> [j] domain <j = 0 to 8, i = 0 to 17>
    : (tensor<17x8xf32>) -> tensor<8xf32>
  %T = tile.mul %A, %S : (tensor<17x8xf32>, tensor<8xf32>) -> tensor<17x8xf32>
  %O = tile.contraction add(%T[i, j]) -> [j] domain <j = 0 to 8, i = 0 to 17>
    : (tensor<17x8xf32>) -> tensor<8xf32>
  func.return %O : tensor<8xf32>
}

// -----

// Deviations from a row's own mean sum to 0, or to NaN if it is not finite: the mean may have been
// given another shape.
// CHECK-LABEL: func.func @deviations(
// CHECK:      %D = tile.sub %X, %M
// CHECK:      [[Z:%[0-9]+]] = tile.sub %M, %M : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
// CHECK-NEXT: [[ZV:%[0-9]+]] = tile.mul [[Z]], %V
// CHECK-NEXT: [[Y:%[0-9]+]] = tile.contraction add(%Y[r, c]) -> [r, 0]
// CHECK-NEXT: %T = tile.add [[ZV]], [[Y]]
// CHECK-NEXT: func.return %V, %T
func.func @deviations(%X: tensor<4x8xf32>, %Y: tensor<4x8xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>) {
  %A = tile.contraction add(%X[r, c]) -> [r] : (tensor<4x8xf32>) -> tensor<4xf32>
  %8 = tile.constant 8 : tensor<index>
  %Q = tile.div %A, %8 : (tensor<4xf32>, tensor<index>) -> tensor<4xf32>
  %M = tile.reshape %Q to [] : tensor<4xf32> -> tensor<4x1xf32>
  %D = tile.sub %X, %M : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %V = tile.contraction add(%D[r, c] mul %D[r, c]) -> [r, 0] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x1xf32>
  %P = tile.mul %D, %V : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %S = tile.add %P, %Y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %T = tile.contraction add(%S[r, c]) -> [r, 0] : (tensor<4x8xf32>) -> tensor<4x1xf32>
  func.return %V, %T : tensor<4x1xf32>, tensor<4x1xf32>
}

// -----

// Not so those from another number, from the mean of other elements, or of the columns.
// CHECK-LABEL: func.func @no_deviations(
// CHECK-NOT:  tile.sub %M, %M
// CHECK-NOT:  tile.sub %N, %N
// CHECK-NOT:  tile.sub %L, %L
// CHECK:      func.return
func.func @no_deviations(%X: tensor<8x8xf32>, %Y: tensor<8x8xf32>) -> (tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x1xf32>) {
  %A = tile.contraction add(%X[r, c]) -> [r, 0] : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %B = tile.contraction add(%Y[r, c]) -> [r, 0] : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %C = tile.contraction add(%X[r, c]) -> [c] : (tensor<8x8xf32>) -> tensor<8xf32>
  %7 = tile.constant 7 : tensor<index>
  %8 = tile.constant 8 : tensor<index>
  %M = tile.div %A, %7 : (tensor<8x1xf32>, tensor<index>) -> tensor<8x1xf32>
  %N = tile.div %B, %8 : (tensor<8x1xf32>, tensor<index>) -> tensor<8x1xf32>
  %K = tile.div %C, %8 : (tensor<8xf32>, tensor<index>) -> tensor<8xf32>
  %L = tile.reshape %K to [] : tensor<8xf32> -> tensor<8x1xf32>
  %D = tile.sub %X, %M : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %E = tile.sub %X, %N : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %F = tile.sub %X, %L : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %V = tile.contraction add(%D[r, c] mul %E[r, c]) -> [r, 0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x1xf32>
  %P = tile.mul %D, %V : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %Q = tile.mul %E, %V : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %R = tile.mul %F, %V : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %S = tile.contraction add(%P[r, c]) -> [r, 0] : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %T = tile.contraction add(%Q[r, c]) -> [r, 0] : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %U = tile.contraction add(%R[r, c]) -> [r, 0] : (tensor<8x8xf32>) -> tensor<8x1xf32>
  func.return %S, %T, %U : tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x1xf32>
}
