// RUN: tile-opt %s -p canonicalize | filecheck %s

// CHECK-LABEL: func.func @split_join(
// CHECK-NEXT: func.return %x : tensor<2x4xf32>
func.func @split_join(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %a = lift.join %x : (tensor<2x4xf32>) -> tensor<8xf32>
  %b = lift.split(4) %a : (tensor<8xf32>) -> tensor<2x4xf32>
  func.return %b : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @join_split(
// CHECK-NEXT: func.return %x : tensor<?xf32, #lift.sizes<N>>
func.func @join_split(%x: tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
  %a = lift.split(n) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x?xf32, #lift.sizes<N / n, n>>
  %b = lift.join %a : (tensor<?x?xf32, #lift.sizes<N / n, n>>) -> tensor<?xf32, #lift.sizes<N>>
  func.return %b : tensor<?xf32, #lift.sizes<N>>
}

// Pieces of another size are another array.
// CHECK-LABEL: func.func @other_split(
// CHECK-NEXT: %{{.*}} = lift.join %x
// CHECK-NEXT: %[[R:.*]] = lift.split(2)
// CHECK-NEXT: func.return %[[R]] : tensor<4x2xf32>
func.func @other_split(%x: tensor<2x4xf32>) -> tensor<4x2xf32> {
  %a = lift.join %x : (tensor<2x4xf32>) -> tensor<8xf32>
  %b = lift.split(2) %a : (tensor<8xf32>) -> tensor<4x2xf32>
  func.return %b : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @transposes(
// CHECK-NEXT: func.return %x : tensor<2x4xf32>
func.func @transposes(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %a = lift.transpose %x : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %b = lift.transpose %a : (tensor<4x2xf32>) -> tensor<2x4xf32>
  func.return %b : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @no_padding(
// CHECK-NEXT: func.return %x : tensor<8xf32>
func.func @no_padding(%x: tensor<8xf32>, %c: f32) -> tensor<8xf32> {
  %a = lift.pad(0, 0, wrap) %x : (tensor<8xf32>) -> tensor<8xf32>
  %b = lift.pad_constant(0, 0) %a, %c : (tensor<8xf32>, f32) -> tensor<8xf32>
  func.return %b : tensor<8xf32>
}

// CHECK-LABEL: func.func @whole_slice(
// CHECK-NEXT: func.return %x : tensor<?xf32, #lift.sizes<N>>
func.func @whole_slice(%x: tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
  %a = lift.slice(0, N) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>>
  func.return %a : tensor<?xf32, #lift.sizes<N>>
}

// CHECK-LABEL: func.func @one_array(
// CHECK-NEXT: func.return %x : tensor<8xf32>
func.func @one_array(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = lift.concat %x : (tensor<8xf32>) -> tensor<8xf32>
  func.return %a : tensor<8xf32>
}

// CHECK-LABEL: func.func @reordered(
// CHECK-NEXT: func.return %x : tensor<8xf32>
func.func @reordered(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = lift.scatter(i -> 7 - i) %x : (tensor<8xf32>) -> tensor<8xf32>
  %b = lift.gather(i -> 7 - i) %a : (tensor<8xf32>) -> tensor<8xf32>
  %c = lift.gather(i -> 7 - i) %b : (tensor<8xf32>) -> tensor<8xf32>
  %d = lift.scatter(i -> 7 - i) %c : (tensor<8xf32>) -> tensor<8xf32>
  %e = lift.gather(i -> i) %d : (tensor<8xf32>) -> tensor<8xf32>
  func.return %e : tensor<8xf32>
}

// CHECK-LABEL: func.func @vectors(
// CHECK-NEXT: func.return %x : tensor<8xf32>
func.func @vectors(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = lift.as_vector(4) %x : (tensor<8xf32>) -> tensor<2xvector<4xf32>>
  %b = lift.as_scalar %a : (tensor<2xvector<4xf32>>) -> tensor<8xf32>
  func.return %b : tensor<8xf32>
}

// CHECK-LABEL: func.func @scalars(
// CHECK-NEXT: func.return %x : tensor<2xvector<4xf32>>
func.func @scalars(%x: tensor<2xvector<4xf32>>) -> tensor<2xvector<4xf32>> {
  %a = lift.as_scalar %x : (tensor<2xvector<4xf32>>) -> tensor<8xf32>
  %b = lift.as_vector(4) %a : (tensor<8xf32>) -> tensor<2xvector<4xf32>>
  func.return %b : tensor<2xvector<4xf32>>
}

// CHECK-LABEL: func.func @component(
// CHECK-NEXT: func.return %y : i32
func.func @component(%x: f32, %y: i32) -> i32 {
  %a = lift.tuple %x, %y : (f32, i32) -> tuple<f32, i32>
  %b = lift.get(1) %a : (tuple<f32, i32>) -> i32
  func.return %b : i32
}

// CHECK-LABEL: func.func @identity_map(
// CHECK-NEXT: func.return %x : tensor<8xf32>
func.func @identity_map(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = lift.map(%e in %x) : (tensor<8xf32>) -> tensor<8xf32> {
    lift.yield %e : f32
  }
  func.return %a : tensor<8xf32>
}

// CHECK-LABEL: func.func @unzip(
// CHECK-NEXT: func.return %y : tensor<8xi32>
func.func @unzip(%x: tensor<8xf32>, %y: tensor<8xi32>) -> tensor<8xi32> {
  %z = lift.zip %x, %y : (tensor<8xf32>, tensor<8xi32>) -> tensor<8xtuple<f32, i32>>
  %a = lift.map(%e in %z) : (tensor<8xtuple<f32, i32>>) -> tensor<8xi32> {
    %g = lift.get(1) %e : (tuple<f32, i32>) -> i32
    lift.yield %g : i32
  }
  func.return %a : tensor<8xi32>
}

// CHECK-LABEL: func.func @no_iteration(
// CHECK-NEXT: func.return %x : tensor<8xf32>
func.func @no_iteration(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = lift.iterate(0)(%v : tensor<8xf32> from %x) : (tensor<8xf32>) -> tensor<8xf32> {
    %b = lift.gather(i -> 7 - i) %v : (tensor<8xf32>) -> tensor<8xf32>
    lift.yield %b : tensor<8xf32>
  }
  func.return %a : tensor<8xf32>
}

// Kept in the same memory once is enough.
// CHECK-LABEL: func.func @memory(
// CHECK-NEXT: %[[R:.*]] = lift.to_local %x
// CHECK-NEXT: func.return %[[R]]
func.func @memory(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = lift.to_local %x : (tensor<8xf32>) -> tensor<8xf32>
  %b = lift.to_local %a : (tensor<8xf32>) -> tensor<8xf32>
  func.return %b : tensor<8xf32>
}

// What a work-group copies stays copied.
// CHECK-LABEL: func.func @copy(
// CHECK-NEXT: %[[R:.*]] = lift.map_lcl(0)
// CHECK-NEXT: lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return %[[R]]
func.func @copy(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = lift.map_lcl(0)(%e in %x) : (tensor<8xf32>) -> tensor<8xf32> {
    lift.yield %e : f32
  }
  func.return %a : tensor<8xf32>
}
