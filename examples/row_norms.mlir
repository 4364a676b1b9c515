// The squared norms of a matrix's rows.
func.func @norms(%A: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "A"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %r = lift.map(%row in %A) : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?xf32, #lift.sizes<N>> {
    %s = lift.map(%x in %row) : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %y = arith.mulf %x, %x : f32
      lift.yield %y : f32
    }
    %zero = arith.constant 0.0 : f32
    %t = lift.reduce(%a from %zero, %b in %s) : (f32, tensor<?xf32, #lift.sizes<M>>) -> f32 {
      %y = arith.addf %a, %b : f32
      lift.yield %y : f32
    }
    lift.yield %t : f32
  }
  func.return %r : tensor<?xf32, #lift.sizes<N>>
}
