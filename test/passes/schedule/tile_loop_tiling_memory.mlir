// RUN: tile-opt %s -p tile-bounds,tile-fuse,tile-loop-tiling --split-input-file | filecheck %s

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<
    "platform" = "NVIDIA CUDA", "compute_units" = 132 : i64, "max_work_group_size" = 1024 : i64,
    "local_mem_size" = 49152 : i64>>} {

// Neighbours have neighbouring accesses of 16 bytes, and each work-item several.
// CHECK: @chain
// CHECK: schedule <group.y d0 : 4096, group.x {{[0-9]+}}*d1 : {{[0-9]+}}, local.x 4*d1 : {{[0-9]+}}, unroll {{[0-9]+}}*d1 : {{[0-9]+}}, vector d1 : 4>
func.func @chain(%X: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %S = tile.mul %X, %X : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  func.return %S : tensor<4096x4096xf32>
}

// Squares go through local memory, so that both sides are rows.
// CHECK: @transposition
// CHECK: schedule <group.y {{[0-9]+}}*c : {{[0-9]+}}, group.x 64*r : 64, local.x 4*c : {{[0-9]+}}, local.x 4*r : 16, unroll c : 4, vector r : 4>
// CHECK-SAME: stage <%X_{{[0-9]+}} local pad 4 vector 4 order (1, 0)>
func.func @transposition(%X: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %Y = tile.contraction assign(%X[r, c]) -> [c, r] : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  func.return %Y : tensor<4096x4096xf32>
}

// Lanes and work-items share a row.
// CHECK: @row_sums
// CHECK: schedule <group.x {{.*}}r : {{[0-9]+}}, {{.*}}local.x 4*c : {{[0-9]+}}, {{.*}}vector c : 4>
func.func @row_sums(%X: tensor<4096x4096xf32>) -> tensor<4096xf32> {
  %S = tile.contraction add(%X[r, c]) -> [r] : (tensor<4096x4096xf32>) -> tensor<4096xf32>
  func.return %S : tensor<4096xf32>
}

// Neighbours have neighbouring columns, and several of them share the rows.
// CHECK: @column_sums
// CHECK: schedule <group.x {{.*}}c : {{[0-9]+}}, local.y r : {{[0-9]+}}, local.x {{.*}}c : {{[0-9]+}}, serial
func.func @column_sums(%X: tensor<512x65536xf32>) -> tensor<65536xf32> {
  %S = tile.contraction max(%X[r, c]) -> [c] : (tensor<512x65536xf32>) -> tensor<65536xf32>
  func.return %S : tensor<65536xf32>
}

// The row and its exponentials stay in registers, all of it at once.
// CHECK: @softmax
// CHECK: schedule <group.x {{.*}}local.x 4*d1 : {{[0-9]+}}, unroll {{[0-9]+}}*d1 : {{[0-9]+}}, vector d1 : 4>
// CHECK-SAME: stage <%X_{{[0-9]+}} private vector 4, %E private>
func.func @softmax(%X: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %M = tile.contraction max(%X[r, c]) -> [r, 0] : (tensor<4096x4096xf32>) -> tensor<4096x1xf32>
  %D = tile.sub %X, %M : (tensor<4096x4096xf32>, tensor<4096x1xf32>) -> tensor<4096x4096xf32>
  %E = tile.exp %D : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %S = tile.contraction add(%E[r, c]) -> [r, 0] : (tensor<4096x4096xf32>) -> tensor<4096x1xf32>
  %P = tile.div %E, %S : (tensor<4096x4096xf32>, tensor<4096x1xf32>) -> tensor<4096x4096xf32>
  func.return %P : tensor<4096x4096xf32>
}

// What fits no registers is read again in each phase.
// CHECK: @long_rows
// CHECK: schedule <group.x d0 : 512, local.x 4*d1 : {{[0-9]+}}, serial {{[0-9]+}}*d1 : {{[0-9]+}}, unroll {{[0-9]+}}*d1 : 4, vector d1 : 4> {
func.func @long_rows(%X: tensor<512x1048576xf32>) -> tensor<512x1048576xf32> {
  %M = tile.contraction max(%X[i, j]) -> [i, 0] : (tensor<512x1048576xf32>) -> tensor<512x1xf32>
  %D = tile.sub %X, %M : (tensor<512x1048576xf32>, tensor<512x1xf32>) -> tensor<512x1048576xf32>
  func.return %D : tensor<512x1048576xf32>
}

// Many rows of which not all fits keep what is read most often.
// CHECK-LABEL: @rows_kept_in_part
// CHECK: schedule <group.x d0 : 4096, local.x 4*d1 : 512, unroll 2048*d1 : 16, vector d1 : 4> stage <%X{{[_0-9]*}} private vector 4>
func.func @rows_kept_in_part(%X: tensor<4096x32000xf32>, %DY: tensor<4096x32000xf32>) -> tensor<4096x32000xf32> {
  %M = tile.contraction max(%X[i, j]) -> [i, 0] : (tensor<4096x32000xf32>) -> tensor<4096x1xf32>
  %D = tile.sub %X, %M : (tensor<4096x32000xf32>, tensor<4096x1xf32>) -> tensor<4096x32000xf32>
  %P = tile.mul %D, %DY : (tensor<4096x32000xf32>, tensor<4096x32000xf32>) -> tensor<4096x32000xf32>
  %S = tile.contraction add(%P[i, j]) -> [i, 0] : (tensor<4096x32000xf32>) -> tensor<4096x1xf32>
  %Y = tile.sub %P, %S : (tensor<4096x32000xf32>, tensor<4096x1xf32>) -> tensor<4096x32000xf32>
  func.return %Y : tensor<4096x32000xf32>
}

// Sums of one term each are streams, too: gradients of row sums, and of a matrix times a vector.
// CHECK: @broadcast
// CHECK: schedule <group.y i : 4096, group.x {{[0-9]+}}*j : {{[0-9]+}}, local.x 4*j : {{[0-9]+}}, unroll {{[0-9]+}}*j : 2, vector j : 4>
func.func @broadcast(%R: tensor<4096xf32>) -> tensor<4096x4096xf32> {
  %D = tile.contraction add(%R[i]) -> [i, j] : (tensor<4096xf32>) -> tensor<4096x4096xf32>
  func.return %D : tensor<4096x4096xf32>
}

// CHECK: @outer
// CHECK: schedule <group.y i : 4096, group.x {{[0-9]+}}*k : {{[0-9]+}}, local.x 4*k : {{[0-9]+}}, unroll {{[0-9]+}}*k : 2, vector k : 4>
func.func @outer(%Y: tensor<4096xf32>, %X: tensor<4096xf32>) -> tensor<4096x4096xf32> {
  %D = tile.contraction add(%Y[i] mul %X[k]) -> [i, k] : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096x4096xf32>
  func.return %D : tensor<4096x4096xf32>
}

// Taps are written out, and what neighbouring windows have in common is loaded once.
// CHECK: @pool
// CHECK: schedule <{{.*}} local.x 4*c : 16, unroll j : 2, unroll i : 2, {{.*}}vector c : 4>
func.func @pool(%I: tensor<8x112x112x64xf32>) -> tensor<8x56x56x64xf32> {
  %O = tile.contraction max(%I[n, 2*y + j, 2*x + i, c]) -> [n, y, x, c] where 0 <= j < 2, 0 <= i < 2
       : (tensor<8x112x112x64xf32>) -> tensor<8x56x56x64xf32>
  func.return %O : tensor<8x56x56x64xf32>
}

}

// -----

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "platform" = "Portable Computing Language", "compute_units" = 2 : i64,
    "max_work_group_size" = 4096 : i64, "native_vector_width" = 16 : i64>>} {

// A few groups for each core, of one work-item with wide vectors.
// CHECK: @wide
// CHECK: schedule <group.x 128*d0 : 32, serial d0 : 128, serial {{[0-9]+}}*d1 : {{[0-9]+}}, {{.*}}vector d1 : 16>
func.func @wide(%X: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
  %S = tile.mul %X, %X : (tensor<4096x1024xf32>, tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  func.return %S : tensor<4096x1024xf32>
}

// CHECK: @columns
// CHECK: schedule <group.x {{[0-9]+}}*c : {{[0-9]+}}, serial 8*r : 512, serial {{[0-9]+}}*c : {{[0-9]+}}, unroll r : 8, unroll 16*c : {{[0-9]+}}, vector c : 16>
func.func @columns(%X: tensor<4096x1024xf32>) -> tensor<1024xf32> {
  %S = tile.contraction add(%X[r, c]) -> [c] : (tensor<4096x1024xf32>) -> tensor<1024xf32>
  func.return %S : tensor<1024xf32>
}

}
