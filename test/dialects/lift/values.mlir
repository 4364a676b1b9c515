// RUN: tile-opt %s | tile-opt | filecheck %s
// RUN: tile-opt %s --print-op-generic | tile-opt | filecheck %s
// RUN: xdsl-opt %s | filecheck %s

%x, %m, %a, %i = "test.op"() : () -> (tensor<?xf32, #lift.sizes<N>>, tensor<?x?xf32, #lift.sizes<N, M>>, f32, index)

// CHECK: %zip = lift.zip %x, %m, %x : (tensor<?xf32, #lift.sizes<N>>, tensor<?x?xf32, #lift.sizes<N, M>>, tensor<?xf32, #lift.sizes<N>>) -> tensor<?xtuple<f32, tensor<?xf32, #lift.sizes<M>>, f32>, #lift.sizes<N>>
%zip = lift.zip %x, %m, %x : (tensor<?xf32, #lift.sizes<N>>, tensor<?x?xf32, #lift.sizes<N, M>>, tensor<?xf32, #lift.sizes<N>>) -> tensor<?xtuple<f32, tensor<?xf32, #lift.sizes<M>>, f32>, #lift.sizes<N>>

// CHECK: %tuple = lift.tuple %a, %x : (f32, tensor<?xf32, #lift.sizes<N>>) -> tuple<f32, tensor<?xf32, #lift.sizes<N>>>
%tuple = lift.tuple %a, %x : (f32, tensor<?xf32, #lift.sizes<N>>) -> tuple<f32, tensor<?xf32, #lift.sizes<N>>>

// CHECK: %get = lift.get(1) %tuple : (tuple<f32, tensor<?xf32, #lift.sizes<N>>>) -> tensor<?xf32, #lift.sizes<N>>
%get = lift.get(1) %tuple : (tuple<f32, tensor<?xf32, #lift.sizes<N>>>) -> tensor<?xf32, #lift.sizes<N>>

// CHECK: %at = lift.at %m, %i : (tensor<?x?xf32, #lift.sizes<N, M>>, index) -> tensor<?xf32, #lift.sizes<M>>
%at = lift.at %m, %i : (tensor<?x?xf32, #lift.sizes<N, M>>, index) -> tensor<?xf32, #lift.sizes<M>>

// CHECK: %size = lift.size((6*N - M) / 3) : () -> index
%size = lift.size((6*N - M) / 3) : () -> index

// CHECK: %generate = lift.generate(%j, %k) : () -> tensor<4x?xindex, #lift.sizes<N>> {
// CHECK: %s = arith.addi %j, %k : index
// CHECK: lift.yield %s : index
// CHECK: }
%generate = lift.generate(%j, %k) : () -> tensor<4x?xindex, #lift.sizes<N>> {
  %s = arith.addi %j, %k : index
  lift.yield %s : index
}

// CHECK: %nested = lift.generate(%l) : () -> tensor<?x?xf32, #lift.sizes<M, N>> {
// CHECK: lift.yield %x : tensor<?xf32, #lift.sizes<N>>
// CHECK: }
%nested = lift.generate(%l) : () -> tensor<?x?xf32, #lift.sizes<M, N>> {
  lift.yield %x : tensor<?xf32, #lift.sizes<N>>
}

// CHECK: %let = lift.let(%once be %a) : (f32) -> f32 {
// CHECK: %y = arith.mulf %once, %once : f32
// CHECK: lift.yield %y : f32
// CHECK: }
%let = lift.let(%once be %a) : (f32) -> f32 {
  %y = arith.mulf %once, %once : f32
  lift.yield %y : f32
}
