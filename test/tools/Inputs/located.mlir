func.func @f(%A: tensor<3xf32>) -> tensor<3xf32> {
  %O = tile.contraction assign(%A[j]) -> [i] : (tensor<3xf32>) -> tensor<3xf32> loc("other.tile":1:1)
  func.return %O : tensor<3xf32>
}
