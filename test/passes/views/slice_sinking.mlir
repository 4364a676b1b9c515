// RUN: tile-opt %s -p tile-bounds,tile-fuse | filecheck %s

// Parts of what elementwise ops make of arguments are made of parts of these: of the part alone of what is
// put together, and of the parts of the others.
// CHECK-LABEL: func.func @parts
// CHECK-NEXT:    %P = tile.kernel @{{\w+}}(%Y_1 = %Y : tensor<4x8xf32>, %A_1 = %A : tensor<4x3xf32>)
// CHECK:         %Q = tile.kernel @{{\w+}}(%Y_1 = %Y : tensor<4x8xf32>, %B_1 = %B : tensor<4x5xf32>)
// CHECK:         func.return
func.func @parts(%A: tensor<4x3xf32>, %B: tensor<4x5xf32>, %Y: tensor<4x8xf32>) -> (tensor<4x3xf32>, tensor<4x5xf32>) {
  %C = tile.contraction assign(%A[i, j]) -> [i, j] : (tensor<4x3xf32>) -> tensor<4x8xf32>
  %D = tile.contraction assign(%B[i, j - 3]) -> [i, j] default %C : (tensor<4x5xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %E = tile.mul %D, %Y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %P = tile.contraction add(%E[i, j]) -> [i, j] : (tensor<4x8xf32>) -> tensor<4x3xf32>
  %Q = tile.contraction add(%E[i, j + 3]) -> [i, j] : (tensor<4x8xf32>) -> tensor<4x5xf32>
  func.return %P, %Q : tensor<4x3xf32>, tensor<4x5xf32>
}

// Not if something else takes what they make, or if that is more work, or if they are not all of one shape.
// CHECK-LABEL: func.func @taken
// CHECK:         tile.exp %{{.*}} : (tensor<4x8xf32>)
func.func @taken(%Y: tensor<4x8xf32>) -> (tensor<4x3xf32>, tensor<4x5xf32>, tensor<4x8xf32>) {
  %E = tile.exp %Y : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %P = tile.contraction assign(%E[i, j]) -> [i, j] : (tensor<4x8xf32>) -> tensor<4x3xf32>
  %Q = tile.contraction assign(%E[i, j + 3]) -> [i, j] : (tensor<4x8xf32>) -> tensor<4x5xf32>
  func.return %P, %Q, %E : tensor<4x3xf32>, tensor<4x5xf32>, tensor<4x8xf32>
}
// CHECK-LABEL: func.func @twice
// CHECK:         tile.exp %{{.*}} : (tensor<4x8xf32>)
func.func @twice(%Y: tensor<4x8xf32>) -> (tensor<4x7xf32>, tensor<4x7xf32>) {
  %E = tile.exp %Y : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %P = tile.contraction assign(%E[i, j]) -> [i, j] : (tensor<4x8xf32>) -> tensor<4x7xf32>
  %Q = tile.contraction assign(%E[i, j + 1]) -> [i, j] : (tensor<4x8xf32>) -> tensor<4x7xf32>
  func.return %P, %Q : tensor<4x7xf32>, tensor<4x7xf32>
}
// CHECK-LABEL: func.func @rows
// CHECK:         tile.add %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>)
func.func @rows(%Y: tensor<4x8xf32>, %Z: tensor<8xf32>) -> (tensor<4x3xf32>, tensor<4x5xf32>) {
  %E = tile.add %Y, %Z : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %P = tile.contraction assign(%E[i, j]) -> [i, j] : (tensor<4x8xf32>) -> tensor<4x3xf32>
  %Q = tile.contraction assign(%E[i, j + 3]) -> [i, j] : (tensor<4x8xf32>) -> tensor<4x5xf32>
  func.return %P, %Q : tensor<4x3xf32>, tensor<4x5xf32>
}

// Nor if an operand has more axes than the parts, though all its sizes are 1; with fewer it is what it is for all.
// CHECK-LABEL: func.func @ranks
// CHECK:         tile.mul %{{.*}} : (tensor<4x3x8xf32>, tensor<1x1x1xf32>)
func.func @ranks(%Y: tensor<4x3x8xf32>, %S: tensor<1x1x1xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %E = tile.mul %Y, %S : (tensor<4x3x8xf32>, tensor<1x1x1xf32>) -> tensor<4x3x8xf32>
  %P = tile.contraction assign(%E[i, 0, j]) -> [i, j] : (tensor<4x3x8xf32>) -> tensor<4x8xf32>
  %Q = tile.contraction assign(%E[i, 1, j]) -> [i, j] : (tensor<4x3x8xf32>) -> tensor<4x8xf32>
  func.return %P, %Q : tensor<4x8xf32>, tensor<4x8xf32>
}
// CHECK-LABEL: func.func @numbers
// CHECK:         tile.mul %{{.*}} : (tensor<4x8xf32>, tensor<1x1xf32>)
func.func @numbers(%Y: tensor<4x3x8xf32>, %S: tensor<1x1xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %E = tile.mul %Y, %S : (tensor<4x3x8xf32>, tensor<1x1xf32>) -> tensor<4x3x8xf32>
  %P = tile.contraction assign(%E[i, 0, j]) -> [i, j] : (tensor<4x3x8xf32>) -> tensor<4x8xf32>
  %Q = tile.contraction assign(%E[i, 1, j]) -> [i, j] : (tensor<4x3x8xf32>) -> tensor<4x8xf32>
  func.return %P, %Q : tensor<4x8xf32>, tensor<4x8xf32>
}
