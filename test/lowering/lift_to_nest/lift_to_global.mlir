// RUN: tile-opt %s -p 'lift-to-nest{index-width=32}' | filecheck %s
// RUN: tile-opt %s -p 'lift-to-gpu{index-width=32}' -t opencl | filecheck %s --check-prefix=OPENCL
// RUN: tile-opt %s -p 'lift-to-nest{index-width=32 local-size=16}' | filecheck %s --check-prefix=SMALL
// RUN: tile-opt %s -p 'lift-to-gpu{index-width=32 local-size=16}' | filecheck %s --check-prefix=SMALL

// What a work-group keeps in global memory is an argument: the host allocates it for all groups.
// CHECK:      ^bb0(%x: memref<?xf32, 1 : i32>, %map_lcl: memref<?xf32, 1 : i32>, %out: memref<?xf32, 1 : i32>, %N: index, %M: index):
// CHECK:      nest.store %map_lcl_1, %map_lcl[%M*%x_1 + %x_2] : f32, memref<?xf32, 1 : i32>
// CHECK:      %map_lcl_2 = nest.load %map_lcl[%M*%x_1 + %M - %x_5 - 1] : memref<?xf32, 1 : i32>
// CHECK:      nest.shared = array<i64: 1>
// CHECK:      %map_lcl = "gpu.alloc"(%N, %M)
// CHECK:      "gpu.launch_func"
// CHECK:      "gpu.dealloc"(%map_lcl)

// What the program leaves open is shared out among so many work-items.
// SMALL: gpu.known_block_size = array<i32: 16, 1, 1>

// Between the steps of a group nobody waits: each has a place of its own.
// OPENCL:      for (int x_1 = group_x; x_1 < N; x_1 += groups_x) {
// OPENCL-NEXT:     int v = M * x_1;
// OPENCL-NEXT:     for (int x_2 = item_x; x_2 < M; x_2 += 64) {
// OPENCL-NEXT:         int v_1 = v + x_2;
// OPENCL-NEXT:         float x_3 = x[v_1];
// OPENCL-NEXT:         map_lcl[v_1] = x_3 + x_3;
// OPENCL-NEXT:     }
// OPENCL-NEXT:     barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
// OPENCL-NEXT:     int v_1 = M + M * x_1;
// OPENCL-NEXT:     for (int x_2 = item_x; x_2 < M; x_2 += 64) {
// OPENCL-NEXT:         float map_lcl_1 = map_lcl[v_1 - x_2 - 1];
// OPENCL-NEXT:         out[v + x_2] = map_lcl_1 * map_lcl_1;
// OPENCL-NEXT:     }
// OPENCL-NEXT: }
func.func @kept(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.map_wrg(0)(%r in %x) : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %1 = lift.map_lcl(0)(%a in %r) : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %2 = arith.addf %a, %a : f32
      lift.yield %2 : f32
    }
    %3 = lift.to_global %1 : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>>
    %4 = lift.gather(i -> M - i - 1) %3 : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>>
    %5 = lift.map_lcl(0)(%c in %4) : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %6 = arith.mulf %c, %c : f32
      lift.yield %6 : f32
    }
    lift.yield %5 : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %0 : tensor<?x?xf32, #lift.sizes<N, M>>
}
