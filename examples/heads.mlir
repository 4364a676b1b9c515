// Scores of the heads of attention: queries and keys are slices of one tensor, split into two heads.
func.func @heads(%X: tensor<6x16xf32>) -> tensor<2x6x6xf32> {
  %Q = tile.contraction assign(%X[i, j]) -> [i, j] : (tensor<6x16xf32>) -> tensor<6x8xf32>
  %K = tile.contraction assign(%X[i, j + 8]) -> [i, j] : (tensor<6x16xf32>) -> tensor<6x8xf32>
  %QH = tile.reshape %Q to [] : tensor<6x8xf32> -> tensor<6x2x4xf32>
  %KH = tile.reshape %K to [] : tensor<6x8xf32> -> tensor<6x2x4xf32>
  %S = tile.contraction add(%QH[q, h, e] mul %KH[k, h, e]) -> [h, q, k] : (tensor<6x2x4xf32>, tensor<6x2x4xf32>) -> tensor<2x6x6xf32>
  func.return %S : tensor<2x6x6xf32>
}
