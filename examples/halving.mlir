func.func @halve(%x: tensor<4xf32>, %limit: f32) -> tensor<4xf32> {
  %r = scf.while (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %zero = arith.constant 0 : index
    %first = tensor.extract %a[%zero] : tensor<4xf32>
    %goes_on = arith.cmpf ogt, %first, %limit : f32
    scf.condition(%goes_on) %a : tensor<4xf32>
  } do {
  ^bb0(%a: tensor<4xf32>):
    %half = arith.constant dense<0.5> : tensor<4xf32>
    %b = arith.mulf %a, %half : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}
