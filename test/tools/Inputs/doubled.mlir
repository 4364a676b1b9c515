func.func @twice(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "y"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.addf %a, %a : f32
    lift.yield %1 : f32
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}
