// RUN: tile-opt %s | tile-opt | filecheck %s
// RUN: tile-opt %s --print-op-generic | tile-opt | filecheck %s
// RUN: xdsl-opt %s | filecheck %s

%x, %m, %zero, %row = "test.op"() : () -> (tensor<?xf32, #lift.sizes<N>>, tensor<?x?xf32, #lift.sizes<N, M>>, f32, tensor<?xf32, #lift.sizes<M>>)

// CHECK: %reduce = lift.reduce(%acc0 from %zero, %e0 in %x) : (f32, tensor<?xf32, #lift.sizes<N>>) -> f32 {
// CHECK: %y0 = arith.addf %acc0, %e0 : f32
// CHECK: lift.yield %y0 : f32
// CHECK: }
%reduce = lift.reduce(%acc0 from %zero, %e0 in %x) : (f32, tensor<?xf32, #lift.sizes<N>>) -> f32 {
  %y0 = arith.addf %acc0, %e0 : f32
  lift.yield %y0 : f32
}

// CHECK: %reduce_seq = lift.reduce_seq(%acc1 from %zero, %e1 in %x) : (f32, tensor<?xf32, #lift.sizes<N>>) -> f32 {
// CHECK: %y1 = arith.addf %acc1, %e1 : f32
// CHECK: lift.yield %y1 : f32
// CHECK: }
%reduce_seq = lift.reduce_seq(%acc1 from %zero, %e1 in %x) : (f32, tensor<?xf32, #lift.sizes<N>>) -> f32 {
  %y1 = arith.addf %acc1, %e1 : f32
  lift.yield %y1 : f32
}

// CHECK: %reduce_seq_unroll = lift.reduce_seq_unroll(%acc2 from %zero, %e2 in %x) : (f32, tensor<?xf32, #lift.sizes<N>>) -> f32 {
// CHECK: %y2 = arith.addf %acc2, %e2 : f32
// CHECK: lift.yield %y2 : f32
// CHECK: }
%reduce_seq_unroll = lift.reduce_seq_unroll(%acc2 from %zero, %e2 in %x) : (f32, tensor<?xf32, #lift.sizes<N>>) -> f32 {
  %y2 = arith.addf %acc2, %e2 : f32
  lift.yield %y2 : f32
}

// CHECK: %sums = lift.reduce(%sum from %row, %next in %m) : (tensor<?xf32, #lift.sizes<M>>, tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?xf32, #lift.sizes<M>> {
// CHECK: %total = tile.add %sum, %next : (tensor<?xf32, #lift.sizes<M>>, tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>>
// CHECK: lift.yield %total : tensor<?xf32, #lift.sizes<M>>
// CHECK: }
%sums = lift.reduce(%sum from %row, %next in %m) : (tensor<?xf32, #lift.sizes<M>>, tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?xf32, #lift.sizes<M>> {
  %total = tile.add %sum, %next : (tensor<?xf32, #lift.sizes<M>>, tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>>
  lift.yield %total : tensor<?xf32, #lift.sizes<M>>
}

// CHECK: %same = lift.iterate(k)(%v : tensor<?xf32, #lift.sizes<N>> from %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
// CHECK: %again = lift.gather(i -> N - i - 1) %v : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>>
// CHECK: lift.yield %again : tensor<?xf32, #lift.sizes<N>>
// CHECK: }
%same = lift.iterate(k)(%v : tensor<?xf32, #lift.sizes<N>> from %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
  %again = lift.gather(i -> N - i - 1) %v : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>>
  lift.yield %again : tensor<?xf32, #lift.sizes<N>>
}

// CHECK: %halves = lift.iterate(2)(%w : tensor<?xf32, #lift.sizes<n>> from %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N / 4>> {
// CHECK: %half = lift.slice(0, n / 2) %w : (tensor<?xf32, #lift.sizes<n>>) -> tensor<?xf32, #lift.sizes<n / 2>>
// CHECK: lift.yield %half : tensor<?xf32, #lift.sizes<n / 2>>
// CHECK: }
%halves = lift.iterate(2)(%w : tensor<?xf32, #lift.sizes<n>> from %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N / 4>> {
  %half = lift.slice(0, n / 2) %w : (tensor<?xf32, #lift.sizes<n>>) -> tensor<?xf32, #lift.sizes<n / 2>>
  lift.yield %half : tensor<?xf32, #lift.sizes<n / 2>>
}

// CHECK: %binary = lift.search(binary)(%e6 in %x else %zero) : (tensor<?xf32, #lift.sizes<N>>, f32) -> f32 {
// CHECK: %dbinary = arith.fptosi %e6 : f32 to i32
// CHECK: lift.yield %dbinary : i32
// CHECK: }
%binary = lift.search(binary)(%e6 in %x else %zero) : (tensor<?xf32, #lift.sizes<N>>, f32) -> f32 {
  %dbinary = arith.fptosi %e6 : f32 to i32
  lift.yield %dbinary : i32
}

// CHECK: %linear = lift.search(linear)(%e7 in %x else %zero) : (tensor<?xf32, #lift.sizes<N>>, f32) -> f32 {
// CHECK: %dlinear = arith.fptosi %e7 : f32 to i32
// CHECK: lift.yield %dlinear : i32
// CHECK: }
%linear = lift.search(linear)(%e7 in %x else %zero) : (tensor<?xf32, #lift.sizes<N>>, f32) -> f32 {
  %dlinear = arith.fptosi %e7 : f32 to i32
  lift.yield %dlinear : i32
}
