// RUN: tile-opt %s -p 'tile-bounds,tile-fuse{rows=false explain=true}' | filecheck %s
// RUN: tile-opt %s -p 'tile-bounds,tile-fuse{rows=false again=false}' | filecheck %s --check-prefix=ONCE
// RUN: tile-opt %s -p 'tile-bounds,tile-fuse{explain=true}' | filecheck %s --check-prefix=ROWS
// RUN: tile-opt %s -p 'tile-bounds,tile-fuse{again=false}' | filecheck %s --check-prefix=WHOLE

// What both a sum and the result take is computed in both, and what the sum does not need is not.
// CHECK-LABEL: @normalized
// CHECK-NEXT:    %V = tile.kernel @{{\w+}}(
// CHECK-SAME:      "D is computed again where it is taken:
// CHECK:           tile.sub
// CHECK-NEXT:      tile.mul
// CHECK-NEXT:      tile.contraction add
// CHECK:         %Y = tile.kernel @{{\w+}}(
// CHECK-NEXT:      tile.sub
// CHECK-NEXT:      tile.div
// CHECK-NEXT:      tile.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
// ONCE-LABEL: @normalized
// ONCE:          %D, %Q = tile.kernel
func.func @normalized(%X: tensor<64x128x3136xf32>, %M: tensor<1x128x1xf32>) -> tensor<64x128x3136xf32> {
  %D = tile.sub %X, %M : (tensor<64x128x3136xf32>, tensor<1x128x1xf32>) -> tensor<64x128x3136xf32>
  %Q = tile.mul %D, %D : (tensor<64x128x3136xf32>, tensor<64x128x3136xf32>) -> tensor<64x128x3136xf32>
  %V = tile.contraction add(%Q[n, c, x]) -> [0, c, 0] : (tensor<64x128x3136xf32>) -> tensor<1x128x1xf32>
  %Y = tile.div %D, %V : (tensor<64x128x3136xf32>, tensor<1x128x1xf32>) -> tensor<64x128x3136xf32>
  func.return %Y : tensor<64x128x3136xf32>
}

// A product takes each element many times.
// CHECK-LABEL: @products
// CHECK:         %E = tile.kernel
// CHECK-SAME:      "E is not computed again where it is taken, which would take
func.func @products(%X: tensor<512x512xf32>, %W: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
  %E = tile.exp %X : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %C = tile.contraction add(%E[i, k] mul %W[k, j]) -> [i, j] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  %D = tile.contraction add(%E[k, i] mul %W[k, j]) -> [i, j] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  func.return %C, %D : tensor<512x512xf32>, tensor<512x512xf32>
}

// A result of the function is written anyway.
// CHECK-LABEL: @returned
// CHECK:         tile.kernel
// CHECK:         tile.kernel
// CHECK-NOT:     again
func.func @returned(%X: tensor<4096x512xf32>) -> (tensor<4096x512xf32>, tensor<512xf32>) {
  %E = tile.exp %X : (tensor<4096x512xf32>) -> tensor<4096x512xf32>
  %S = tile.contraction add(%E[i, j]) -> [j] : (tensor<4096x512xf32>) -> tensor<512xf32>
  func.return %E, %S : tensor<4096x512xf32>, tensor<512xf32>
}

// Elements that are read elsewhere are read from memory.
// CHECK-LABEL: @gathered
// CHECK:         %E = tile.kernel
// CHECK-NOT:     again
// CHECK:         tile.gather
func.func @gathered(%X: tensor<512x512xf32>, %I: tensor<512xi32>) -> (tensor<512x512xf32>, tensor<512xf32>) {
  %E = tile.neg %X : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %G = tile.gather %E, %I : (tensor<512x512xf32>, tensor<512xi32>) -> tensor<512x512xf32>
  %S = tile.contraction add(%E[i, j]) -> [j] : (tensor<512x512xf32>) -> tensor<512xf32>
  func.return %G, %S : tensor<512x512xf32>, tensor<512xf32>
}

// The default of a contraction stays in memory: elements on which nothing lands keep it.
// CHECK-LABEL: @default
// CHECK:         %E = tile.kernel
// CHECK:         %O = tile.kernel
func.func @default(%A: tensor<9xf32>, %D: tensor<9x9xi32>) -> tensor<9x9xf32> {
  %E = tile.cast %D : (tensor<9x9xi32>) -> tensor<9x9xf32>
  %O = tile.contraction add(%A[i]) -> [i, i] where 0 <= i < 7 default %E
      : (tensor<9xf32>, tensor<9x9xf32>) -> tensor<9x9xf32>
  func.return %O : tensor<9x9xf32>
}

