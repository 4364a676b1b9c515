// RUN: tile-opt %s -p 'tile-bounds,tile-fuse' | filecheck %s
// RUN: tile-opt %s -p 'tile-bounds,tile-fuse,tile-loop-tiling,tile-to-gpu' -t opencl | filecheck %s --check-prefix=CODE

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "type" = "cpu", "platform" = "Intel(R) OpenCL", "compute_units" = 2 : i64, "native_vector_width" = 16 : i64>>} {

// Cores read neighbours again from the nearest cache, as vectors that begin anywhere; those at the
// edges, some of whose lanes would be outside, are halved.
// CHECK-LABEL: func.func @difference
// CHECK:         tile.kernel @{{\w+}}(%[[X:.*]] = %X : tensor<64x65xf32>) -> tensor<64x65xf32> {
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

// The numbers of pairs are shuffled from two vectors, and those that are written to two, in one kernel.
// CHECK-LABEL: func.func @pairs
// CHECK-COUNT-1: tile.kernel
// CHECK-NOT:     tile.kernel
// CHECK:         func.return
// CODE-LABEL: pairs_0_
// CODE:          float16 A = vload16(0, X + [[P:.*]]);
// CODE-NEXT:     float16 A_1 = vload16(1, X + [[P]]);
// CODE-NEXT:     (float16)(A.s0, A.s2, {{.*}} A_1.s0, A_1.s2, {{.*}});
// CODE-NEXT:     (float16)(A.s1, A.s3, {{.*}} A_1.s1, A_1.s3, {{.*}});
// CODE:          (float16)([[C:.*]].s0, [[D:.*]].s0, [[C]].s1, [[D]].s1, {{.*}});
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

// One of the numbers alone may be at the end of memory: nothing is read after it.
// CODE-LABEL: every_other_0_
// CODE:          float16 [[A:.*]] = vload16(0, X + [[P:.*]]);
// CODE-NEXT:     float16 [[B:.*]] = vload16(0, X + [[P]] + 15);
// CODE-NEXT:     (float16)([[A]].s0, [[A]].s2, {{.*}} [[B]].s1, [[B]].s3, {{.*}});
func.func @every_other(%X: tensor<64x64x2xf32>) -> tensor<64x64xf32> {
  %A = tile.contraction assign(%X[i, j, 0]) -> [i, j] : (tensor<64x64x2xf32>) -> tensor<64x64xf32>
  %B = tile.mul %A, %A : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %B : tensor<64x64xf32>
}

// Parts in turns are one kernel also where elementwise ops go on with all of them, and nothing is filled where
// copies leave nothing of it.
// CHECK-LABEL: func.func @filled
// CHECK-COUNT-2: tile.kernel
// CHECK-NOT:     tile.kernel
// CHECK:         func.return
func.func @filled(%X: tensor<64x64xf32>) -> tensor<64x128xf32> {
  %A = tile.contraction assign(%X[i, 0]) -> [i, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %B = tile.contraction assign(%X[i, j - 1]) -> [i, j] default %A
       : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %C = tile.add %X, %B : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %D = tile.contraction assign(%X[i, j]) -> [i, 2*j] : (tensor<64x64xf32>) -> tensor<64x128xf32>
  %E = tile.contraction assign(%C[i, j]) -> [i, 2*j + 1] default %D
       : (tensor<64x64xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  %F = tile.mul %E, %E : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  func.return %F : tensor<64x128xf32>
}

// Parts that are taken otherwise, or of other shapes, are functions that are computed in their places.
// CHECK-LABEL: func.func @no_parts
// CHECK-NEXT:    %E, %F = tile.kernel
// CHECK-NEXT:      %[[S:.*]] = tile.mul
// CHECK-NEXT:      %[[E:.*]] = tile.contraction assign(%[[S]][i, j]) -> [i, j]
// CHECK-NEXT:      %[[F:.*]] = tile.contraction assign(%Y{{.*}}[i, j]) -> [i, j + 64] default %[[E]]
// CHECK-NEXT:      tile.yield %[[E]], %[[F]]
func.func @no_parts(%X: tensor<64x64xf32>, %Y: tensor<64x32xf32>) -> (tensor<64x96xf32>, tensor<64x96xf32>) {
  %S = tile.mul %X, %X : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %E = tile.contraction assign(%S[i, j]) -> [i, j] : (tensor<64x64xf32>) -> tensor<64x96xf32>
  %F = tile.contraction assign(%Y[i, j]) -> [i, j + 64] default %E
       : (tensor<64x32xf32>, tensor<64x96xf32>) -> tensor<64x96xf32>
  func.return %E, %F : tensor<64x96xf32>, tensor<64x96xf32>
}
}
