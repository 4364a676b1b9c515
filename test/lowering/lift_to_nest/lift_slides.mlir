// RUN: tile-opt %s -p 'lift-to-gpu{index-width=32}' -t opencl | filecheck %s
// RUN: xdsl-opt %s -p 'lift-to-gpu{index-width=32}' -t opencl | filecheck %s

// The kernels of the tutorial on views, for all sizes, but for names and layout. What differs:
// loops of one step are none; get_global_size is written as its product.

// A stencil of three points: ReduceSeq of Slide(3, 1) of Pad(1, 1, clamp).
// CHECK:      __kernel __attribute__((reqd_work_group_size(64, 1, 1))) void stencil_0_map_glb(
// CHECK-NEXT:     const __global float *restrict input,
// CHECK-NEXT:     __global float *restrict out,
// CHECK-NEXT:     int N)
// CHECK-NEXT: {
// CHECK-NEXT:     int groups_x = get_num_groups(0);
// CHECK-NEXT:     int global_x = get_global_id(0);
// CHECK-NEXT:     for (int x = global_x; x < N; x += groups_x * 64) {
// CHECK-NEXT:         float acc = 0.0f;
// CHECK-NEXT:         for (int k = 0; k < 3; ++k) {
// CHECK-NEXT:             int v = x + k;
// CHECK-NEXT:             acc += input[(0 <= v - 1 ? (v - 1 < N ? v - 1 : N - 1) : 0)];
// CHECK-NEXT:         }
// CHECK-NEXT:         out[x] = acc;
// CHECK-NEXT:     }
// CHECK-NEXT: }
func.func @stencil(%input: tensor<?xf32, #lift.sizes<N>> {tile.name = "input"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.pad(1, 1, clamp) %input : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N + 2>>
  %1 = lift.slide(3, 1) %0 : (tensor<?xf32, #lift.sizes<N + 2>>) -> tensor<?x3xf32, #lift.sizes<N>>
  %2 = lift.map_glb(0)(%3 in %1) : (tensor<?x3xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %4 = arith.constant 0.000000e+00 : f32
    %5 = lift.reduce_seq(%a from %4, %b in %3) : (f32, tensor<3xf32>) -> f32 {
      %6 = arith.addf %a, %b : f32
      lift.yield %6 : f32
    }
    %7 = lift.to_global %5 : (f32) -> f32
    lift.yield %7 : f32
  }
  func.return %2 : tensor<?xf32, #lift.sizes<N>>
}

// The same for tiles in local memory: from the slide "Generated Kernel".
// CHECK:      __kernel __attribute__((reqd_work_group_size(4, 1, 1))) void tiled_0_map_wrg(
// CHECK-NEXT:     const __global float *restrict input,
// CHECK-NEXT:     __global float *restrict out,
// CHECK-NEXT:     int N)
// CHECK-NEXT: {
// CHECK-NEXT:     __local float map_lcl[4];
// CHECK-NEXT:     int groups_x = get_num_groups(0);
// CHECK-NEXT:     int group_x = get_group_id(0);
// CHECK-NEXT:     int item_x = get_local_id(0);
// CHECK-NEXT:     bool v = item_x < 2;
// CHECK-NEXT:     for (int x = group_x; x < (N >> 1); x += groups_x) {
// CHECK-NEXT:         int v_1 = item_x + x * 2;
// CHECK-NEXT:         float input_1 = input[(0 <= v_1 - 1 ? (v_1 - 1 < N ? v_1 - 1 : N - 1) : 0)];
// CHECK-NEXT:         barrier(CLK_LOCAL_MEM_FENCE);
// CHECK-NEXT:         map_lcl[item_x] = input_1;
// CHECK-NEXT:         barrier(CLK_LOCAL_MEM_FENCE);
// CHECK-NEXT:         if (v) {
// CHECK-NEXT:             float acc = 0.0f;
// CHECK-NEXT:             for (int k = 0; k < 3; ++k) {
// CHECK-NEXT:                 acc += map_lcl[item_x + k];
// CHECK-NEXT:             }
// CHECK-NEXT:             out[v_1] = acc;
// CHECK-NEXT:         }
// CHECK-NEXT:     }
// CHECK-NEXT: }
func.func @tiled(%input: tensor<?xf32, #lift.sizes<N>> {tile.name = "input"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.pad(1, 1, clamp) %input : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N + 2>>
  %1 = lift.slide(4, 2) %0 : (tensor<?xf32, #lift.sizes<N + 2>>) -> tensor<?x4xf32, #lift.sizes<N / 2>>
  %2 = lift.map_wrg(0)(%tile in %1) : (tensor<?x4xf32, #lift.sizes<N / 2>>) -> tensor<?x2xf32, #lift.sizes<N / 2>> {
    %3 = lift.map_lcl(0)(%a in %tile) : (tensor<4xf32>) -> tensor<4xf32> {
      lift.yield %a : f32
    }
    %4 = lift.to_local %3 : (tensor<4xf32>) -> tensor<4xf32>
    %5 = lift.slide(3, 1) %4 : (tensor<4xf32>) -> tensor<2x3xf32>
    %6 = lift.map_lcl(0)(%7 in %5) : (tensor<2x3xf32>) -> tensor<2xf32> {
      %8 = arith.constant 0.000000e+00 : f32
      %9 = lift.reduce_seq(%a_1 from %8, %b in %7) : (f32, tensor<3xf32>) -> f32 {
        %10 = arith.addf %a_1, %b : f32
        lift.yield %10 : f32
      }
      %11 = lift.to_global %9 : (f32) -> f32
      lift.yield %11 : f32
    }
    lift.yield %6 : tensor<2xf32>
  }
  %12 = lift.join %2 : (tensor<?x2xf32, #lift.sizes<N / 2>>) -> tensor<?xf32, #lift.sizes<N>>
  func.return %12 : tensor<?xf32, #lift.sizes<N>>
}

// Nine points, unrolled: NW to SE. The predicates that ranges decide are gone.
// CHECK:      __kernel __attribute__((reqd_work_group_size(16, 4, 1))) void nine_0_map_glb(
// CHECK-NEXT:     const __global float *restrict input,
// CHECK-NEXT:     __global float *restrict out,
// CHECK-NEXT:     int N,
// CHECK-NEXT:     int M)
// CHECK-NEXT: {
// CHECK-NEXT:     int groups_x = get_num_groups(0);
// CHECK-NEXT:     int groups_y = get_num_groups(1);
// CHECK-NEXT:     int global_y = get_global_id(1);
// CHECK-NEXT:     int global_x = get_global_id(0);
// CHECK-NEXT:     int v = groups_x * 16;
// CHECK-NEXT:     for (int y = global_y; y < N; y += groups_y * 4) {
// CHECK-NEXT:         int v_1 = M * (0 <= y - 1 ? y - 1 : 0);
// CHECK-NEXT:         int v_2 = M * y;
// CHECK-NEXT:         int v_3 = M * (y + 1 < N ? y + 1 : N - 1);
// CHECK-NEXT:         for (int x = global_x; x < M; x += v) {
// CHECK-NEXT:             int v_4 = 0 <= x - 1 ? x - 1 : 0;
// CHECK-NEXT:             int v_5 = x + 1 < M ? x + 1 : M - 1;
// CHECK-NEXT:             int v_6 = v_2 + x;
// CHECK-NEXT:             float acc = 0.0f + input[v_1 + v_4] + input[v_1 + x] + input[v_1 + v_5] + input[v_2 + v_4] + input[v_6] + input[v_2 + v_5];
// CHECK-NEXT:             out[v_6] = acc + input[v_3 + v_4] + input[v_3 + x] + input[v_3 + v_5];
// CHECK-NEXT:         }
// CHECK-NEXT:     }
// CHECK-NEXT: }
func.func @nine(%input: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "input"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.pad(1, 1, clamp) %input : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N + 2, M>>
  %1 = lift.map(%2 in %0) : (tensor<?x?xf32, #lift.sizes<N + 2, M>>) -> tensor<?x?xf32, #lift.sizes<N + 2, M + 2>> {
    %3 = lift.pad(1, 1, clamp) %2 : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M + 2>>
    lift.yield %3 : tensor<?xf32, #lift.sizes<M + 2>>
  }
  %4 = lift.map(%5 in %1) : (tensor<?x?xf32, #lift.sizes<N + 2, M + 2>>) -> tensor<?x?x3xf32, #lift.sizes<N + 2, M>> {
    %6 = lift.slide(3, 1) %5 : (tensor<?xf32, #lift.sizes<M + 2>>) -> tensor<?x3xf32, #lift.sizes<M>>
    lift.yield %6 : tensor<?x3xf32, #lift.sizes<M>>
  }
  %7 = lift.slide(3, 1) %4 : (tensor<?x?x3xf32, #lift.sizes<N + 2, M>>) -> tensor<?x3x?x3xf32, #lift.sizes<N, M>>
  %8 = lift.map(%9 in %7) : (tensor<?x3x?x3xf32, #lift.sizes<N, M>>) -> tensor<?x?x3x3xf32, #lift.sizes<N, M>> {
    %10 = lift.transpose %9 : (tensor<3x?x3xf32, #lift.sizes<M>>) -> tensor<?x3x3xf32, #lift.sizes<M>>
    lift.yield %10 : tensor<?x3x3xf32, #lift.sizes<M>>
  }
  %11 = lift.map_glb(1)(%12 in %8) : (tensor<?x?x3x3xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %13 = lift.map_glb(0)(%14 in %12) : (tensor<?x3x3xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %15 = lift.join %14 : (tensor<3x3xf32>) -> tensor<9xf32>
      %16 = arith.constant 0.000000e+00 : f32
      %17 = lift.reduce_seq_unroll(%a from %16, %b in %15) : (f32, tensor<9xf32>) -> f32 {
        %18 = arith.addf %a, %b : f32
        lift.yield %18 : f32
      }
      %19 = lift.to_global %17 : (f32) -> f32
      lift.yield %19 : f32
    }
    lift.yield %13 : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %11 : tensor<?x?xf32, #lift.sizes<N, M>>
}
