// RUN: tile-opt %s -p tile-bounds,tile-choose-layouts | filecheck %s

// A normalization of channels: the convolution before it writes them last, where they are first.
// CHECK-LABEL: func.func @channels_last
// CHECK:         %C = tile.contraction add(%X[n, c, y + j] mul %K[c, j]) -> [n, y, c]
// CHECK-NEXT:    %B_1 = tile.reshape %B to [] : tensor<3x1xf32> -> tensor<1x1x3xf32>
// CHECK-NEXT:    %D = tile.add %C, %B_1 : (tensor<2x5x3xf32>, tensor<1x1x3xf32>) -> tensor<2x5x3xf32>
// CHECK-NEXT:    %M = tile.contraction max(%D[n, y, c]) -> [n, y, 0]
// CHECK-NEXT:    %S = tile.sub %D, %M
// CHECK-NEXT:    tile.contraction add(%S[n, y, c] mul %W[c, d]) -> [n, y, d]
func.func @channels_last(%X: tensor<2x3x6xf32>, %K: tensor<3x2xf32>, %B: tensor<3x1xf32>, %W: tensor<3x4xf32>) -> tensor<2x5x4xf32> {
  %C = tile.contraction add(%X[n, c, y + j] mul %K[c, j]) -> [n, c, y] : (tensor<2x3x6xf32>, tensor<3x2xf32>) -> tensor<2x3x5xf32>
  %D = tile.add %C, %B : (tensor<2x3x5xf32>, tensor<3x1xf32>) -> tensor<2x3x5xf32>
  %T = tile.contraction assign(%D[n, c, y]) -> [n, y, c] : (tensor<2x3x5xf32>) -> tensor<2x5x3xf32>
  %M = tile.contraction max(%T[n, y, c]) -> [n, y, 0] : (tensor<2x5x3xf32>) -> tensor<2x5x1xf32>
  %S = tile.sub %T, %M : (tensor<2x5x3xf32>, tensor<2x5x1xf32>) -> tensor<2x5x3xf32>
  %P = tile.contraction add(%S[n, y, c] mul %W[c, d]) -> [n, y, d] : (tensor<2x5x3xf32>, tensor<3x4xf32>) -> tensor<2x5x4xf32>
  func.return %P : tensor<2x5x4xf32>
}

// A residual: both of its copies go, as the products are computed in the order of the sum.
// CHECK-LABEL: func.func @residual
// CHECK-NEXT:    %P = tile.contraction add(%A[i, k] mul %B[k, j]) -> [j, i] domain
// CHECK-NEXT:    %Q = tile.contraction add(%P[k, i] mul %B[k, j]) -> [j, i]
// CHECK-NEXT:    %R = tile.add %P, %Q : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
// CHECK-NEXT:    %S = tile.contraction add(%R[i, j]) -> [i]
// CHECK-NEXT:    func.return
func.func @residual(%A: tensor<5x4xf32>, %B: tensor<4x4xf32>) -> tensor<4xf32> {
  %P = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] : (tensor<5x4xf32>, tensor<4x4xf32>) -> tensor<5x4xf32>
  %PT = tile.contraction assign(%P[i, j]) -> [j, i] : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %Q = tile.contraction add(%PT[k, i] mul %B[k, j]) -> [i, j] : (tensor<4x5xf32>, tensor<4x4xf32>) -> tensor<5x4xf32>
  %QT = tile.contraction assign(%Q[i, j]) -> [j, i] : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %R = tile.add %PT, %QT : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  %S = tile.contraction add(%R[i, j]) -> [i] : (tensor<4x5xf32>) -> tensor<4xf32>
  func.return %S : tensor<4xf32>
}

// Arguments and results keep their order, and values that are reshaped.
// CHECK-LABEL: func.func @fixed
// CHECK:         tile.contraction assign(%E[i, j]) -> [j, i]
// CHECK:         tile.contraction assign(%G[i, j]) -> [j, i]
// CHECK:         tile.contraction assign(%A[i, j]) -> [j, i]
func.func @fixed(%A: tensor<5x4xf32>) -> (tensor<5x4xf32>, tensor<4x5xf32>, tensor<20xf32>, tensor<4x5xf32>) {
  %E = tile.exp %A : (tensor<5x4xf32>) -> tensor<5x4xf32>
  %F = tile.contraction assign(%E[i, j]) -> [j, i] : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %G = tile.exp %F : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %H = tile.contraction assign(%G[i, j]) -> [j, i] : (tensor<4x5xf32>) -> tensor<5x4xf32>
  %I = tile.reshape %H to [] : tensor<5x4xf32> -> tensor<20xf32>
  %J = tile.contraction assign(%A[i, j]) -> [j, i] : (tensor<5x4xf32>) -> tensor<4x5xf32>
  func.return %E, %G, %I, %J : tensor<5x4xf32>, tensor<4x5xf32>, tensor<20xf32>, tensor<4x5xf32>
}

