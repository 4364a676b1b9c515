// RUN: tile-opt %s -p tile-gradient --split-input-file --verify-diagnostics | filecheck %s

// CHECK: only a tile.scan that adds, and starts with nothing, has a gradient: write others as contractions
func.func @f(%X: tensor<8xf32> {tile.name = "X"}) -> (tensor<8xf32> {tile.name = "Y"}) {
  %Y = tile.scan max %X axis 0 : (tensor<8xf32>) -> tensor<8xf32>
  func.return %Y : tensor<8xf32>
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
