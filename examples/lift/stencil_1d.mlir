func.func @stencil(%input: tensor<?xf32, #lift.sizes<N>> {tile.name = "input"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.pad(1, 1, clamp) %input : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N + 2>>
  %1 = lift.slide(3, 1) %0 : (tensor<?xf32, #lift.sizes<N + 2>>) -> tensor<?x3xf32, #lift.sizes<N>>
  %2 = lift.map(%3 in %1) : (tensor<?x3xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %4 = arith.constant 0.000000e+00 : f32
    %5 = lift.reduce(%a from %4, %b in %3) : (f32, tensor<3xf32>) -> f32 {
      %6 = arith.addf %a, %b : f32
      lift.yield %6 : f32
    }
    lift.yield %5 : f32
  }
  func.return %2 : tensor<?xf32, #lift.sizes<N>>
}
