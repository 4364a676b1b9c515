// RUN: tile-opt %s -p 'tile-bounds,tile-fuse' | filecheck %s
// RUN: tile-opt %s -p 'tile-bounds,tile-fuse,tile-loop-tiling,tile-to-gpu' -t opencl | filecheck %s --check-prefix=CODE

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "type" = "cpu", "platform" = "Intel(R) OpenCL", "compute_units" = 2 : i64, "native_vector_width" = 16 : i64>>} {

// Cores read neighbours again from the nearest cache, as vectors that begin anywhere; those at the
// edges, some of whose lanes would be outside, are halved.
// CHECK-LABEL: func.func @difference
// CHECK:         tile.kernel(%[[X:.*]] = %X : tensor<64x65xf32>) -> tensor<64x65xf32> {
// CHECK-NEXT:      %[[A:.*]] = tile.contraction add(%[[X]][i, j + 1])
// CHECK-NEXT:      %[[B:.*]] = tile.contraction add(%[[X]][i, j - 1])
// CHECK-NEXT:      tile.sub %[[A]], %[[B]]
// CODE:         vstore16(0.0f + vload16(0, X + {{.*}} + 1) - (0.0f + vload16(0, X + {{.*}} - 1))
// CODE:         vstore2
// CODE:         vstore4
// CODE:         vstore8
func.func @difference(%X: tensor<64x65xf32>) -> tensor<64x65xf32> {
  %A = tile.contraction add(%X[i, j + 1]) -> [i, j] : (tensor<64x65xf32>) -> tensor<64x65xf32>
  %B = tile.contraction add(%X[i, j - 1]) -> [i, j] : (tensor<64x65xf32>) -> tensor<64x65xf32>
  %D = tile.sub %A, %B : (tensor<64x65xf32>, tensor<64x65xf32>) -> tensor<64x65xf32>
  func.return %D : tensor<64x65xf32>
}

// Parts beside one another are one kernel: vectors that are in one part as a whole read that alone.
// CHECK-LABEL: func.func @rolled
// CHECK:         tile.kernel
// CHECK-NEXT:      tile.contraction assign
// CHECK-NEXT:      tile.contraction assign
// CHECK-NEXT:      tile.yield
// CHECK-NOT:     tile.kernel
// CODE-LABEL: rolled_0_B(
// CODE:          if (1 <= d1) {
// CODE-NEXT:       vstore16(vload16(0, X + {{.*}} - 3)
// CODE:          } else {
// CODE-NEXT:       vstore2(vload2(0, X + {{.*}} + 61), 0, B + {{.*}});
// CODE-NEXT:       B[{{.*}} + 2] = (X + {{.*}})[63];
// CODE-NEXT:       B[{{.*}} + 3] = X[{{.*}}];
// CODE-NEXT:       vstore4(vload4(0, X + {{.*}} + 1)
// CODE-NEXT:       vstore8(vload8(0, X + {{.*}} + 5)
func.func @rolled(%X: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %A = tile.contraction assign(%X[i, j - 3]) -> [i, j] : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %B = tile.contraction assign(%X[i, j + 61]) -> [i, j] default %A
       : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %B : tensor<64x64xf32>
}

// A copy of parts reads what they read, and what is turned around is a vector's lanes turned around.
// CHECK-LABEL: func.func @turned
// CHECK:         tile.kernel
// CHECK-COUNT-3:   tile.contraction assign
// CHECK-NOT:     tile.kernel
// CODE-LABEL: turned_0_C(
// CODE:          for (int d1 = 0; d1 < 2; ++d1) {
// CODE:            .sfedcba9876543210
// CODE:          for (int d1 = 2; d1 < 4; ++d1) {
func.func @turned(%X: tensor<64x64xf32>) -> tensor<64x128xf32> {
  %A = tile.contraction assign(%X[i, -j + 63]) -> [i, j] : (tensor<64x64xf32>) -> tensor<64x128xf32>
  %B = tile.contraction assign(%X[i, j - 64]) -> [i, j] default %A
       : (tensor<64x64xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  %C = tile.contraction assign(%B[-i + 63, j]) -> [i, j] : (tensor<64x128xf32>) -> tensor<64x128xf32>
  func.return %C : tensor<64x128xf32>
}

// The numbers of pairs are shuffled from two vectors; what a pair is made of is one kernel.
// CHECK-LABEL: func.func @pairs
// CHECK-COUNT-2: tile.kernel
// CHECK-NOT:     tile.kernel
// CODE-LABEL: pairs_0_
// CODE:          float16 A = vload16(0, X + [[P:.*]]);
// CODE-NEXT:     float16 A_1 = vload16(0, X + [[P]] + 15);
// CODE-NEXT:     (float16)(A.s0, A.s2, {{.*}} A_1.s1, A_1.s3, {{.*}});
func.func @pairs(%X: tensor<64x64x2xf32>) -> tensor<64x64x2xf32> {
  %A = tile.contraction assign(%X[i, j, 0]) -> [i, j] : (tensor<64x64x2xf32>) -> tensor<64x64xf32>
  %B = tile.contraction assign(%X[i, j, 1]) -> [i, j] : (tensor<64x64x2xf32>) -> tensor<64x64xf32>
  %C = tile.mul %A, %B : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %D = tile.add %A, %B : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %E = tile.contraction assign(%C[i, j]) -> [i, j, 0] : (tensor<64x64xf32>) -> tensor<64x64x2xf32>
  %F = tile.contraction assign(%D[i, j]) -> [i, j, 1] default %E
       : (tensor<64x64xf32>, tensor<64x64x2xf32>) -> tensor<64x64x2xf32>
  func.return %F : tensor<64x64x2xf32>
}
}
