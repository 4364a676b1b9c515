// RUN: tile-opt %s -p 'tile-bounds,tile-fuse{loads=false rows=false again=false}' | filecheck %s

// A contraction takes the elementwise ops on its elements along; constants go with their users.
// CHECK-LABEL: func.func @dense
// CHECK-NEXT:    %R = tile.kernel @{{\w+}}(%{{.*}} = %A : tensor<3x4xf32>, %{{.*}} = %B : tensor<4x5xf32>, %{{.*}} = %b : tensor<5xf32>) -> tensor<3x5xf32> {
// CHECK-NEXT:      %{{.*}} = tile.constant 2 : tensor<index>
// CHECK-NEXT:      tile.contraction
// CHECK-NEXT:      tile.mul
// CHECK-NEXT:      tile.add
// CHECK-NEXT:      tile.relu
// CHECK-NEXT:      tile.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %R : tensor<3x5xf32>
func.func @dense(%A: tensor<3x4xf32>, %B: tensor<4x5xf32>, %b: tensor<5xf32>) -> tensor<3x5xf32> {
  %two = tile.constant 2 : tensor<index>
  %C = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  %T = tile.mul %C, %two : (tensor<3x5xf32>, tensor<index>) -> tensor<3x5xf32>
  %S = tile.add %T, %b : (tensor<3x5xf32>, tensor<5xf32>) -> tensor<3x5xf32>
  %R = tile.relu %S : (tensor<3x5xf32>) -> tensor<3x5xf32>
  func.return %R : tensor<3x5xf32>
}

// Two chains that meet are one kernel; what is used outside comes out.
// CHECK-LABEL: func.func @diamond
// CHECK-NEXT:    %[[A:.*]], %[[C:.*]] = tile.kernel @{{\w+}}(%{{.*}} = %X : tensor<8xf32>, %{{.*}} = %Y : tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
// CHECK:         func.return %[[A]], %[[C]]
func.func @diamond(%X: tensor<8xf32>, %Y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %A = tile.exp %X : (tensor<8xf32>) -> tensor<8xf32>
  %B = tile.log %Y : (tensor<8xf32>) -> tensor<8xf32>
  %C = tile.add %A, %B : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %A, %C : tensor<8xf32>, tensor<8xf32>
}

