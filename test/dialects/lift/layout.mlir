// RUN: tile-opt %s | tile-opt | filecheck %s
// RUN: tile-opt %s --print-op-generic | tile-opt | filecheck %s
// RUN: xdsl-opt %s | filecheck %s

%x, %m, %v, %zero, %t = "test.op"() : () -> (tensor<?xf32, #lift.sizes<N>>, tensor<?x?xf32, #lift.sizes<N, M>>, tensor<?xvector<4xf32>, #lift.sizes<N / 4>>, f32, tensor<8xtuple<f32, tensor<3xf32>>>)

// CHECK: %split = lift.split(4) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x4xf32, #lift.sizes<N / 4>>
%split = lift.split(4) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x4xf32, #lift.sizes<N / 4>>

// CHECK: %split_n = lift.split(n) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x?xf32, #lift.sizes<N / n, n>>
%split_n = lift.split(n) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x?xf32, #lift.sizes<N / n, n>>

// CHECK: %join = lift.join %split_n : (tensor<?x?xf32, #lift.sizes<N / n, n>>) -> tensor<?xf32, #lift.sizes<N>>
%join = lift.join %split_n : (tensor<?x?xf32, #lift.sizes<N / n, n>>) -> tensor<?xf32, #lift.sizes<N>>

// CHECK: %joined = lift.join %m : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?xf32, #lift.sizes<M*N>>
%joined = lift.join %m : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?xf32, #lift.sizes<M*N>>

// CHECK: %transpose = lift.transpose %m : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<M, N>>
%transpose = lift.transpose %m : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<M, N>>

// CHECK: %slide = lift.slide(3, 1) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x3xf32, #lift.sizes<N - 2>>
%slide = lift.slide(3, 1) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x3xf32, #lift.sizes<N - 2>>

// CHECK: %tiles = lift.slide(n + 2, n) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x?xf32, #lift.sizes<(N - 2) / n, n + 2>>
%tiles = lift.slide(n + 2, n) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x?xf32, #lift.sizes<(N - 2) / n, n + 2>>

// CHECK: %pad = lift.pad(1, 1, clamp) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N + 2>>
%pad = lift.pad(1, 1, clamp) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N + 2>>

// CHECK: %mirror = lift.pad(0, M, mirror) %m : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<M + N, M>>
%mirror = lift.pad(0, M, mirror) %m : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<M + N, M>>

// CHECK: %wrap = lift.pad(2, 0, wrap) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N + 2>>
%wrap = lift.pad(2, 0, wrap) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N + 2>>

// CHECK: %constant = lift.pad_constant(1, 2) %x, %zero : (tensor<?xf32, #lift.sizes<N>>, f32) -> tensor<?xf32, #lift.sizes<N + 3>>
%constant = lift.pad_constant(1, 2) %x, %zero : (tensor<?xf32, #lift.sizes<N>>, f32) -> tensor<?xf32, #lift.sizes<N + 3>>

// CHECK: %rows = lift.pad_constant(1, 1) %m, %zero : (tensor<?x?xf32, #lift.sizes<N, M>>, f32) -> tensor<?x?xf32, #lift.sizes<N + 2, M>>
%rows = lift.pad_constant(1, 1) %m, %zero : (tensor<?x?xf32, #lift.sizes<N, M>>, f32) -> tensor<?x?xf32, #lift.sizes<N + 2, M>>

// CHECK: %gather = lift.gather(i -> N - i - 1) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>>
%gather = lift.gather(i -> N - i - 1) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>>

// CHECK: %scatter = lift.scatter(k -> N*(k mod 4) + (k floordiv 4)) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>>
%scatter = lift.scatter(k -> N*(k mod 4) + (k floordiv 4)) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>>

// CHECK: %slice = lift.slice(1, N - 1) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N - 2>>
%slice = lift.slice(1, N - 1) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N - 2>>

// CHECK: %concat = lift.concat %x, %slice, %x : (tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N - 2>>, tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<3*N - 2>>
%concat = lift.concat %x, %slice, %x : (tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N - 2>>, tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<3*N - 2>>

// CHECK: %vectors = lift.as_vector(4) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xvector<4xf32>, #lift.sizes<N / 4>>
%vectors = lift.as_vector(4) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xvector<4xf32>, #lift.sizes<N / 4>>

// CHECK: %scalars = lift.as_scalar %v : (tensor<?xvector<4xf32>, #lift.sizes<N / 4>>) -> tensor<?xf32, #lift.sizes<N>>
%scalars = lift.as_scalar %v : (tensor<?xvector<4xf32>, #lift.sizes<N / 4>>) -> tensor<?xf32, #lift.sizes<N>>

// CHECK: %pairs = lift.split(2) %t : (tensor<8xtuple<f32, tensor<3xf32>>>) -> tensor<4x2xtuple<f32, tensor<3xf32>>>
%pairs = lift.split(2) %t : (tensor<8xtuple<f32, tensor<3xf32>>>) -> tensor<4x2xtuple<f32, tensor<3xf32>>>

// CHECK: %attributes = lift.split(2) %x {note = 1 : i64} : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x2xf32, #lift.sizes<N / 2>>
%attributes = lift.split(2) %x {note = 1 : i64} : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x2xf32, #lift.sizes<N / 2>>
