func.func @program(%x: tensor<64x2xf32> {tile.name = "x"}) -> (tensor<64xf32> {tile.name = "out"}) {
  %0 = lift.map_glb(0)(%p in %x) : (tensor<64x2xf32>) -> tensor<64xf32> {
    %1 = lift.size(0) : () -> index
    %2 = lift.at %p, %1 : (tensor<2xf32>, index) -> f32
    %3 = lift.size(0) : () -> index
    %4 = lift.at %p, %3 : (tensor<2xf32>, index) -> f32
    %5 = arith.mulf %2, %4 : f32
    %6 = lift.size(1) : () -> index
    %7 = lift.at %p, %6 : (tensor<2xf32>, index) -> f32
    %8 = lift.size(1) : () -> index
    %9 = lift.at %p, %8 : (tensor<2xf32>, index) -> f32
    %10 = arith.mulf %7, %9 : f32
    %11 = arith.addf %5, %10 : f32
    lift.yield %11 : f32
  }
  func.return %0 : tensor<64xf32>
}
