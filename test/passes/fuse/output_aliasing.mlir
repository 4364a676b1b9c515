// RUN: tile-opt %s -p 'tile-bounds,tile-fuse' | filecheck %s

// What is returned twice is written twice, by the kernel that makes it.
// CHECK-LABEL: func.func @twice
// CHECK-NEXT:    %S, %R = tile.kernel
// CHECK-NEXT:      %[[S:.*]] = tile.add
// CHECK-NEXT:      tile.yield %[[S]], %[[S]]
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[R:.*]] = tile.reshape %R
// CHECK-NEXT:    func.return %S, %[[R]]
func.func @twice(%X: tensor<4x6xf32>, %Y: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<24xf32>) {
  %S = tile.add %X, %Y : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %R = tile.reshape %S to [] : tensor<4x6xf32> -> tensor<24xf32>
  func.return %S, %R : tensor<4x6xf32>, tensor<24xf32>
}

// So are products, and the results of row kernels.
// CHECK-LABEL: func.func @product
// CHECK:         %[[P:.*]] = tile.contraction add
// CHECK-NEXT:      tile.yield %[[P]], %[[P]], %[[P]]
func.func @product(%X: tensor<4x6xf32>, %Y: tensor<6x5xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>) {
  %P = tile.contraction add(%X[i, k] mul %Y[k, j]) -> [i, j] : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
  func.return %P, %P, %P : tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>
}

// A kernel that writes over what another one has filled is followed by one that copies.
// CHECK-LABEL: func.func @filled
// CHECK:         %[[F:.*]] = tile.contraction assign
// CHECK-NEXT:      tile.yield %[[F]] :
// CHECK:         %[[A:.*]] = tile.contraction add
// CHECK-NEXT:      tile.yield %[[A]] :
// CHECK:         %[[I:.*]] = tile.ident
// CHECK-NEXT:      tile.yield %[[I]] :
func.func @filled(%X: tensor<4xf32>) -> (tensor<9xf32>, tensor<9xf32>) {
  %A = tile.contraction add(%X[i]) -> [2*i + 1] : (tensor<4xf32>) -> tensor<9xf32>
  func.return %A, %A : tensor<9xf32>, tensor<9xf32>
}

// An argument is copied by one kernel, as often as it is returned, and beside what else reads it.
// CHECK-LABEL: func.func @difference
// CHECK-NEXT:    %{{.*}}, %{{.*}}, %{{.*}} = tile.kernel @{{\w+}}(%[[D:.*]] = %D : tensor<4x6xf32>)
// CHECK-NEXT:      %[[N:.*]] = tile.neg %[[D]]
// CHECK-NEXT:      %[[I:.*]] = tile.ident %[[D]]
// CHECK-NEXT:      tile.yield %[[N]], %[[I]], %[[I]]
func.func @difference(%D: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<24xf32>) {
  %N = tile.neg %D : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %R = tile.reshape %D to [] : tensor<4x6xf32> -> tensor<24xf32>
  func.return %D, %N, %R : tensor<4x6xf32>, tensor<4x6xf32>, tensor<24xf32>
}

// Kernels that somebody has made stay as they are.
// CHECK-LABEL: func.func @given
// CHECK:         tile.exp
// CHECK-NEXT:      tile.yield %{{[^,]*}} :
// CHECK:         tile.ident
func.func @given(%X: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %E = tile.kernel(%x = %X : tensor<8xf32>) -> tensor<8xf32> {
    %e = tile.exp %x : (tensor<8xf32>) -> tensor<8xf32>
    tile.yield %e : tensor<8xf32>
  }
  func.return %E, %E : tensor<8xf32>, tensor<8xf32>
}
