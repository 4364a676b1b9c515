// RUN: tile-opt %s -p tile-to-nest | filecheck %s
// RUN: tile-opt %s -p tile-to-gpu -t opencl | filecheck %s --check-prefix=OPENCL

// A box of every fourth column: a lane loads its element of four boxes at once, and stores so.
// CHECK:          nest.for %k : serial to 2 {
// CHECK:            [[B0:%[0-9]+]] = nest.load %b_tile[8*%k + %j, 4*%i] : memref<16x32xf32, strided<[40, 1]>, 3 : i32>, vector<4xf32>
// CHECK-NEXT:       [[B00:%.*]] = vector.extract [[B0]][0]
// CHECK-NEXT:       [[B01:%.*]] = vector.extract [[B0]][1]
// CHECK:            [[B1:%[0-9]+]] = nest.load %b_tile[8*%k + %j + 4, 4*%i] : memref<16x32xf32, strided<[40, 1]>, 3 : i32>, vector<4xf32>
// CHECK-NEXT:       [[B10:%.*]] = vector.extract [[B1]][0]
// CHECK-NEXT:       [[B11:%.*]] = vector.extract [[B1]][1]
// CHECK:            nest.load %acc[0, 0, 0]
// CHECK:            nest.instruction mma_m16n8k8_tf32({{.*}}, [[B00]], [[B10]])
// CHECK:            nest.load %acc[0, 0, 1]
// CHECK:            nest.instruction mma_m16n8k8_tf32({{.*}}, [[B01]], [[B11]])

// OPENCL:          float4 [[W0:.*]] = *(const __local float4 *)(b_tile + [[AT:.*]]);
// OPENCL-NEXT:     float4 [[W1:.*]] = *(const __local float4 *)(b_tile + [[AT]] + 160);
// OPENCL-NEXT:     mma_m16n8k8_tf32(&acc, &acc_4, &acc_8, &acc_12, {{.*}}, [[W0]].s0, [[W1]].s0);
// OPENCL-NEXT:     mma_m16n8k8_tf32(&acc_1, &acc_5, &acc_9, &acc_13, {{.*}}, [[W0]].s1, [[W1]].s1);
// OPENCL:          float4 [[SUMS:.*]] = (float4)(acc);
// OPENCL:          [[SUMS]].s3 = acc_3;
// OPENCL:          vstore4([[SUMS]], 0, c + {{.*}});
func.func @product(%A: tensor<16x16xf32> {tile.name = "A"}, %B: tensor<16x32xf32> {tile.name = "B"}) -> (tensor<16x32xf32> {tile.name = "C"}) {
  %C = tile.kernel(%a = %A : tensor<16x16xf32>, %b = %B : tensor<16x32xf32>) -> tensor<16x32xf32> schedule <local.x i : 8, local.x 8*j : 4, serial 8*k : 2, unroll 8*i : 2, unroll 4*j : 2, unroll k : 8, vector j : 4> instruction mma_m16n8k8_tf32 <i, 4*j, k> stage <%b local pad 8 vector 4> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 16, j = 0 to 32, k = 0 to 16> : (tensor<16x16xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
    tile.yield %c : tensor<16x32xf32>
  }
  func.return %C : tensor<16x32xf32>
}
