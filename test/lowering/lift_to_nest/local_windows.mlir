// RUN: tile-opt %s -p 'lift-rewrite{script="%S/../../../examples/derivations/stencil_3d_gpu.txt"},lift-bind{sizes="v=8,w=16,c=16"},tile-specialize{arguments=64x64x64xf32,2xf32},lift-to-gpu' -t opencl | filecheck %s

// The stencil of seven points, its planes in local memory: work-items fetch their elements of a new
// plane while they work on a window, and one barrier a step stands between.
// CHECK:      __kernel __attribute__((reqd_work_group_size(18, 10, 1))) void seven_points_0_map_wrg(
// CHECK-NEXT:     const __global float *restrict space,
// CHECK-NEXT:     const __global float *restrict c,
// CHECK-NEXT:     __global float *restrict out)
// CHECK-NEXT: {
// CHECK-NEXT:     __local float window[720];
// CHECK-NEXT:     int group_x = get_group_id(0);
// CHECK-NEXT:     int group_y = get_group_id(1);
// CHECK-NEXT:     int group_z = get_group_id(2);
// CHECK-NEXT:     int item_x = get_local_id(0);
// CHECK-NEXT:     int item_y = get_local_id(1);
// CHECK-NEXT:     int v = group_z * 16;
// CHECK-NEXT:     int v_1 = group_y * 8 + item_y;
// CHECK-NEXT:     int v_2 = 0 <= v_1 - 1 ? (v_1 - 1 < 64 ? v_1 - 1 : 63) : 0;
// CHECK-NEXT:     int v_3 = group_x * 16 + item_x;
// CHECK-NEXT:     int v_4 = 0 <= v_3 - 1 ? (v_3 - 1 < 64 ? v_3 - 1 : 63) : 0;
// CHECK-NEXT:     int v_5 = item_y * 18 + item_x;
// CHECK-NEXT:     window[v_5] = space[(1 <= group_z ? v - 1 : 0) * 4096 + v_2 * 64 + v_4];
// CHECK-NEXT:     int v_6 = group_z * 65536 + v_2 * 64 + v_4;
// CHECK-NEXT:     window[v_5 + 180] = space[v_6];
// CHECK-NEXT:     window[v_5 + 360] = space[v_6 + 4096];
// CHECK-NEXT:     int v_7 = v_2 * 64 + v_4;
// CHECK-NEXT:     bool v_8 = item_y < 8;
// CHECK-NEXT:     bool v_9 = item_x < 16;
// CHECK-NEXT:     int v_10 = group_z * 65536 + group_y * 512 + item_y * 64 + group_x * 16 + item_x;
// CHECK-NEXT:     for (int i = 0; i < 16; ++i) {
// CHECK-NEXT:         bool v_11 = i < 15;
// CHECK-NEXT:         int v_12 = v + i;
// CHECK-NEXT:         int v_13 = v_7 + (v_12 + 2 < 64 ? v_12 + 2 : 63) * 4096;
// CHECK-NEXT:         float fetched;
// CHECK-NEXT:         if (v_11) {
// CHECK-NEXT:             fetched = space[v_13];
// CHECK-NEXT:         } else {
// CHECK-NEXT:             fetched = 0.0f;
// CHECK-NEXT:         }
// CHECK-NEXT:         barrier(CLK_LOCAL_MEM_FENCE);
// CHECK-NEXT:         int v_14 = v_5 + (i & 3) * 180;
// CHECK-NEXT:         int v_15 = v_5 + ((i + 2) & 3) * 180;
// CHECK-NEXT:         int v_16 = v_5 + ((i + 1) & 3) * 180;
// CHECK-NEXT:         int v_17 = v_10 + i * 4096;
// CHECK-NEXT:         if (v_8) {
// CHECK-NEXT:             if (v_9) {
// CHECK-NEXT:                 float v_18 = window[v_14 + 19] + window[v_15 + 19] + window[v_16 + 1] + window[v_16 + 37] + window[v_16 + 18] + window[v_16 + 20];
// CHECK-NEXT:                 out[v_17] = c[0] * window[v_16 + 19] + c[1] * v_18;
// CHECK-NEXT:             }
// CHECK-NEXT:         }
// CHECK-NEXT:         int v_18 = v_5 + ((i + 3) & 3) * 180;
// CHECK-NEXT:         if (v_11) {
// CHECK-NEXT:             window[v_18] = fetched;
// CHECK-NEXT:         }
// CHECK-NEXT:     }
// CHECK-NEXT: }
func.func @seven_points(%space: tensor<?x?x?xf32, #lift.sizes<L, M, N>> {tile.name = "space"}, %c: tensor<2xf32> {tile.name = "c"}) -> (tensor<?x?x?xf32, #lift.sizes<L, M, N>> {tile.name = "out"}) {
  %0 = lift.pad(1, 1, clamp) %space : (tensor<?x?x?xf32, #lift.sizes<L, M, N>>) -> tensor<?x?x?xf32, #lift.sizes<L + 2, M, N>>
  %1 = lift.map(%2 in %0) : (tensor<?x?x?xf32, #lift.sizes<L + 2, M, N>>) -> tensor<?x?x?xf32, #lift.sizes<L + 2, M + 2, N + 2>> {
    %3 = lift.pad(1, 1, clamp) %2 : (tensor<?x?xf32, #lift.sizes<M, N>>) -> tensor<?x?xf32, #lift.sizes<M + 2, N>>
    %4 = lift.map(%5 in %3) : (tensor<?x?xf32, #lift.sizes<M + 2, N>>) -> tensor<?x?xf32, #lift.sizes<M + 2, N + 2>> {
      %6 = lift.pad(1, 1, clamp) %5 : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N + 2>>
      lift.yield %6 : tensor<?xf32, #lift.sizes<N + 2>>
    }
    lift.yield %4 : tensor<?x?xf32, #lift.sizes<M + 2, N + 2>>
  }
  %7 = lift.map(%8 in %1) : (tensor<?x?x?xf32, #lift.sizes<L + 2, M + 2, N + 2>>) -> tensor<?x?x?x3x3xf32, #lift.sizes<L + 2, M, N>> {
    %9 = lift.map(%10 in %8) : (tensor<?x?xf32, #lift.sizes<M + 2, N + 2>>) -> tensor<?x?x3xf32, #lift.sizes<M + 2, N>> {
      %11 = lift.slide(3, 1) %10 : (tensor<?xf32, #lift.sizes<N + 2>>) -> tensor<?x3xf32, #lift.sizes<N>>
      lift.yield %11 : tensor<?x3xf32, #lift.sizes<N>>
    }
    %12 = lift.slide(3, 1) %9 : (tensor<?x?x3xf32, #lift.sizes<M + 2, N>>) -> tensor<?x3x?x3xf32, #lift.sizes<M, N>>
    %13 = lift.map(%14 in %12) : (tensor<?x3x?x3xf32, #lift.sizes<M, N>>) -> tensor<?x?x3x3xf32, #lift.sizes<M, N>> {
      %15 = lift.transpose %14 : (tensor<3x?x3xf32, #lift.sizes<N>>) -> tensor<?x3x3xf32, #lift.sizes<N>>
      lift.yield %15 : tensor<?x3x3xf32, #lift.sizes<N>>
    }
    lift.yield %13 : tensor<?x?x3x3xf32, #lift.sizes<M, N>>
  }
  %16 = lift.slide(3, 1) %7 : (tensor<?x?x?x3x3xf32, #lift.sizes<L + 2, M, N>>) -> tensor<?x3x?x?x3x3xf32, #lift.sizes<L, M, N>>
  %17 = lift.map(%18 in %16) : (tensor<?x3x?x?x3x3xf32, #lift.sizes<L, M, N>>) -> tensor<?x?x?x3x3x3xf32, #lift.sizes<L, M, N>> {
    %19 = lift.transpose %18 : (tensor<3x?x?x3x3xf32, #lift.sizes<M, N>>) -> tensor<?x3x?x3x3xf32, #lift.sizes<M, N>>
    %20 = lift.map(%21 in %19) : (tensor<?x3x?x3x3xf32, #lift.sizes<M, N>>) -> tensor<?x?x3x3x3xf32, #lift.sizes<M, N>> {
      %22 = lift.transpose %21 : (tensor<3x?x3x3xf32, #lift.sizes<N>>) -> tensor<?x3x3x3xf32, #lift.sizes<N>>
      lift.yield %22 : tensor<?x3x3x3xf32, #lift.sizes<N>>
    }
    lift.yield %20 : tensor<?x?x3x3x3xf32, #lift.sizes<M, N>>
  }
  %23 = lift.map(%24 in %17) : (tensor<?x?x?x3x3x3xf32, #lift.sizes<L, M, N>>) -> tensor<?x?x?xf32, #lift.sizes<L, M, N>> {
    %25 = lift.map(%26 in %24) : (tensor<?x?x3x3x3xf32, #lift.sizes<M, N>>) -> tensor<?x?xf32, #lift.sizes<M, N>> {
      %27 = lift.map(%w in %26) : (tensor<?x3x3x3xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
        %28 = lift.size(0) : () -> index
        %29 = lift.at %w, %28 : (tensor<3x3x3xf32>, index) -> tensor<3x3xf32>
        %30 = lift.size(1) : () -> index
        %31 = lift.at %29, %30 : (tensor<3x3xf32>, index) -> tensor<3xf32>
        %32 = lift.size(1) : () -> index
        %33 = lift.at %31, %32 : (tensor<3xf32>, index) -> f32
        %34 = lift.size(2) : () -> index
        %35 = lift.at %w, %34 : (tensor<3x3x3xf32>, index) -> tensor<3x3xf32>
        %36 = lift.size(1) : () -> index
        %37 = lift.at %35, %36 : (tensor<3x3xf32>, index) -> tensor<3xf32>
        %38 = lift.size(1) : () -> index
        %39 = lift.at %37, %38 : (tensor<3xf32>, index) -> f32
        %40 = arith.addf %33, %39 : f32
        %41 = lift.size(1) : () -> index
        %42 = lift.at %w, %41 : (tensor<3x3x3xf32>, index) -> tensor<3x3xf32>
        %43 = lift.size(0) : () -> index
        %44 = lift.at %42, %43 : (tensor<3x3xf32>, index) -> tensor<3xf32>
        %45 = lift.size(1) : () -> index
        %46 = lift.at %44, %45 : (tensor<3xf32>, index) -> f32
        %47 = arith.addf %40, %46 : f32
        %48 = lift.size(1) : () -> index
        %49 = lift.at %w, %48 : (tensor<3x3x3xf32>, index) -> tensor<3x3xf32>
        %50 = lift.size(2) : () -> index
        %51 = lift.at %49, %50 : (tensor<3x3xf32>, index) -> tensor<3xf32>
        %52 = lift.size(1) : () -> index
        %53 = lift.at %51, %52 : (tensor<3xf32>, index) -> f32
        %54 = arith.addf %47, %53 : f32
        %55 = lift.size(1) : () -> index
        %56 = lift.at %w, %55 : (tensor<3x3x3xf32>, index) -> tensor<3x3xf32>
        %57 = lift.size(1) : () -> index
        %58 = lift.at %56, %57 : (tensor<3x3xf32>, index) -> tensor<3xf32>
        %59 = lift.size(0) : () -> index
        %60 = lift.at %58, %59 : (tensor<3xf32>, index) -> f32
        %61 = arith.addf %54, %60 : f32
        %62 = lift.size(1) : () -> index
        %63 = lift.at %w, %62 : (tensor<3x3x3xf32>, index) -> tensor<3x3xf32>
        %64 = lift.size(1) : () -> index
        %65 = lift.at %63, %64 : (tensor<3x3xf32>, index) -> tensor<3xf32>
        %66 = lift.size(2) : () -> index
        %67 = lift.at %65, %66 : (tensor<3xf32>, index) -> f32
        %68 = arith.addf %61, %67 : f32
        %69 = lift.size(0) : () -> index
        %70 = lift.at %c, %69 : (tensor<2xf32>, index) -> f32
        %71 = lift.size(1) : () -> index
        %72 = lift.at %w, %71 : (tensor<3x3x3xf32>, index) -> tensor<3x3xf32>
        %73 = lift.size(1) : () -> index
        %74 = lift.at %72, %73 : (tensor<3x3xf32>, index) -> tensor<3xf32>
        %75 = lift.size(1) : () -> index
        %76 = lift.at %74, %75 : (tensor<3xf32>, index) -> f32
        %77 = arith.mulf %70, %76 : f32
        %78 = lift.size(1) : () -> index
        %79 = lift.at %c, %78 : (tensor<2xf32>, index) -> f32
        %80 = arith.mulf %79, %68 : f32
        %81 = arith.addf %77, %80 : f32
        lift.yield %81 : f32
      }
      lift.yield %27 : tensor<?xf32, #lift.sizes<N>>
    }
    lift.yield %25 : tensor<?x?xf32, #lift.sizes<M, N>>
  }
  func.return %23 : tensor<?x?x?xf32, #lift.sizes<L, M, N>>
}
