// RUN: tile-opt %s -p 'tile-bounds,tile-fuse{rows=true}' | filecheck %s

// Sums along both axes have no rows in common.
// CHECK-LABEL: @both
// CHECK-NEXT:    %R = tile.kernel @{{\w+}}(%X_1 = %X : tensor<8x12xf32>) -> tensor<8x1xf32> {
// CHECK-NEXT:      %R_1 = tile.contraction add(%X_1[i, j]) -> [i, 0]
// CHECK-NEXT:      tile.yield %R_1
// CHECK-NEXT:    }
// CHECK-NEXT:    %O = tile.kernel @{{\w+}}(%X_1 = %X : tensor<8x12xf32>, %R_1 = %R : tensor<8x1xf32>) -> tensor<1x12xf32> {
// CHECK-NEXT:      %D = tile.div %X_1, %R_1
// CHECK-NEXT:      %O_1 = tile.contraction add(%D[i, j]) -> [0, j]
func.func @both(%X: tensor<8x12xf32>) -> tensor<1x12xf32> {
  %R = tile.contraction add(%X[i, j]) -> [i, 0] : (tensor<8x12xf32>) -> tensor<8x1xf32>
  %D = tile.div %X, %R : (tensor<8x12xf32>, tensor<8x1xf32>) -> tensor<8x12xf32>
  %O = tile.contraction add(%D[i, j]) -> [0, j] : (tensor<8x12xf32>) -> tensor<1x12xf32>
  func.return %O : tensor<1x12xf32>
}

// What another kernel in between reads cannot move behind it.
// CHECK-LABEL: @between
// CHECK:         %S = tile.kernel
// CHECK:         %W = tile.kernel @{{\w+}}(%S_1 = %S : tensor<8x1xf32>)
// CHECK:         %U = tile.kernel
// CHECK:         %O = tile.kernel @{{\w+}}(%X_1 = %X : tensor<8x12xf32>, %S_1 = %S : tensor<8x1xf32>, %U_1 = %U : tensor<8x12xf32>) -> tensor<8x12xf32> {
func.func @between(%X: tensor<8x12xf32>) -> tensor<8x12xf32> {
  %S = tile.contraction add(%X[i, j]) -> [i, 0] : (tensor<8x12xf32>) -> tensor<8x1xf32>
  %W = tile.contraction max(%S[2*i + k, 0]) -> [i, 0] where 0 <= k < 2 : (tensor<8x1xf32>) -> tensor<4x1xf32>
  %U = tile.contraction assign(%W[i, 0]) -> [2*i, j] where 0 <= j < 12 : (tensor<4x1xf32>) -> tensor<8x12xf32>
  %P = tile.mul %X, %S : (tensor<8x12xf32>, tensor<8x1xf32>) -> tensor<8x12xf32>
  %O = tile.add %P, %U : (tensor<8x12xf32>, tensor<8x12xf32>) -> tensor<8x12xf32>
  func.return %O : tensor<8x12xf32>
}

// What is read later is a result, too.
// CHECK-LABEL: @later
// CHECK-NEXT:    %E, %O = tile.kernel @{{\w+}}(%X_1 = %X : tensor<8x12xf32>) -> (tensor<8x12xf32>, tensor<8xf32>) axes <d0 = 0 to 8, d1 = 0 to 12> {
// CHECK:           tile.yield %E_1, %O_1
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %E, %O
func.func @later(%X: tensor<8x12xf32>) -> (tensor<8x12xf32>, tensor<8xf32>) {
  %E = tile.exp %X : (tensor<8x12xf32>) -> tensor<8x12xf32>
  %O = tile.contraction max(%E[i, j]) -> [i] : (tensor<8x12xf32>) -> tensor<8xf32>
  func.return %E, %O : tensor<8x12xf32>, tensor<8xf32>
}

// A matrix product has no element for each of its points.
// CHECK-LABEL: @product
// CHECK:         tile.kernel
// CHECK:         tile.kernel
func.func @product(%A: tensor<512x512xf32>, %B: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %E = tile.exp %A : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %C = tile.contraction add(%E[i, k] mul %B[k, j]) -> [i, j] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  func.return %C : tensor<512x512xf32>
}

// Two indices along one axis are no diagonal, though the sizes would allow it.
// CHECK-LABEL: @linear
// CHECK:         tile.contraction add(%X_1[b, s, k] mul %W_1[n, k]) -> [b, s, n]
func.func @linear(%X: tensor<2x5x8xf32>, %W: tensor<8x8xf32>) -> tensor<2x5x8xf32> {
  %Y = tile.contraction add(%X[b, s, k] mul %W[n, k]) -> [b, s, n] : (tensor<2x5x8xf32>, tensor<8x8xf32>) -> tensor<2x5x8xf32>
  %M = tile.contraction max(%Y[b, s, n]) -> [b, s, 0] : (tensor<2x5x8xf32>) -> tensor<2x5x1xf32>
  %O = tile.sub %Y, %M : (tensor<2x5x8xf32>, tensor<2x5x1xf32>) -> tensor<2x5x8xf32>
  func.return %O : tensor<2x5x8xf32>
}