// A value that is needed as a whole ends a kernel.
// CHECK-LABEL: func.func @normalize
// CHECK-NEXT:    %E = tile.kernel @{{\w+}}(%{{.*}} = %X : tensor<3x8xf32>) -> tensor<3x8xf32> {
// CHECK:         %S = tile.kernel @{{\w+}}(%{{.*}} = %E : tensor<3x8xf32>) -> tensor<3x1xf32> {
// CHECK:         %R = tile.kernel @{{\w+}}(%{{.*}} = %E : tensor<3x8xf32>, %{{.*}} = %S : tensor<3x1xf32>) -> tensor<3x8xf32> {
func.func @normalize(%X: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %E = tile.exp %X : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %S = tile.contraction add(%E[i, j]) -> [i, 0] : (tensor<3x8xf32>) -> tensor<3x1xf32>
  %R = tile.div %E, %S : (tensor<3x8xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
  func.return %R : tensor<3x8xf32>
}

// A contraction that cannot visit every element of its result lets nothing join, and writes over
// what a kernel has filled with its default.
// CHECK-LABEL: func.func @skip
// CHECK-NEXT:    %S_fill = tile.kernel @{{\w+}}() -> tensor<8xf32> {
// CHECK-NEXT:      %start = tile.constant 0
// CHECK-NEXT:      tile.contraction assign(%start[]) -> [i0] domain <i0 = 0 to 8>
// CHECK:         %S = tile.kernel @{{\w+}}(%X_1 = %X : tensor<4xf32>, %S_fill_1 = %S_fill : tensor<8xf32>)
// CHECK-NEXT:      tile.contraction add(%X_1[i]) -> [2*i] default %S_fill_1
// CHECK:         %R = tile.kernel
func.func @skip(%X: tensor<4xf32>) -> tensor<8xf32> {
  %S = tile.contraction add(%X[i]) -> [2*i] : (tensor<4xf32>) -> tensor<8xf32>
  %R = tile.exp %S : (tensor<8xf32>) -> tensor<8xf32>
  func.return %R : tensor<8xf32>
}

// A concatenation's second part writes beside the first one; where all of it is taken at once, and
// where the first one is needed as it is, it writes all.
// CHECK-LABEL: func.func @concatenated
// CHECK:         tile.contraction assign(%{{.*}}[i]) -> [i] domain <i = 0 to 8>
// CHECK:         tile.contraction assign(%{{.*}}[i]) -> [i + 4] default %{{.*}} domain <i = 0 to 4>
// CHECK:         tile.contraction assign(%{{.*}}[i]) -> [i + 4] default %{{.*}} domain <i = -4 to 4>
// CHECK:         tile.contraction assign(%{{.*}}[i]) -> [i + 4] default %{{.*}} domain <i = -4 to 4>
// CHECK-NEXT:    tile.neg
func.func @concatenated(%X: tensor<4xf32>, %Y: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %A = tile.contraction assign(%X[i]) -> [i] : (tensor<4xf32>) -> tensor<8xf32>
  %B = tile.contraction assign(%Y[i]) -> [i + 4] default %A : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  %C = tile.contraction assign(%X[i]) -> [i + 4] default %B : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  %D = tile.exp %Y : (tensor<4xf32>) -> tensor<4xf32>
  %E = tile.contraction assign(%D[i]) -> [i] : (tensor<4xf32>) -> tensor<8xf32>
  %F = tile.contraction assign(%X[i]) -> [i + 4] default %E : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  %N = tile.neg %F : (tensor<8xf32>) -> tensor<8xf32>
  func.return %B, %C, %N : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// Parts that are added write beside one another, too, in any order; not those that meet.
// CHECK-LABEL: func.func @added
// CHECK:         tile.contraction assign(%{{.*}}[i]) -> [i + 5] domain <i = -5 to 3>
// CHECK:         tile.contraction assign(%{{.*}}[i]) -> [i] default %{{.*}} domain <i = 0 to 5>
// CHECK-DAG:     tile.contraction assign(%{{.*}}[i]) -> [i + 4] domain <i = -4 to 4>
// CHECK-DAG:     tile.contraction assign(%{{.*}}[i]) -> [i] domain <i = 0 to 8>
// CHECK:         tile.add
func.func @added(%X: tensor<3xf32>, %Y: tensor<5xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %A = tile.contraction assign(%Y[i]) -> [i] domain <i = 0 to 5> : (tensor<5xf32>) -> tensor<8xf32>
  %B = tile.contraction assign(%X[i]) -> [i + 5] domain <i = 0 to 3> : (tensor<3xf32>) -> tensor<8xf32>
  %S = tile.add %B, %A : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %C = tile.contraction assign(%Y[i]) -> [i] domain <i = 0 to 5> : (tensor<5xf32>) -> tensor<8xf32>
  %D = tile.contraction assign(%X[i]) -> [i + 4] domain <i = 0 to 3> : (tensor<3xf32>) -> tensor<8xf32>
  %T = tile.add %C, %D : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %S, %T : tensor<8xf32>, tensor<8xf32>
}

// Sums of one element each are such parts, and so are those of other remainders.
// CHECK-LABEL: func.func @woven
// CHECK:         tile.contraction assign(%{{.*}}[i]) -> [2*i + 1] domain
// CHECK:         tile.contraction assign(%{{.*}}[i]) -> [2*i] default
// CHECK:         tile.contraction add(%{{.*}}[i]) -> [2*i + 2] default
// CHECK:         tile.add
func.func @woven(%X: tensor<4xf32>, %Y: tensor<4xf32>) -> (tensor<8xf32>, tensor<12xf32>) {
  %A = tile.contraction add(%Y[i]) -> [2*i + 1] domain <i = 0 to 4> : (tensor<4xf32>) -> tensor<8xf32>
  %B = tile.contraction add(%X[i]) -> [2*i] domain <i = 0 to 4> : (tensor<4xf32>) -> tensor<8xf32>
  %S = tile.add %A, %B : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %C = tile.contraction add(%Y[i]) -> [2*i] domain <i = 0 to 4> : (tensor<4xf32>) -> tensor<12xf32>
  %D = tile.contraction add(%X[i]) -> [2*i + 2] domain <i = 0 to 4> : (tensor<4xf32>) -> tensor<12xf32>
  %T = tile.add %C, %D : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  func.return %S, %T : tensor<8xf32>, tensor<12xf32>
}

// The domain of output variables grows to all of the output: unwritten elements are visited too.
// CHECK-LABEL: func.func @pad
// CHECK:         tile.contraction add(%{{.*}}[i - 2]) -> [i] domain <i = 0 to 8> :
// CHECK:         tile.contraction add(%{{.*}}[3 - i]) -> [5 - i] domain <i = -2 to 6> :
func.func @pad(%X: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %P = tile.contraction add(%X[i - 2]) -> [i] : (tensor<4xf32>) -> tensor<8xf32>
  %Q = tile.contraction add(%X[3 - i]) -> [5 - i] : (tensor<4xf32>) -> tensor<8xf32>
  func.return %P, %Q : tensor<8xf32>, tensor<8xf32>
}

// A reshape belongs to no kernel; a constant that is returned gets one.
// CHECK-LABEL: func.func @outside
// CHECK-NEXT:    %[[C:.*]] = tile.kernel @{{\w+}}() -> tensor<f32> {
// CHECK:         %S = tile.kernel
// CHECK:         %R = tile.reshape %S
// CHECK:         func.return %R, %[[C]]
func.func @outside(%X: tensor<4xf32>) -> (tensor<2x2xf32>, tensor<f32>) {
  %S = tile.neg %X : (tensor<4xf32>) -> tensor<4xf32>
  %R = tile.reshape %S to [] : tensor<4xf32> -> tensor<2x2xf32>
  %c = tile.constant 1.5 : tensor<f32>
  func.return %R, %c : tensor<2x2xf32>, tensor<f32>
}

// What a contraction reads at other places than its own must be in memory: %F stays a kernel by
// itself, although an op on the contraction's result takes it, too.
// CHECK-LABEL: func.func @read_elsewhere_too
// CHECK:         tile.kernel
// CHECK-NEXT:      tile.floor
// CHECK-NEXT:      tile.yield
// CHECK:         tile.kernel
// CHECK-NEXT:      tile.contraction
// CHECK-NEXT:      tile.mul
// CHECK-NEXT:      tile.yield
func.func @read_elsewhere_too(%A: tensor<5xf32>) -> tensor<5xf32> {
  %F = tile.floor %A : (tensor<5xf32>) -> tensor<5xf32>
  %S = tile.contraction add(%F[i + k]) -> [i] where 0 <= k < 2 : (tensor<5xf32>) -> tensor<5xf32>
  %P = tile.mul %F, %S : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  func.return %P : tensor<5xf32>
}

// What is written along a diagonal is chosen among what fills the result.
// CHECK-LABEL: func.func @diagonal
// CHECK-NEXT:    [[ROW:%.*]] = tile.reshape %X to [] : tensor<3x8xf32> -> tensor<3x8x1xf32>
// CHECK-NEXT:    %D = tile.kernel @{{\w+}}(%{{.*}} = [[ROW]] : tensor<3x8x1xf32>) -> tensor<3x8x8xf32> {
// CHECK:           tile.contraction assign(%start[]) -> [i0, i1, i2]
// CHECK:           tile.cmp_eq
// CHECK-NEXT:      tile.select
// CHECK-NEXT:      tile.exp
// CHECK-NEXT:      tile.yield
// CHECK:         func.return %D
func.func @diagonal(%X: tensor<3x8xf32>) -> tensor<3x8x8xf32> {
  %S = tile.contraction assign(%X[b, i]) -> [b, i, i] : (tensor<3x8xf32>) -> tensor<3x8x8xf32>
  %D = tile.exp %S : (tensor<3x8x8xf32>) -> tensor<3x8x8xf32>
  func.return %D : tensor<3x8x8xf32>
}

// A copy of a triangle chooses its elements; one of a band, less than half of them, reads no others.
// CHECK-LABEL: func.func @triangle
// CHECK-NEXT:    %T = tile.kernel
// CHECK:           [[I:%.*]] = tile.index %{{.*}} axis 1
// CHECK:           [[G:%.*]] = tile.cmp_ge
// CHECK:           tile.select [[G]], %{{.*}}, %start
// CHECK-NEXT:      tile.yield
// CHECK:           tile.contraction assign(%{{.*}}[i, j]) -> [i, j] where 0 <= j - i < 3
func.func @triangle(%X: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %T = tile.contraction assign(%X[i, j]) -> [i, j] where 0 <= j - i < 8 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %B = tile.contraction assign(%X[i, j]) -> [i, j] where 0 <= j - i < 3 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  func.return %T, %B : tensor<8x8xf32>, tensor<8x8xf32>
}
