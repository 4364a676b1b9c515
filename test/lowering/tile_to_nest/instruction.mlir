// RUN: tile-opt %s -p tile-to-nest | filecheck %s
// RUN: tile-opt %s -p tile-to-nest | tile-opt | filecheck %s
// RUN: tile-opt %s -p tile-to-gpu -t opencl | filecheck %s --check-prefix=OPENCL
// RUN: tile-opt %s -p tile-to-gpu | tile-opt -t opencl | filecheck %s --check-prefix=OPENCL

// A lane reads the elements that the instruction has in its registers, from memory or from a tile.
// CHECK:      nest.for %i : local.x to 8 {
// CHECK-NEXT:   nest.for %j : local.x to 4 {
// CHECK:          nest.for %k : serial to 2 {
// CHECK-NEXT:       [[A0:%.*]] = nest.load %a[%i, 8*%k + %j]
// CHECK-NEXT:       [[A1:%.*]] = nest.load %a[%i + 8, 8*%k + %j]
// CHECK-NEXT:       [[A2:%.*]] = nest.load %a[%i, 8*%k + %j + 4]
// CHECK-NEXT:       [[A3:%.*]] = nest.load %a[%i + 8, 8*%k + %j + 4]
// CHECK-NEXT:       [[B0:%.*]] = nest.load %b_tile[8*%k + %j, %i]
// CHECK-NEXT:       [[B1:%.*]] = nest.load %b_tile[8*%k + %j + 4, %i]
// CHECK-NEXT:       [[C0:%.*]] = nest.load %acc[0, 0]
// CHECK-NEXT:       [[C1:%.*]] = nest.load %acc[0, 1]
// CHECK-NEXT:       [[C2:%.*]] = nest.load %acc[1, 0]
// CHECK-NEXT:       [[C3:%.*]] = nest.load %acc[1, 1]
// CHECK-NEXT:       [[D0:%.*]], [[D1:%.*]], [[D2:%.*]], [[D3:%.*]] = nest.instruction mma_m16n8k8_tf32([[C0]], [[C1]], [[C2]], [[C3]])([[A0]], [[A1]], [[A2]], [[A3]], [[B0]], [[B1]])
// CHECK-NEXT:       nest.store [[D0]], %acc[0, 0]
// CHECK-NEXT:       nest.store [[D1]], %acc[0, 1]

// OPENCL:      static inline void mma_m16n8k8_tf32(
// OPENCL:          asm volatile(
// OPENCL-NEXT:         "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
// OPENCL-NEXT:         "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
// OPENCL-NEXT:         : "+f"(*d0), "+f"(*d1), "+f"(*d2), "+f"(*d3)
// OPENCL:      __kernel __attribute__((reqd_work_group_size(32, 1, 1))) void product_0_C(
// OPENCL:          int item_x = get_local_id(0);
// OPENCL-NEXT:     int i = item_x >> 2;
// OPENCL-NEXT:     int j = item_x & 3;
// OPENCL:          float acc = 0.0f;
// OPENCL:          for (int k = 0; k < 2; ++k) {
// OPENCL-NEXT:         int v_2 = v + k * 8;
// OPENCL-NEXT:         int v_3 = v_1 + k * 128;
// OPENCL-NEXT:         mma_m16n8k8_tf32(&acc, &acc_1, &acc_2, &acc_3, a[v_2], a[v_2 + 128], a[v_2 + 4], a[v_2 + 132], b_tile[v_3], b_tile[v_3 + 64]);
// OPENCL-NEXT:     }
// OPENCL-NEXT:     float2 v_2 = (float2)(acc);
// OPENCL-NEXT:     v_2.s1 = acc_1;
func.func @product(%A: tensor<16x16xf32> {tile.name = "A"}, %B: tensor<16x8xf32> {tile.name = "B"}) -> (tensor<16x8xf32> {tile.name = "C"}) {
  %C = tile.kernel(%a = %A : tensor<16x16xf32>, %b = %B : tensor<16x8xf32>) -> tensor<16x8xf32> schedule <local.x i : 8, local.x 2*j : 4, serial 8*k : 2, unroll 8*i : 2, unroll k : 8, vector j : 2> instruction mma_m16n8k8_tf32 <i, j, k> stage <%b local pad 8 vector 4> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 16, j = 0 to 8, k = 0 to 16> : (tensor<16x16xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
    tile.yield %c : tensor<16x8xf32>
  }
  func.return %C : tensor<16x8xf32>
}