// A copy that moves only axes of size 1 is a reshape.
// CHECK-LABEL: func.func @view
// CHECK-NEXT:    %T = tile.reshape %A to [] : tensor<5x1x4xf32> -> tensor<1x5x4xf32>
// CHECK-NEXT:    func.return
func.func @view(%A: tensor<5x1x4xf32>) -> tensor<1x5x4xf32> {
  %T = tile.contraction assign(%A[i, k, j]) -> [k, i, j] : (tensor<5x1x4xf32>) -> tensor<1x5x4xf32>
  func.return %T : tensor<1x5x4xf32>
}

// Elementwise ops on the places of pictures are those of the product's rows.
// CHECK-LABEL: func.func @places
// CHECK-NEXT:    %P = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j]
// CHECK-NEXT:    %e = tile.exp %P : (tensor<6x4xf32>) -> tensor<6x4xf32>
// CHECK-NEXT:    %R_1 = tile.reshape %R to [] : tensor<2x3x4xf32> -> tensor<6x4xf32>
// CHECK-NEXT:    %s = tile.add %e, %R_1 : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
// CHECK-NEXT:    %g = tile.mul %s, %G : (tensor<6x4xf32>, tensor<4xf32>) -> tensor<6x4xf32>
// CHECK-NEXT:    tile.reshape %g to [] : tensor<6x4xf32> -> tensor<2x3x4xf32>
func.func @places(%A: tensor<6x5xf32>, %B: tensor<5x4xf32>, %R: tensor<2x3x4xf32>, %G: tensor<4xf32>) -> tensor<2x3x4xf32> {
  %P = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
  %V = tile.reshape %P to [] : tensor<6x4xf32> -> tensor<2x3x4xf32>
  %e = tile.exp %V : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %s = tile.add %e, %R : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %g = tile.mul %s, %G : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  func.return %g : tensor<2x3x4xf32>
}

// Those between sums over rows keep their shape, and those of which a part is repeated.
// CHECK-LABEL: func.func @rows
// CHECK:         %m = tile.mul %V, %R : (tensor<2x3x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
// CHECK:         %e = tile.exp %m : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
func.func @rows(%A: tensor<6x5xf32>, %B: tensor<5x4xf32>, %R: tensor<3x1xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x1xf32>) {
  %P = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
  %V = tile.reshape %P to [] : tensor<6x4xf32> -> tensor<2x3x4xf32>
  %m = tile.mul %V, %R : (tensor<2x3x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %e = tile.exp %m : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %s = tile.contraction add(%e[i, j, k]) -> [i, j, 0] : (tensor<2x3x4xf32>) -> tensor<2x3x1xf32>
  func.return %e, %s : tensor<2x3x4xf32>, tensor<2x3x1xf32>
}

// Rows of a product stay one index, whose tiles are larger; the copy reads the picture as it is.
// CHECK-LABEL: func.func @windows
// CHECK-NEXT:    %[[W:.*]] = tile.contraction assign(%X[4*a + i, 4*b + j, c]) -> [a, b, i, j, c]
// CHECK-NEXT:    %[[R:.*]] = tile.reshape %[[W]] to [] : tensor<2x3x4x4x5xf32> -> tensor<96x5xf32>
// CHECK-NEXT:    tile.contraction add(%[[R]][n, c] mul %K[c, d]) -> [n, d]
func.func @windows(%X: tensor<8x12x5xf32>, %K: tensor<5x7xf32>) -> tensor<96x7xf32> {
  %A = tile.reshape %X to [] : tensor<8x12x5xf32> -> tensor<2x4x3x4x5xf32>
  %W = tile.contraction assign(%A[a, i, b, j, c]) -> [a, b, i, j, c] : (tensor<2x4x3x4x5xf32>) -> tensor<2x3x4x4x5xf32>
  %R = tile.reshape %W to [] : tensor<2x3x4x4x5xf32> -> tensor<96x5xf32>
  %P = tile.contraction add(%R[n, c] mul %K[c, d]) -> [n, d] : (tensor<96x5xf32>, tensor<5x7xf32>) -> tensor<96x7xf32>
  func.return %P : tensor<96x7xf32>
}

// Parts that are written one over the other have the order of their copy, which is not made.
// CHECK-LABEL: func.func @parts
// CHECK-NEXT:    %[[A:.*]] = tile.contraction assign(%A[i, j]) -> [j, i] {{.*}} : (tensor<2x5xf32>) -> tensor<5x4xf32>
// CHECK-NEXT:    %{{.*}} = tile.contraction assign(%B[i - 2, j]) -> [j, i] default %[[A]] {{.*}} : (tensor<2x5xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
// CHECK-NEXT:    func.return
func.func @parts(%A: tensor<2x5xf32>, %B: tensor<2x5xf32>) -> tensor<5x4xf32> {
  %a = tile.contraction assign(%A[i, j]) -> [i, j] : (tensor<2x5xf32>) -> tensor<4x5xf32>
  %b = tile.contraction assign(%B[i - 2, j]) -> [i, j] default %a : (tensor<2x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  %T = tile.contraction assign(%b[i, j]) -> [j, i] : (tensor<4x5xf32>) -> tensor<5x4xf32>
  func.return %T : tensor<5x4xf32>
}
