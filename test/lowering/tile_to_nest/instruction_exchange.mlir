// RUN: tile-opt %s -p tile-to-nest | filecheck %s
// RUN: tile-opt %s -p tile-to-gpu -t opencl | filecheck %s --check-prefix=OPENCL

// Neighbours exchange sums of two boxes beside one another, and store four elements where they had two;
// the loops of the box may stand before all loops over the sum.
// CHECK:      [[ODD:%.*]] = arith.cmpi eq
// CHECK-NEXT: [[A:%.*]] = nest.load %acc[0, 0, 0]
// CHECK-NEXT: [[B:%.*]] = nest.load %acc[0, 1, 0]
// CHECK-NEXT: [[GIVEN:%.*]] = arith.select [[ODD]], [[A]], [[B]] : f32
// CHECK-NEXT: [[OTHER:%.*]] = nest.shuffle [[GIVEN]] xor 1 in 32 : f32
// CHECK-NEXT: [[FIRST:%.*]] = arith.select [[ODD]], [[OTHER]], [[A]] : f32
// CHECK-NEXT: nest.store [[FIRST]], %acc[0, 0, 0]
// CHECK-NEXT: [[SECOND:%.*]] = arith.select [[ODD]], [[B]], [[OTHER]] : f32
// CHECK-NEXT: nest.store [[SECOND]], %acc[0, 1, 0]
// CHECK:      nest.for %row : unroll to 2 {
// CHECK-NEXT:   nest.for %lane : vector to 4 {

// OPENCL:     float other = as_float(shuffle_xor(as_int(v_11 ? acc : acc_2), 1));
// OPENCL:     vstore_half4_rte(v_12, 0, c + v_13);
// OPENCL:     vstore_half4_rte(v_14, 0, c + v_13 + 128);
func.func @product(%A: tensor<16x16xf16> {tile.name = "A"}, %B: tensor<16x16xf16> {tile.name = "B"}) -> (tensor<16x16xf16> {tile.name = "C"}) {
  %C = tile.kernel(%a = %A : tensor<16x16xf16>, %b = %B : tensor<16x16xf16>) -> tensor<16x16xf16> schedule <local.x i : 8, local.x 2*j : 4, unroll 8*i : 2, unroll 8*j : 2, unroll k : 16, vector j : 2> instruction mma_m16n16k16_f16 <i, j, k> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 16, j = 0 to 16, k = 0 to 16> : (tensor<16x16xf16>, tensor<16x16xf16>) -> tensor<16x16xf16>
    tile.yield %c : tensor<16x16xf16>
  }
  func.return %C : tensor<16x16xf16>
}
