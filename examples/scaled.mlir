func.func @scaled(%x: tensor<8xf32>, %s: tensor<f32>) -> tensor<8xf32> {
  %number = tensor.extract %s[] : tensor<f32>
  %two = arith.constant 2.0 : f32
  %product = arith.mulf %number, %two : f32
  %factor = tensor.from_elements %product : tensor<f32>
  %scaled = tile.mul %x, %factor : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  func.return %scaled : tensor<8xf32>
}