// What a row kernel makes of whole rows for a sum of columns, the sum computes again of the rows'
// means. What the function returns is written anyway.
// ROWS-LABEL: @gain
// ROWS-NEXT:     %E, %M = tile.kernel @{{\w+}}(
// ROWS-SAME:       -> (tensor<4096x512xf32>, tensor<4096x1xf32>)
// ROWS-SAME:       axes
// ROWS:          %G = tile.kernel @{{\w+}}(%{{.*}} = %X : tensor<4096x512xf32>, %{{.*}} = %M : tensor<4096x1xf32>)
// ROWS-SAME:       "D is computed again where it is taken: {{.*}}, moving 25.2 MB instead of 33.6 MB
// ROWS-NEXT:       tile.sub
// ROWS-NEXT:       tile.contraction add
// WHOLE-LABEL: @gain
// WHOLE:         %D, %E = tile.kernel @{{\w+}}(
func.func @gain(%X: tensor<4096x512xf32>) -> (tensor<4096x512xf32>, tensor<512xf32>) {
  %n = tile.constant 5.12e+02 : tensor<f32>
  %S = tile.contraction add(%X[r, c]) -> [r, 0] : (tensor<4096x512xf32>) -> tensor<4096x1xf32>
  %M = tile.div %S, %n : (tensor<4096x1xf32>, tensor<f32>) -> tensor<4096x1xf32>
  %D = tile.sub %X, %M : (tensor<4096x512xf32>, tensor<4096x1xf32>) -> tensor<4096x512xf32>
  %E = tile.exp %D : (tensor<4096x512xf32>) -> tensor<4096x512xf32>
  %G = tile.contraction add(%D[r, c]) -> [c] : (tensor<4096x512xf32>) -> tensor<512xf32>
  func.return %E, %G : tensor<4096x512xf32>, tensor<512xf32>
}

// What has no name of its own is part of what the row kernel made.
// ROWS-LABEL: @unnamed
// ROWS-NEXT:     %E, %D_part = tile.kernel @{{\w+}}(
func.func @unnamed(%X: tensor<4096x512xf32>) -> (tensor<4096x512xf32>, tensor<512xf32>) {
  %0 = tile.contraction add(%X[r, c]) -> [r, 0] : (tensor<4096x512xf32>) -> tensor<4096x1xf32>
  %D = tile.sub %X, %0 : (tensor<4096x512xf32>, tensor<4096x1xf32>) -> tensor<4096x512xf32>
  %E = tile.exp %D : (tensor<4096x512xf32>) -> tensor<4096x512xf32>
  %G = tile.contraction add(%D[r, c]) -> [c] : (tensor<4096x512xf32>) -> tensor<512xf32>
  func.return %E, %G : tensor<4096x512xf32>, tensor<512xf32>
}

// ROWS-LABEL: @nameless
// ROWS-NEXT:     %0, %1 = tile.kernel @{{\w+}}(
func.func @nameless(%X: tensor<4096x512xf32>) -> (tensor<4096x512xf32>, tensor<512xf32>) {
  %0 = tile.contraction add(%X[r, c]) -> [r, 0] : (tensor<4096x512xf32>) -> tensor<4096x1xf32>
  %1 = tile.sub %X, %0 : (tensor<4096x512xf32>, tensor<4096x1xf32>) -> tensor<4096x512xf32>
  %2 = tile.exp %1 : (tensor<4096x512xf32>) -> tensor<4096x512xf32>
  %3 = tile.contraction add(%1[r, c]) -> [c] : (tensor<4096x512xf32>) -> tensor<512xf32>
  func.return %2, %3 : tensor<4096x512xf32>, tensor<512xf32>
}

// Exponentials of a product's operand would be computed for each of its columns.
// ROWS-LABEL: @softmax
// ROWS-NEXT:     %P = tile.kernel @{{\w+}}(
// ROWS-SAME:       "P is not computed again where it is taken, which would take
func.func @softmax(%X: tensor<512x512xf32>, %W: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %E = tile.exp %X : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %S = tile.contraction add(%E[r, c]) -> [r, 0] : (tensor<512x512xf32>) -> tensor<512x1xf32>
  %P = tile.div %E, %S : (tensor<512x512xf32>, tensor<512x1xf32>) -> tensor<512x512xf32>
  %O = tile.contraction add(%P[r, c] mul %W[c, k]) -> [r, k] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  func.return %O : tensor<512x512xf32>
}

// A number, or one for each row, is computed where a larger elementwise kernel takes it, out of the loop along rows; one for
// each column, which would be computed in every row, only if that takes less than a kernel.
// CHECK-LABEL: @repeated
// CHECK:         tile.kernel
// CHECK-SAME:      "E is not computed again where it is taken, which would take
// CHECK:         tile.kernel
// CHECK-SAME:      "M is computed again where it is taken:
// CHECK:         tile.kernel
// CHECK-SAME:      "R is computed again where it is taken:
// ONCE-LABEL: @repeated
// ONCE-COUNT-5:  tile.kernel
func.func @repeated(%X: tensor<32768x512xf32>, %W: tensor<32768x512xf32>, %S: tensor<f32>, %T: tensor<32768x1xf32>, %C: tensor<512xf32>)
    -> (tensor<32768x512xf32>, tensor<32768x512xf32>) {
  %M = tile.div %S, %S : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %Y = tile.mul %M, %W : (tensor<f32>, tensor<32768x512xf32>) -> tensor<32768x512xf32>
  %R = tile.sqrt %T : (tensor<32768x1xf32>) -> tensor<32768x1xf32>
  %E = tile.exp %C : (tensor<512xf32>) -> tensor<512xf32>
  %P = tile.mul %X, %R : (tensor<32768x512xf32>, tensor<32768x1xf32>) -> tensor<32768x512xf32>
  %Z = tile.mul %P, %E : (tensor<32768x512xf32>, tensor<512xf32>) -> tensor<32768x512xf32>
  func.return %Y, %Z : tensor<32768x512xf32>, tensor<32768x512xf32>
}
