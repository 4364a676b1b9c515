func.func @tree(%x: tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N / 16>> {
  %0 = lift.split(16) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x16xf32, #lift.sizes<N / 16>>
  %1 = lift.map_wrg(0)(%chunk in %0) : (tensor<?x16xf32, #lift.sizes<N / 16>>) -> tensor<?x1xf32, #lift.sizes<N / 16>> {
    %2 = lift.map_lcl(0)(%a in %chunk) : (tensor<16xf32>) -> tensor<16xf32> {
      lift.yield %a : f32
    }
    %3 = lift.to_local %2 : (tensor<16xf32>) -> tensor<16xf32>
    %4 = lift.iterate(4)(%5 : tensor<?xf32, #lift.sizes<_n>> from %3) : (tensor<16xf32>) -> tensor<1xf32> {
      %6 = lift.split(2) %5 : (tensor<?xf32, #lift.sizes<_n>>) -> tensor<?x2xf32, #lift.sizes<_n / 2>>
      %7 = lift.map_lcl(0)(%8 in %6) : (tensor<?x2xf32, #lift.sizes<_n / 2>>) -> tensor<?xf32, #lift.sizes<_n / 2>> {
        %9 = arith.constant 0.000000e+00 : f32
        %10 = lift.reduce_seq(%a_1 from %9, %b in %8) : (f32, tensor<2xf32>) -> f32 {
          %11 = arith.addf %a_1, %b : f32
          lift.yield %11 : f32
        }
        lift.yield %10 : f32
      }
      %12 = lift.to_local %7 : (tensor<?xf32, #lift.sizes<_n / 2>>) -> tensor<?xf32, #lift.sizes<_n / 2>>
      lift.yield %12 : tensor<?xf32, #lift.sizes<_n / 2>>
    }
    lift.yield %4 : tensor<1xf32>
  }
  %13 = lift.join %1 : (tensor<?x1xf32, #lift.sizes<N / 16>>) -> tensor<?xf32, #lift.sizes<N / 16>>
  func.return %13 : tensor<?xf32, #lift.sizes<N / 16>>
}
