// RUN: tile-opt %s --verify-diagnostics --parsing-diagnostics --split-input-file | filecheck %s

// Types.

// CHECK: tensor<?x4xf32> has 1 open axis, but names 0 sizes
%x = "test.op"() : () -> (tensor<?x4xf32>)
%r = lift.join %x : (tensor<?x4xf32>) -> tensor<?xf32, #lift.sizes<4*N>>

// -----

// CHECK: has 1 open axis, but names 2 sizes
%x = "test.op"() : () -> (tensor<?x4xf32, #lift.sizes<N, M>>)
%r = lift.to_local %x : (tensor<?x4xf32, #lift.sizes<N, M>>) -> tensor<?x4xf32, #lift.sizes<N, M>>

// -----

// CHECK: the encoding of tensor<8xf32, "other"> is no #lift.sizes
%x = "test.op"() : () -> (tensor<8xf32, "other">)
%r = lift.to_local %x : (tensor<8xf32, "other">) -> tensor<8xf32, "other">

// -----

// CHECK: x is memref<8xf32>, which is no array and no number
%x = "test.op"() : () -> (memref<8xf32>)
%r = lift.to_local %x : (memref<8xf32>) -> memref<8xf32>

// -----

// CHECK: (N) / (M + 1) is not a sum of products
%x = "test.op"() : () -> (tensor<?xf32, #lift.sizes<N / (M + 1)>>)

// -----

// CHECK: transpose gives tensor<?x?xf32, #lift.sizes<M, N>> here, not tensor<?x?xf32, #lift.sizes<N, M>>
%x = "test.op"() : () -> (tensor<?x?xf32, #lift.sizes<N, M>>)
%r = lift.transpose %x : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N, M>>

// -----

// Layout.

// CHECK: split takes an array, but x is f32
%x = "test.op"() : () -> (f32)
%r = lift.split(4) %x : (f32) -> tensor<2x4xf32>

// -----

// CHECK: split(4) needs 4 to divide the size of x, which is 10
%x = "test.op"() : () -> (tensor<10xf32>)
%r = lift.split(4) %x : (tensor<10xf32>) -> tensor<2x4xf32>

// -----

// CHECK: the size of the pieces of split is 0; it must be an integer of at least 1
%x = "test.op"() : () -> (tensor<10xf32>)
%r = lift.split(0) %x : (tensor<10xf32>) -> tensor<2x4xf32>

// -----

// CHECK: (N) / (M + 1) is not a sum of products: give the divisor a name of its own
%x = "test.op"() : () -> (tensor<?xf32, #lift.sizes<N>>)
%r = lift.split(M + 1) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<2x4xf32>

// -----

// CHECK: join takes an array of arrays, but x holds f32
%x = "test.op"() : () -> (tensor<10xf32>)
%r = lift.join %x : (tensor<10xf32>) -> tensor<10xf32>

// -----

// CHECK: transpose takes an array of arrays, but x holds tuple<f32, f32>
%x = "test.op"() : () -> (tensor<10xtuple<f32, f32>>)
%r = lift.transpose %x : (tensor<10xtuple<f32, f32>>) -> tensor<10xtuple<f32, f32>>

// -----

// CHECK: the windows of slide(3, 2) do not end where x ends, which has 8 elements: slice it first
%x = "test.op"() : () -> (tensor<8xf32>)
%r = lift.slide(3, 2) %x : (tensor<8xf32>) -> tensor<3x3xf32>

// -----

// CHECK: the windows of slide(9, 1) are larger than x, which has 8 elements
%x = "test.op"() : () -> (tensor<8xf32>)
%r = lift.slide(9, 1) %x : (tensor<8xf32>) -> tensor<0x9xf32>

// -----

// CHECK: the step of slide is 0; it must be an integer of at least 1
%x = "test.op"() : () -> (tensor<8xf32>)
%r = lift.slide(3, 0) %x : (tensor<8xf32>) -> tensor<3x3xf32>

// -----

// CHECK: the padding on the left is -1; it must be an integer of at least 0
%x = "test.op"() : () -> (tensor<8xf32>)
%r = lift.pad(-1, 0, clamp) %x : (tensor<8xf32>) -> tensor<7xf32>

// -----

// CHECK: x has no elements: pad has nothing to repeat
%x = "test.op"() : () -> (tensor<0xf32>)
%r = lift.pad(1, 0, wrap) %x : (tensor<0xf32>) -> tensor<1xf32>

// -----

// CHECK: Expected `clamp`, `mirror`, or `wrap`.
%x = "test.op"() : () -> (tensor<8xf32>)
%r = lift.pad(1, 1, reflect) %x : (tensor<8xf32>) -> tensor<10xf32>

// -----

// CHECK: pad_constant puts elements of x, which are f32, not i32
%x, %v = "test.op"() : () -> (tensor<8xf32>, i32)
%r = lift.pad_constant(1, 1) %x, %v : (tensor<8xf32>, i32) -> tensor<10xf32>

// -----

// CHECK: slice(5, 3) ends before it begins
%x = "test.op"() : () -> (tensor<8xf32>)
%r = lift.slice(5, 3) %x : (tensor<8xf32>) -> tensor<2xf32>

// -----

// CHECK: slice(5, 9) is not inside x, which has 8
%x = "test.op"() : () -> (tensor<8xf32>)
%r = lift.slice(5, 9) %x : (tensor<8xf32>) -> tensor<4xf32>

// -----

// CHECK: slice(1, N + 1) is not inside x, which has N
%x = "test.op"() : () -> (tensor<?xf32, #lift.sizes<N>>)
%r = lift.slice(1, N + 1) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>>

// -----

// CHECK: concat takes at least one array
%r = lift.concat : () -> tensor<8xf32>

// -----

// CHECK: concat takes arrays of the same kind, but x holds f32 and y i32
%x, %y = "test.op"() : () -> (tensor<8xf32>, tensor<8xi32>)
%r = lift.concat %x, %y : (tensor<8xf32>, tensor<8xi32>) -> tensor<16xf32>

// -----

// CHECK: the width of a vector is a number, not N
%x = "test.op"() : () -> (tensor<8xf32>)
%r = lift.as_vector(N) %x : (tensor<8xf32>) -> tensor<2xvector<4xf32>>

// -----

// CHECK: as_vector takes an array of numbers, not of tensor<4xf32>
%x = "test.op"() : () -> (tensor<8x4xf32>)
%r = lift.as_vector(4) %x : (tensor<8x4xf32>) -> tensor<8xvector<4xf32>>

// -----

// CHECK: as_vector(3) needs 3 to divide the size of x, which is 8
%x = "test.op"() : () -> (tensor<8xf32>)
%r = lift.as_vector(3) %x : (tensor<8xf32>) -> tensor<2xvector<3xf32>>

// -----

// CHECK: as_scalar takes an array of vectors, not of f32
%x = "test.op"() : () -> (tensor<8xf32>)
%r = lift.as_scalar %x : (tensor<8xf32>) -> tensor<8xf32>

// -----

// CHECK: division by zero in an index expression
%x = "test.op"() : () -> (tensor<8xf32>)
%r = lift.gather(i -> (i mod 0)) %x : (tensor<8xf32>) -> tensor<8xf32>

// -----

// CHECK: gather takes an array, but x is f32
%x = "test.op"() : () -> (f32)
%r = lift.gather(i -> i) %x : (f32) -> f32

// -----

// CHECK: scatter takes an array, but x is f32
%x = "test.op"() : () -> (f32)
%r = lift.scatter(i -> i) %x : (f32) -> f32

// -----

// Functions.

// CHECK: map takes an array, but x is f32
%x = "test.op"() : () -> (f32)
%r = lift.map(%e in %x) : (f32) -> f32 {
  lift.yield %e : f32
}

// -----

// CHECK: the function of map ends in a lift.yield
%x = "test.op"() : () -> (tensor<8xf32>)
%r = lift.map(%e in %x) : (tensor<8xf32>) -> tensor<8xf32> {
  tile.yield %e : f32
}

// -----

// CHECK: the function of map_seq takes f32 here, not i32
%x = "test.op"() : () -> (tensor<8xf32>)
%r = "lift.map_seq"(%x) ({
^bb0(%e : i32):
  lift.yield %e : i32
}) : (tensor<8xf32>) -> tensor<8xi32>

// -----

// CHECK: the function of map takes f32 here, not nothing
%x, %c = "test.op"() : () -> (tensor<8xf32>, f32)
%r = "lift.map"(%x) ({
  lift.yield %c : f32
}) : (tensor<8xf32>) -> tensor<8xf32>

// -----

// CHECK: map_glb(3): the dimensions of an NDRange are 0, 1 and 2
%x = "test.op"() : () -> (tensor<8xf32>)
%r = lift.map_glb(3)(%e in %x) : (tensor<8xf32>) -> tensor<8xf32> {
  lift.yield %e : f32
}

// -----

// CHECK: map_vec takes a vector, but x is tensor<8xf32>
%x = "test.op"() : () -> (tensor<8xf32>)
%r = lift.map_vec(%e in %x) : (tensor<8xf32>) -> tensor<8xf32> {
  lift.yield %e : f32
}

// -----

// CHECK: the function of map_vec gives tensor<4xf32>, no number
%x, %y = "test.op"() : () -> (vector<4xf32>, tensor<4xf32>)
%r = lift.map_vec(%e in %x) : (vector<4xf32>) -> vector<4xf32> {
  lift.yield %y : tensor<4xf32>
}

// -----

// CHECK: the windows of slide(3, 2) do not end where x ends
%x = "test.op"() : () -> (tensor<8xf32>)
%r = lift.map_seq_slide(3, 2)(%w in %x) : (tensor<8xf32>) -> tensor<3x3xf32> {
  lift.yield %w : tensor<3xf32>
}

// -----

// CHECK: reduce begins with i32, but its function gives f32
%x, %zero = "test.op"() : () -> (tensor<8xf32>, i32)
%r = lift.reduce(%sum from %zero, %e in %x) : (i32, tensor<8xf32>) -> i32 {
  lift.yield %e : f32
}

// -----

// CHECK: reduce_seq takes an array, but x is f32
%x, %zero = "test.op"() : () -> (f32, i32)
%r = lift.reduce_seq(%sum from %zero, %e in %x) : (i32, f32) -> i32 {
  lift.yield %sum : i32
}

// -----

// CHECK: reduce_seq_unroll takes an array, but x is f32
%x, %zero = "test.op"() : () -> (f32, i32)
%r = lift.reduce_seq_unroll(%sum from %zero, %e in %x) : (i32, f32) -> i32 {
  lift.yield %sum : i32
}

// -----

// CHECK: iterate(N) gives another type each time: its count must be a number
%x = "test.op"() : () -> (tensor<8xf32>)
%r = lift.iterate(N)(%v : tensor<?xf32, #lift.sizes<n>> from %x) : (tensor<8xf32>) -> tensor<4xf32> {
  %h = lift.slice(0, n / 2) %v : (tensor<?xf32, #lift.sizes<n>>) -> tensor<?xf32, #lift.sizes<n / 2>>
  lift.yield %h : tensor<?xf32, #lift.sizes<n / 2>>
}

// -----

// CHECK: an array cannot have 1 / 2 elements
%x = "test.op"() : () -> (tensor<8xf32>)
%r = lift.iterate(4)(%v : tensor<?xf32, #lift.sizes<n>> from %x) : (tensor<8xf32>) -> tensor<1xf32> {
  %h = lift.slice(0, n / 2) %v : (tensor<?xf32, #lift.sizes<n>>) -> tensor<?xf32, #lift.sizes<n / 2>>
  lift.yield %h : tensor<?xf32, #lift.sizes<n / 2>>
}

// -----

// CHECK: N is the name of a size outside of iterate: its function needs another name for the size that changes
%x = "test.op"() : () -> (tensor<?xf32, #lift.sizes<2*N>>)
%r = lift.iterate(1)(%v : tensor<?xf32, #lift.sizes<N>> from %x) : (tensor<?xf32, #lift.sizes<2*N>>) -> tensor<?xf32, #lift.sizes<N>> {
  %h = lift.slice(0, N / 2) %v : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N / 2>>
  lift.yield %h : tensor<?xf32, #lift.sizes<N / 2>>
}

// -----

// CHECK: N is the name of a size outside of iterate
%x, %y = "test.op"() : () -> (tensor<8xf32>, tensor<?xf32, #lift.sizes<N>>)
%r = lift.iterate(1)(%v : tensor<?xf32, #lift.sizes<N>> from %x) : (tensor<8xf32>) -> tensor<4xf32> {
  %z = lift.zip %v, %y : (tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<N>>
  %h = lift.slice(0, N / 2) %v : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N / 2>>
  lift.yield %h : tensor<?xf32, #lift.sizes<N / 2>>
}

// -----

// CHECK: the function of iterate takes tensor<8xi32>, but gets tensor<8xf32>
%x = "test.op"() : () -> (tensor<8xf32>)
%r = lift.iterate(1)(%v : tensor<8xi32> from %x) : (tensor<8xf32>) -> tensor<8xi32> {
  lift.yield %v : tensor<8xi32>
}

// -----

// CHECK: search looks for an element of x, which is i32, but else gives f32
%x, %none = "test.op"() : () -> (tensor<8xi32>, f32)
%r = lift.search(linear)(%e in %x else %none) : (tensor<8xi32>, f32) -> i32 {
  lift.yield %e : i32
}

// -----

// CHECK: the function of search gives f32, which is no integer
%x, %none = "test.op"() : () -> (tensor<8xf32>, f32)
%r = lift.search(linear)(%e in %x else %none) : (tensor<8xf32>, f32) -> f32 {
  lift.yield %e : f32
}

// -----

// Values.

// CHECK: zip takes at least two arrays
%x = "test.op"() : () -> (tensor<8xf32>)
%r = lift.zip %x : (tensor<8xf32>) -> tensor<8xtuple<f32>>

// -----

// CHECK: zip takes arrays of the same size, but x has N elements and y has M
%x, %y = "test.op"() : () -> (tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<M>>)
%r = lift.zip %x, %y : (tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<M>>) -> tensor<8xtuple<f32, f32>>

// -----

// CHECK: tuple gives tuple<f32> here, not tuple<i32>
%x = "test.op"() : () -> (f32)
%r = lift.tuple %x : (f32) -> tuple<i32>

// -----

// CHECK: get takes a tuple, but x is f32
%x = "test.op"() : () -> (f32)
%r = lift.get(0) %x : (f32) -> f32

// -----

// CHECK: x has 2 components: there is no get(2)
%x = "test.op"() : () -> (tuple<f32, i32>)
%r = lift.get(2) %x : (tuple<f32, i32>) -> f32

// -----

// CHECK: the index of at is f32, which is no integer
%x, %i = "test.op"() : () -> (tensor<8xf32>, f32)
%r = lift.at %x, %i : (tensor<8xf32>, f32) -> f32

// -----

// CHECK: x has no elements
%x, %i = "test.op"() : () -> (tensor<0xf32>, index)
%r = lift.at %x, %i : (tensor<0xf32>, index) -> f32

// -----

// CHECK: a size or a place from the end is -1; it must be an integer of at least 0
%r = lift.size(-1) : () -> index

// -----

// CHECK: generate gives an array with 2 axes or more, not tensor<8xindex>
%r = lift.generate(%i, %j) : () -> tensor<8xindex> {
  lift.yield %i : index
}

// -----

// CHECK: the function of generate takes at least one index
%c = "test.op"() : () -> (f32)
%r = lift.generate() : () -> tensor<8xf32> {
  lift.yield %c : f32
}

// -----

// CHECK: generate gives tensor<8xindex> here, not tensor<8xf32>
%r = lift.generate(%i) : () -> tensor<8xf32> {
  lift.yield %i : index
}

// -----

// CHECK: let gives f32 here, not i32
%x = "test.op"() : () -> (f32)
%r = lift.let(%y be %x) : (f32) -> i32 {
  lift.yield %y : f32
}

// -----

// CHECK: to_global gives tensor<8xf32> here, not tensor<8xi32>
%x = "test.op"() : () -> (tensor<8xf32>)
%r = lift.to_global %x : (tensor<8xf32>) -> tensor<8xi32>

// -----

// CHECK: to_private gives tensor<8xf32> here, not tensor<8xi32>
%x = "test.op"() : () -> (tensor<8xf32>)
%r = lift.to_private %x : (tensor<8xf32>) -> tensor<8xi32>

// -----

// CHECK: map_wrg takes an array, but x is f32
%x = "test.op"() : () -> (f32)
%r = lift.map_wrg(0)(%e in %x) : (f32) -> f32 {
  lift.yield %e : f32
}

// -----

// CHECK: map_lcl takes an array, but x is f32
%x = "test.op"() : () -> (f32)
%r = lift.map_lcl(0)(%e in %x) : (f32) -> f32 {
  lift.yield %e : f32
}

// -----

// CHECK: map_warp takes an array, but x is f32
%x = "test.op"() : () -> (f32)
%r = lift.map_warp(%e in %x) : (f32) -> f32 {
  lift.yield %e : f32
}

// -----

// CHECK: map_lane takes an array, but x is f32
%x = "test.op"() : () -> (f32)
%r = lift.map_lane(%e in %x) : (f32) -> f32 {
  lift.yield %e : f32
}

// -----

// CHECK: map_seq_unroll takes an array, but x is f32
%x = "test.op"() : () -> (f32)
%r = lift.map_seq_unroll(%e in %x) : (f32) -> f32 {
  lift.yield %e : f32
}

// -----

// CHECK: map_glb takes an array, but x is f32
%x = "test.op"() : () -> (f32)
%r = lift.map_glb(0)(%e in %x) : (f32) -> f32 {
  lift.yield %e : f32
}

// -----

// CHECK: to_local gives tensor<8xf32> here, not tensor<8xi32>
%x = "test.op"() : () -> (tensor<8xf32>)
%r = lift.to_local %x : (tensor<8xf32>) -> tensor<8xi32>

// -----

// CHECK: scatter(i -> ((2*i) mod 8)) writes the element 0 more than once
func.func @not_a_permutation(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = lift.scatter(i -> (2 * i) mod 8) %x : (tensor<8xf32>) -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}

// -----

// CHECK: gather(i -> i + 1) is 8 for the index 7, outside of an array of 8 elements
func.func @outside(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = lift.gather(i -> i + 1) %x : (tensor<8xf32>) -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}