// Few parts are added where a row takes their sum.
// CHECK-LABEL: @parts
// CHECK-NEXT:    %O = tile.kernel @{{\w+}}(%P_1 = %P : tensor<3x8x12xf32>) -> tensor<8x12xf32> axes <d0 = 0 to 8, d1 = 0 to 12> {
// CHECK-NEXT:      %0 = tile.contraction assign(%P_1[0, d0, d1]) -> [d0, d1]
// CHECK-NEXT:      %1 = tile.contraction assign(%P_1[1, d0, d1]) -> [d0, d1]
// CHECK-NEXT:      %2 = tile.add %0, %1
// CHECK-NEXT:      %3 = tile.contraction assign(%P_1[2, d0, d1]) -> [d0, d1]
// CHECK-NEXT:      %Y = tile.add %2, %3
// CHECK-NEXT:      %M = tile.contraction max(%Y[d0, d1]) -> [d0, 0]
func.func @parts(%P: tensor<3x8x12xf32>) -> tensor<8x12xf32> {
  %Y = tile.contraction add(%P[p, i, j]) -> [i, j] : (tensor<3x8x12xf32>) -> tensor<8x12xf32>
  %M = tile.contraction max(%Y[i, j]) -> [i, 0] : (tensor<8x12xf32>) -> tensor<8x1xf32>
  %O = tile.sub %Y, %M : (tensor<8x12xf32>, tensor<8x1xf32>) -> tensor<8x12xf32>
  func.return %O : tensor<8x12xf32>
}

// Sums of 16 bits are made in f32, and additions are not.
// CHECK-LABEL: @halves
// CHECK:         %Y_1 = tile.contraction add(%P_1[p, i, j]) -> [i, j]
// CHECK-NEXT:    tile.yield %Y_1
func.func @halves(%P: tensor<2x8x12xf16>) -> tensor<8x12xf16> {
  %Y = tile.contraction add(%P[p, i, j]) -> [i, j] : (tensor<2x8x12xf16>) -> tensor<8x12xf16>
  %M = tile.contraction max(%Y[i, j]) -> [i, 0] : (tensor<8x12xf16>) -> tensor<8x1xf16>
  %O = tile.sub %Y, %M : (tensor<8x12xf16>, tensor<8x1xf16>) -> tensor<8x12xf16>
  func.return %O : tensor<8x12xf16>
}

// Of a batch of 1, too.
// CHECK-LABEL: @batch
// CHECK-NEXT:    %O = tile.kernel @{{\w+}}(%P_1 = %P : tensor<2x8x12xf32>) -> tensor<1x8x12xf32> axes <d0 = 0 to 1, d1 = 0 to 8, d2 = 0 to 12> {
// CHECK-NEXT:      %0 = tile.contraction assign(%P_1[0, d1, d2]) -> [0, d1, d2]
// CHECK-NEXT:      %1 = tile.contraction assign(%P_1[1, d1, d2]) -> [0, d1, d2]
// CHECK-NEXT:      %Y = tile.add %0, %1
func.func @batch(%P: tensor<2x8x12xf32>) -> tensor<1x8x12xf32> {
  %Y = tile.contraction add(%P[p, i, j]) -> [0, i, j] : (tensor<2x8x12xf32>) -> tensor<1x8x12xf32>
  %M = tile.contraction max(%Y[0, i, j]) -> [0, i, 0] : (tensor<1x8x12xf32>) -> tensor<1x8x1xf32>
  %O = tile.sub %Y, %M : (tensor<1x8x12xf32>, tensor<1x8x1xf32>) -> tensor<1x8x12xf32>
  func.return %O : tensor<1x8x12xf32>
}

// Parts that are no whole results have elements of their own.
// CHECK-LABEL: @shorter
// CHECK:         tile.contraction add(%P_1[p, i, j]) -> [i, j]
// CHECK-NEXT:    tile.yield
func.func @shorter(%P: tensor<2x8x10xf32>) -> tensor<8x12xf32> {
  %Y = tile.contraction add(%P[p, i, j]) -> [i, j] : (tensor<2x8x10xf32>) -> tensor<8x12xf32>
  %M = tile.contraction max(%Y[i, j]) -> [i, 0] : (tensor<8x12xf32>) -> tensor<8x1xf32>
  %O = tile.sub %Y, %M : (tensor<8x12xf32>, tensor<8x1xf32>) -> tensor<8x12xf32>
  func.return %O : tensor<8x12xf32>
}
