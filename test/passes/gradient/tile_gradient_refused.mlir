// RUN: tile-opt %s -p tile-gradient --split-input-file --verify-diagnostics | filecheck %s

// CHECK: only a tile.scan that adds, and starts with nothing, has a gradient: write others as contractions
func.func @f(%X: tensor<8xf32> {tile.name = "X"}) -> (tensor<8xf32> {tile.name = "Y"}) {
  %Y = tile.scan max %X axis 0 : (tensor<8xf32>) -> tensor<8xf32>
  func.return %Y : tensor<8xf32>
}

// -----

// CHECK: a tile.scatter in parts has no gradient: it is for kernels
func.func @parts(%X: tensor<8xf32> {tile.name = "X"}, %I: tensor<8xi32>, %V: tensor<4xf32>) -> (tensor<2x4xf32> {tile.name = "Y"}) {
  %Y = tile.scatter %X, %I, %V parts 2 : (tensor<8xf32>, tensor<8xi32>, tensor<4xf32>) -> tensor<2x4xf32>
  func.return %Y : tensor<2x4xf32>
}

// -----

// CHECK: tile.kernel has no gradient
func.func @g(%X: tensor<8xf32> {tile.name = "X"}) -> (tensor<8xf32> {tile.name = "Y"}) {
  %Y = tile.kernel(%x = %X : tensor<8xf32>) -> tensor<8xf32> {
    %e = tile.exp %x : (tensor<8xf32>) -> tensor<8xf32>
    tile.yield %e : tensor<8xf32>
  }
  func.return %Y : tensor<8xf32>
}

// -----

// CHECK: X is of type memref<8xf32>, not a tensor: tile-gradient runs before kernels are made
func.func @lowered(%X: memref<8xf32> {tile.name = "X"}) -> (memref<8xf32> {tile.name = "Y"}) {
  func.return %X : memref<8xf32>
}
