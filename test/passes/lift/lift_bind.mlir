// RUN: tile-opt %s -p 'lift-bind{sizes="N=8"}' | filecheck %s
// RUN: tile-opt %s -p 'lift-rewrite{rule=tile_stencil},lift-bind{sizes="v=N / 2"}' | filecheck %s --check-prefix SIZE
// RUN: not tile-opt %s -p 'lift-bind{sizes="v"}' 2>&1 | filecheck %s --check-prefix SIZES
// RUN: not tile-opt %s -p 'lift-rewrite{rule=tile_stencil},lift-bind{sizes="v=4","N=6"}' 2>&1 | filecheck %s --check-prefix BOUND
// RUN: not tile-opt %s -p 'lift-bind{sizes="N=4","N=8"}' 2>&1 | filecheck %s --check-prefix TWICE
// RUN: not tile-opt %s -p 'lift-bind{sizes="N=8" function=none}' 2>&1 | filecheck %s --check-prefix FUNCTION
// RUN: not tile-opt %s -p 'lift-bind{sizes="Q=4"}' 2>&1 | filecheck %s --check-prefix UNKNOWN
// RUN: not tile-opt %s -p 'lift-bind{sizes="N=0"}' 2>&1 | filecheck %s --check-prefix EMPTY

// CHECK: func.func @stencil(%input: tensor<8xf32>) -> tensor<8xf32> attributes {lift.steps = ["bind(N=8)"]} {
// CHECK: lift.pad(1, 1, clamp) %input : (tensor<8xf32>) -> tensor<10xf32>
// SIZE: "bind(v=N / 2)"
// SIZE: lift.slide((N + 4) / 2, N / 2)
// SIZES: tile-opt: a size is given as name=size, not 'v'
// BOUND: error: the windows of slide(6, 4) do not end where
// TWICE: tile-opt: N is given twice: 4 and 8
// FUNCTION: tile-opt: there is no function none here; there is stencil
// UNKNOWN: tile-opt: there is no size Q; there is N
// EMPTY: error: input has no elements: pad has nothing to repeat
func.func @stencil(%input: tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
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
