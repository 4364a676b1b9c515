func.func @stencil(%input: tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
  %zero = arith.constant 0.0 : f32
  %padded = lift.pad(1, 1, clamp) %input : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N + 2>>
  %windows = lift.slide(3, 1) %padded : (tensor<?xf32, #lift.sizes<N + 2>>) -> tensor<?x3xf32, #lift.sizes<N>>
  %sums = lift.map(%window in %windows) : (tensor<?x3xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %sum = lift.reduce(%acc from %zero, %x in %window) : (f32, tensor<3xf32>) -> f32 {
      %y = arith.addf %acc, %x : f32
      lift.yield %y : f32
    }
    lift.yield %sum : f32
  }
  func.return %sums : tensor<?xf32, #lift.sizes<N>>
}
