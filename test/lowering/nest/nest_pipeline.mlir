// RUN: tile-opt %s -p nest-pipeline | filecheck %s
// RUN: tile-opt %s -p nest-pipeline,nest-barriers | filecheck %s --check-prefix=BARRIERS
// RUN: tile-opt %s -p nest-pipeline,nest-vectorize,nest-barriers,nest-to-gpu -t opencl | filecheck %s --check-prefix=OPENCL

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"platform" = "NVIDIA CUDA", "compute_capability" = 80 : i64>>} {
"gpu.module"() <{sym_name = "m"}> ({
  // Two steps ahead, each a group that is waited for; the tile of the step after next overwrites
  // the last one's, which nobody reads any more after the barrier.
  // CHECK:      %t = nest.buffer async {double = 3 : i64} : memref<3x64x4xf32, 3 : i32>
  // CHECK-NEXT: [[S0:%.*]] = nest.index 0
  // CHECK-NEXT: nest.for %s : unroll to 1 {
  // CHECK-NEXT:   nest.for %l : vector to 4 {
  // CHECK-NEXT:     %a = nest.load %A[%i, 4*[[S0]] + %l]
  // CHECK-NEXT:     nest.store %a, %t[0, %i, %l]
  // CHECK:      nest.commit
  // CHECK-NEXT: [[S1:%.*]] = nest.index 1
  // CHECK:            {{.*}} = nest.load %A[%i, 4*[[S1]] + %l_1]
  // CHECK-NEXT:       nest.store {{.*}}, %t[1, %i, %l_1]
  // CHECK:      nest.commit
  // CHECK-NEXT: nest.for %k : serial to 64 {
  // CHECK-NEXT:   nest.wait 1
  // CHECK-NEXT:   {{.*}} = nest.load %t[(%k mod 3), -%i + 63, 0]
  // CHECK-NEXT:   nest.store
  // CHECK:        [[S2:%.*]] = nest.index %k + 2
  // CHECK-NEXT:   nest.if %k < 62 {
  // CHECK:            {{.*}} = nest.load %A[%i, 4*[[S2]] + %l_2]
  // CHECK-NEXT:       nest.store {{.*}}, %t[((%k + 2) mod 3), %i, %l_2]
  // CHECK:        nest.commit

  // One barrier a step.
  // BARRIERS:      nest.for %k : serial to 64 {
  // BARRIERS-NEXT:   nest.wait 1
  // BARRIERS-NEXT:   "gpu.barrier"() : () -> ()
  // BARRIERS-NOT:    gpu.barrier

  // OPENCL:      __kernel
  // OPENCL:          copy_async_16(t + v_1, A + v);
  // OPENCL-NEXT:     asm volatile("cp.async.commit_group;" ::: "memory");
  // OPENCL:          for (int k
  // OPENCL-NEXT:         asm volatile("cp.async.wait_group 1;" ::: "memory");
  // OPENCL-NEXT:         barrier(CLK_LOCAL_MEM_FENCE);
  // OPENCL:                  copy_async_16(t + v_5, A + v_4 + 8);
  // OPENCL-NEXT:         }
  // OPENCL-NEXT:         asm volatile("cp.async.commit_group;" ::: "memory");
  "gpu.func"() <{function_type = (memref<64x256xf32, 1 : i32>, memref<64x64xf32, 1 : i32>) -> (), kernel}> ({
  ^bb0(%A: memref<64x256xf32, 1 : i32>, %B: memref<64x64xf32, 1 : i32>):
    nest.for %i : local.x to 64 {
      nest.for %k : serial to 64 {
        %t = nest.buffer async copies 3 : memref<64x4xf32, 3 : i32>
        nest.for %s : unroll to 1 {
          nest.for %l : vector to 4 {
            %a = nest.load %A[%i, 4*%k + %l] : memref<64x256xf32, 1 : i32>
            nest.store %a, %t[%i, %l] : f32, memref<64x4xf32, 3 : i32>
          }
        }
        %b = nest.load %t[63 - %i, 0] : memref<64x4xf32, 3 : i32>
        nest.store %b, %B[%i, %k] : f32, memref<64x64xf32, 1 : i32>
      }
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f", gpu.known_block_size = array<i32: 64, 1, 1>} : () -> ()
}) {dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>} : () -> ()
}
