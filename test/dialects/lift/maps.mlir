// RUN: tile-opt %s | tile-opt | filecheck %s
// RUN: tile-opt %s --print-op-generic | tile-opt | filecheck %s
// RUN: xdsl-opt %s | filecheck %s

%x, %m, %v = "test.op"() : () -> (tensor<?xf32, #lift.sizes<N>>, tensor<?x?xf32, #lift.sizes<N, M>>, vector<4xf32>)

// CHECK: %map = lift.map(%e0 in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
// CHECK: %y0 = arith.mulf %e0, %e0 : f32
// CHECK: lift.yield %y0 : f32
// CHECK: }
%map = lift.map(%e0 in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
  %y0 = arith.mulf %e0, %e0 : f32
  lift.yield %y0 : f32
}

// CHECK: %map_glb = lift.map_glb(0)(%e1 in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
// CHECK: %y1 = arith.mulf %e1, %e1 : f32
// CHECK: lift.yield %y1 : f32
// CHECK: }
%map_glb = lift.map_glb(0)(%e1 in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
  %y1 = arith.mulf %e1, %e1 : f32
  lift.yield %y1 : f32
}

// CHECK: %map_wrg = lift.map_wrg(1)(%e2 in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
// CHECK: %y2 = arith.mulf %e2, %e2 : f32
// CHECK: lift.yield %y2 : f32
// CHECK: }
%map_wrg = lift.map_wrg(1)(%e2 in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
  %y2 = arith.mulf %e2, %e2 : f32
  lift.yield %y2 : f32
}

// CHECK: %map_lcl = lift.map_lcl(2)(%e3 in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
// CHECK: %y3 = arith.mulf %e3, %e3 : f32
// CHECK: lift.yield %y3 : f32
// CHECK: }
%map_lcl = lift.map_lcl(2)(%e3 in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
  %y3 = arith.mulf %e3, %e3 : f32
  lift.yield %y3 : f32
}

// CHECK: %map_warp = lift.map_warp(%e4 in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
// CHECK: %y4 = arith.mulf %e4, %e4 : f32
// CHECK: lift.yield %y4 : f32
// CHECK: }
%map_warp = lift.map_warp(%e4 in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
  %y4 = arith.mulf %e4, %e4 : f32
  lift.yield %y4 : f32
}

// CHECK: %map_lane = lift.map_lane(%e5 in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
// CHECK: %y5 = arith.mulf %e5, %e5 : f32
// CHECK: lift.yield %y5 : f32
// CHECK: }
%map_lane = lift.map_lane(%e5 in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
  %y5 = arith.mulf %e5, %e5 : f32
  lift.yield %y5 : f32
}

// CHECK: %map_seq = lift.map_seq(%e6 in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
// CHECK: %y6 = arith.mulf %e6, %e6 : f32
// CHECK: lift.yield %y6 : f32
// CHECK: }
%map_seq = lift.map_seq(%e6 in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
  %y6 = arith.mulf %e6, %e6 : f32
  lift.yield %y6 : f32
}

// CHECK: %map_seq_unroll = lift.map_seq_unroll(%e7 in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
// CHECK: %y7 = arith.mulf %e7, %e7 : f32
// CHECK: lift.yield %y7 : f32
// CHECK: }
%map_seq_unroll = lift.map_seq_unroll(%e7 in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
  %y7 = arith.mulf %e7, %e7 : f32
  lift.yield %y7 : f32
}

// CHECK: %vec = lift.map_vec(%e8 in %v) : (vector<4xf32>) -> vector<4xf32> {
// CHECK: %y8 = arith.mulf %e8, %e8 : f32
// CHECK: lift.yield %y8 : f32
// CHECK: }
%vec = lift.map_vec(%e8 in %v) : (vector<4xf32>) -> vector<4xf32> {
  %y8 = arith.mulf %e8, %e8 : f32
  lift.yield %y8 : f32
}

// CHECK: %seq_slide = lift.map_seq_slide(3, 1)(%w in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x3xf32, #lift.sizes<N - 2>> {
// CHECK: lift.yield %w : tensor<3xf32>
// CHECK: }
%seq_slide = lift.map_seq_slide(3, 1)(%w in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x3xf32, #lift.sizes<N - 2>> {
  lift.yield %w : tensor<3xf32>
}

// CHECK: %rows = lift.map(%row in %m) : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N, M>> attributes {note = 1 : i64} {
// CHECK: %exp = tile.exp %row : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>>
// CHECK: lift.yield %exp : tensor<?xf32, #lift.sizes<M>>
// CHECK: }
%rows = lift.map(%row in %m) : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N, M>> attributes {note = 1 : i64} {
  %exp = tile.exp %row : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>>
  lift.yield %exp : tensor<?xf32, #lift.sizes<M>>
}
