// RUN: tile-opt %s -p tile-to-gpu -t opencl | filecheck %s

// What elementwise ops make of inputs is computed where the contraction would load it.
// CHECK-LABEL: void loaded_0_S(
// CHECK:         for (int j = 0; j < 50; ++j) {
// CHECK:           float y = x[{{.*}}] - b[j];
// CHECK:           acc += y * y;
func.func @loaded(%X: tensor<40x50xf32>, %B: tensor<50xf32>) -> tensor<40xf32> {
  %S = tile.kernel(%x = %X : tensor<40x50xf32>, %b = %B : tensor<50xf32>) -> tensor<40xf32> schedule <local.x i : 40, serial j : 50> {
    %y = tile.sub %x, %b : (tensor<40x50xf32>, tensor<50xf32>) -> tensor<40x50xf32>
    %q = tile.mul %y, %y : (tensor<40x50xf32>, tensor<40x50xf32>) -> tensor<40x50xf32>
    %s = tile.contraction add(%q[i, j]) -> [i] domain <i = 0 to 40, j = 0 to 50> : (tensor<40x50xf32>) -> tensor<40xf32>
    tile.yield %s : tensor<40xf32>
  }
  func.return %S : tensor<40xf32>
}

// Staged, it is computed once for the tile; what is outside of the operand is 0 there.
// CHECK-LABEL: void staged_0_S(
// CHECK:         __local float e_tile[10]
// CHECK:         x_1 = x[{{.*}}];
// CHECK:         e_tile[{{.*}}] = {{.*}} ? exp(x_1) : 0.0f;
// CHECK:         barrier
// CHECK:         acc
// CHECK-NOT:     exp
func.func @staged(%X: tensor<64xf32>) -> tensor<64xf32> {
  %S = tile.kernel(%x = %X : tensor<64xf32>) -> tensor<64xf32>
      schedule <group.x 8*i : 8, local.x i : 8, serial k : 3> stage <%e local> {
    %e = tile.exp %x : (tensor<64xf32>) -> tensor<64xf32>
    %s = tile.contraction add(%e[i + k - 1]) -> [i] where 0 <= k < 3 domain <i = 0 to 64, k = 0 to 3> : (tensor<64xf32>) -> tensor<64xf32>
    tile.yield %s : tensor<64xf32>
  }
  func.return %S : tensor<64xf32>
}

// What it is computed of can be staged, too, with its axes in another order: where points of the
// second set are lanes, none of them is tested in the loop, as the copy has zeros beyond them.
// CHECK-LABEL: void pairs_0_S(
// CHECK:         __local float b_tile[56]
// CHECK:         for (int t = 0; t < 8; ++t) {
// CHECK:           bool [[INSIDE:.*]] = t < 5;
// CHECK:           b_tile[t + t_1 * 8] =
// CHECK:         for (int k = 0; k < 7; ++k) {
// CHECK-NEXT:      float4 x = a[{{.*}}] - *(const __local float4 *)(b_tile + k * 8);
// CHECK-NEXT:      acc += x * x;
// CHECK:         for (int k = 0; k < 7; ++k) {
// CHECK-NEXT:      float4 x = a[{{.*}}] - *(const __local float4 *)(b_tile + k * 8 + 4);
// CHECK-NEXT:      acc_1 += x * x;
// CHECK:         s[{{.*}} + 4] = acc_1.s0;
func.func @pairs(%A: tensor<3x1x7xf32>, %B: tensor<1x5x7xf32>) -> tensor<3x5xf32> {
  %S = tile.kernel(%a = %A : tensor<3x1x7xf32>, %b = %B : tensor<1x5x7xf32>) -> tensor<3x5xf32>
      schedule <group.x i : 3, serial 4*j : 2, serial k : 7, vector j : 4> stage <%b local order (0, 2, 1)> {
    %x = tile.sub %a, %b : (tensor<3x1x7xf32>, tensor<1x5x7xf32>) -> tensor<3x5x7xf32>
    %q = tile.mul %x, %x : (tensor<3x5x7xf32>, tensor<3x5x7xf32>) -> tensor<3x5x7xf32>
    %s = tile.contraction add(%q[i, j, k]) -> [i, j] domain <i = 0 to 3, j = 0 to 5, k = 0 to 7> : (tensor<3x5x7xf32>) -> tensor<3x5xf32>
    tile.yield %s : tensor<3x5xf32>
  }
  func.return %S : tensor<3x5xf32>
}
