func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = tile.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}

// -----

func.func @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b = tile.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  %a = tile.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}

// -----

func.func @h() {
  func.return %a : tensor<4xf32>
}
