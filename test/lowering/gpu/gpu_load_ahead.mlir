// RUN: tile-opt %s -p 'tile-to-nest,nest-pipeline,nest-vectorize,nest-barriers,nest-to-gpu,gpu-count-copies,gpu-load-ahead' | filecheck %s
// RUN: tile-opt %s -p 'tile-to-nest,nest-pipeline,nest-vectorize,nest-barriers,nest-to-gpu,gpu-count-copies,gpu-load-ahead' | tile-opt | filecheck %s

// The first box's factors are there when a step begins; the barrier stands before the second box.
// CHECK:      nest.wait 1
// CHECK-NEXT: "gpu.barrier"
// CHECK:      %ahead, %ahead_1, %ahead_2, %ahead_3 = nest.fragment mma_m16n8k16_f16 operand 0
// CHECK:      %ahead_4, %ahead_5 = nest.fragment mma_m16n8k16_f16 operand 1
// CHECK:      scf.for
// CHECK:        [[A0:%.*]], [[A1:%.*]], [[A2:%.*]], [[A3:%.*]] = nest.fragment mma_m16n8k16_f16 operand 0
// CHECK:        [[B0:%.*]], [[B1:%.*]] = nest.fragment mma_m16n8k16_f16 operand 1
// CHECK-NEXT:   [[C0:%.*]], [[C1:%.*]], [[C2:%.*]], [[C3:%.*]] = nest.instruction mma_m16n8k16_f16({{.*}})(%ahead_6, %ahead_7, %ahead_8, %ahead_9, %ahead_10, %ahead_11)
// CHECK:        nest.copy 8
// CHECK:        nest.commit
// CHECK:        nest.wait 1
// CHECK-NEXT:   "gpu.barrier"
// CHECK:        [[N:%.*]], {{.*}} = nest.fragment mma_m16n8k16_f16 operand 0
// CHECK:        nest.fragment mma_m16n8k16_f16 operand 1
// CHECK-NEXT:   nest.instruction mma_m16n8k16_f16([[C0]], [[C1]], [[C2]], [[C3]])([[A0]], [[A1]], [[A2]], [[A3]], [[B0]], [[B1]])
// CHECK-NEXT:   scf.yield {{.*}}, [[N]],
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"platform" = "NVIDIA CUDA", "compute_capability" = 80 : i64>>} {
  func.func @product(%A: tensor<16x256xf16>, %B: tensor<256x8xf16>) -> tensor<16x8xf16> {
    %C = tile.kernel(%a = %A : tensor<16x256xf16>, %b = %B : tensor<256x8xf16>) -> tensor<16x8xf16> schedule <local.x i : 8, local.x 2*j : 4, serial 32*k : 8, unroll 16*k : 2, unroll 8*i : 2, unroll k : 16, vector j : 2> instruction mma_m16n8k16_f16 <i, j, k> stage <%a local at 32*k async copies 3 rotate 8 vector 8, %b local at 32*k async copies 3 vector 8> {
      %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 16, j = 0 to 8, k = 0 to 256> : (tensor<16x256xf16>, tensor<256x8xf16>) -> tensor<16x8xf16>
      tile.yield %c : tensor<16x8xf16>
    }
    func.return %C : tensor<16x8xf16>
  }
}
