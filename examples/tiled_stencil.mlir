func.func @tiled(%input: tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
  %zero = arith.constant 0.0 : f32
  %padded = lift.pad(1, 1, clamp) %input : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N + 2>>
  %tiles = lift.slide(4, 2) %padded : (tensor<?xf32, #lift.sizes<N + 2>>) -> tensor<?x4xf32, #lift.sizes<N / 2>>
  %results = lift.map_wrg(0)(%tile in %tiles) : (tensor<?x4xf32, #lift.sizes<N / 2>>) -> tensor<?x2xf32, #lift.sizes<N / 2>> {
    %copied = lift.map_lcl(0)(%x in %tile) : (tensor<4xf32>) -> tensor<4xf32> {
      lift.yield %x : f32
    }
    %kept = lift.to_local %copied : (tensor<4xf32>) -> tensor<4xf32>
    %windows = lift.slide(3, 1) %kept : (tensor<4xf32>) -> tensor<2x3xf32>
    %sums = lift.map_lcl(0)(%window in %windows) : (tensor<2x3xf32>) -> tensor<2xf32> {
      %sum = lift.reduce_seq(%acc from %zero, %x in %window) : (f32, tensor<3xf32>) -> f32 {
        %y = arith.addf %acc, %x : f32
        lift.yield %y : f32
      }
      lift.yield %sum : f32
    }
    lift.yield %sums : tensor<2xf32>
  }
  %out = lift.join %results : (tensor<?x2xf32, #lift.sizes<N / 2>>) -> tensor<?xf32, #lift.sizes<N>>
  func.return %out : tensor<?xf32, #lift.sizes<N>>
}
