// A convolution along rows, and a softmax over its channels, which come last there.
func.func @channels(%X: tensor<3x6xf32>, %K: tensor<4x3x2xf32>) -> tensor<5x4xf32> {
  %C = tile.contraction add(%X[c, y + j] mul %K[d, c, j]) -> [d, y] : (tensor<3x6xf32>, tensor<4x3x2xf32>) -> tensor<4x5xf32>
  %T = tile.contraction assign(%C[d, y]) -> [y, d] : (tensor<4x5xf32>) -> tensor<5x4xf32>
  %E = tile.exp %T : (tensor<5x4xf32>) -> tensor<5x4xf32>
  %S = tile.contraction add(%E[y, d]) -> [y, 0] : (tensor<5x4xf32>) -> tensor<5x1xf32>
  %P = tile.div %E, %S : (tensor<5x4xf32>, tensor<5x1xf32>) -> tensor<5x4xf32>
  func.return %P : tensor<5x4xf32>
}
