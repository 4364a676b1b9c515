// RUN: tile-opt %s -p tile-to-gpu -t opencl | filecheck %s

// A softmax that reads each element once: the row stays in registers, its exponentials too.
// CHECK-LABEL: void softmax_0_O(
// CHECK:           __local float partial[32];
// CHECK-NEXT:      __local float partial_1[16];
// CHECK-NEXT:      __local float partial_2[32];
// CHECK-NEXT:      __local float partial_3[16];
// CHECK:           float x_tile = x[v];
// CHECK-NEXT:      float x_tile_1 = x[v + 64];
// CHECK-NEXT:      float m = maximum_or_nan_float(x_tile_1, maximum_with_number_float(x_tile, -INFINITY));
// CHECK:               partial[item_x - 32] = m;
// CHECK-NEXT:      }
// CHECK-NEXT:      barrier(CLK_LOCAL_MEM_FENCE);
// CHECK:           float [[m:.*]] = partial[0];
// CHECK-NEXT:      float e_kept = exp(x_tile - [[m]]);
// CHECK-NEXT:      float e_kept_1 = exp(x_tile_1 - [[m]]);
// CHECK-NEXT:      float s = 0.0f + e_kept + e_kept_1;
// CHECK:               partial_2[item_x - 32] = s;
// CHECK-NEXT:      }
// CHECK-NEXT:      barrier(CLK_LOCAL_MEM_FENCE);
// CHECK:           float [[s:.*]] = partial_2[0];
// CHECK-NEXT:      p[v] = e_kept / [[s]];
// CHECK-NEXT:      p[v + 64] = e_kept_1 / [[s]];
// CHECK-NEXT:  }
func.func @softmax(%X: tensor<8x128xf32>) -> tensor<8x128xf32> {
  %O = tile.kernel(%x = %X : tensor<8x128xf32>) -> tensor<8x128xf32> axes <d0 = 0 to 8, d1 = 0 to 128>
      schedule <group.x d0 : 8, local.x d1 : 64, unroll 64*d1 : 2> stage <%x private, %e private> {
    %m = tile.contraction max(%x[d0, d1]) -> [d0, 0] : (tensor<8x128xf32>) -> tensor<8x1xf32>
    %c = tile.sub %x, %m : (tensor<8x128xf32>, tensor<8x1xf32>) -> tensor<8x128xf32>
    %e = tile.exp %c : (tensor<8x128xf32>) -> tensor<8x128xf32>
    %s = tile.contraction add(%e[d0, d1]) -> [d0, 0] : (tensor<8x128xf32>) -> tensor<8x1xf32>
    %p = tile.div %e, %s : (tensor<8x128xf32>, tensor<8x1xf32>) -> tensor<8x128xf32>
    tile.yield %p : tensor<8x128xf32>
  }
  func.return %O : tensor<8x128xf32>
}

// Two sums that need nothing of one another are one phase; lanes hold sums of their own.
// CHECK-LABEL: void moments_0_
// CHECK:           for (int d1 = 0; d1 < 32; ++d1) {
// CHECK-NEXT:          float4 x_1 = vload4(0, x + v + d1 * 4);
// CHECK-NEXT:          a += x_1;
// CHECK-NEXT:          b += x_1 * x_1;
// CHECK-NEXT:      }
// CHECK-NEXT:      float2 a_1 = a.s01 + a.s23;
// CHECK-NEXT:      float2 b_1 = b.s01 + b.s23;
// CHECK-NEXT:      o[item_x] = b_1.s0 + b_1.s1 - (a_1.s0 + a_1.s1);
func.func @moments(%X: tensor<8x128xf32>) -> tensor<8xf32> {
  %O = tile.kernel(%x = %X : tensor<8x128xf32>) -> tensor<8xf32> axes <d0 = 0 to 8, d1 = 0 to 128>
      schedule <local.x d0 : 8, serial 4*d1 : 32, vector d1 : 4> {
    %a = tile.contraction add(%x[d0, d1]) -> [d0] : (tensor<8x128xf32>) -> tensor<8xf32>
    %q = tile.mul %x, %x : (tensor<8x128xf32>, tensor<8x128xf32>) -> tensor<8x128xf32>
    %b = tile.contraction add(%q[d0, d1]) -> [d0] : (tensor<8x128xf32>) -> tensor<8xf32>
    %o = tile.sub %b, %a : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    tile.yield %o : tensor<8xf32>
  }
  func.return %O : tensor<8xf32>
}

// What a row does not divide is not aggregated and not stored; work-items without a part of it wait.
// CHECK-LABEL: void uneven_0_
// CHECK:           bool v = item_x < 3;
// CHECK:           if (v) {
// CHECK:           barrier(CLK_LOCAL_MEM_FENCE);
// CHECK:           if (v) {
// CHECK-NEXT:          o[
func.func @uneven(%X: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %O = tile.kernel(%x = %X : tensor<5x3xf32>) -> tensor<5x3xf32> axes <d0 = 0 to 5, d1 = 0 to 3>
      schedule <group.x d0 : 5, local.x d1 : 4> {
    %s = tile.contraction add(%x[d0, d1]) -> [d0, 0] : (tensor<5x3xf32>) -> tensor<5x1xf32>
    %o = tile.div %x, %s : (tensor<5x3xf32>, tensor<5x1xf32>) -> tensor<5x3xf32>
    tile.yield %o : tensor<5x3xf32>
  }
  func.return %O : tensor<5x3xf32>
}

// A tile is copied by all work-items, before those beyond the last row do nothing.
// CHECK-LABEL: void together_0_
// CHECK:           b_tile[{{.*}}] = b[
// CHECK:           barrier(CLK_LOCAL_MEM_FENCE);
// CHECK:           bool [[IN:.*]] = v < 7;
// CHECK:           if ([[IN]]) {
func.func @together(%X: tensor<7x8xf32>, %B: tensor<8xf32>) -> tensor<7x1xf32> {
  %O = tile.kernel(%x = %X : tensor<7x8xf32>, %b = %B : tensor<8xf32>) -> tensor<7x1xf32> axes <d0 = 0 to 7, d1 = 0 to 8>
      schedule <group.x 4*d0 : 2, local.x d0 : 4, serial d1 : 8> stage <%b local> {
    %y = tile.add %x, %b : (tensor<7x8xf32>, tensor<8xf32>) -> tensor<7x8xf32>
    %s = tile.contraction add(%y[d0, d1]) -> [d0, 0] : (tensor<7x8xf32>) -> tensor<7x1xf32>
    tile.yield %s : tensor<7x1xf32>
  }
  func.return %O : tensor<7x1xf32>
}

// A loop that stands twice, unrolled, begins with accumulators of its own each time.
// CHECK-LABEL: void twice_0_
// CHECK:           s[d0] = acc;
// CHECK-NEXT:      }
// CHECK-NEXT:      for (int d0 = 0; d0 < 2; ++d0) {
// CHECK-NEXT:          int v = d0 * 8;
// CHECK-NEXT:          float acc = 0.0f;
func.func @twice(%X: tensor<4x8xf32>) -> tensor<4xf32> {
  %O = tile.kernel(%x = %X : tensor<4x8xf32>) -> tensor<4xf32>
      schedule <unroll 2*d0 : 2, serial d0 : 2, serial d1 : 8> {
    %s = tile.contraction add(%x[d0, d1]) -> [d0] domain <d0 = 0 to 4, d1 = 0 to 8> : (tensor<4x8xf32>) -> tensor<4xf32>
    tile.yield %s : tensor<4xf32>
  }
  func.return %O : tensor<4xf32>
}

// The last vector of a row is shifted inwards by one element: the sum leaves it out, the maximum does not mind. Kept
// values have a place of their own.
// CHECK-LABEL: void gone_back_0_
// CHECK:           float4 x_3 = vload4(2, x + v);
// CHECK:           float4 x_4 = vload4(0, x + v + 11);
// CHECK-NEXT:      float4 q_kept_3 = x_4 * x_4;
// CHECK-NEXT:      float4 m_3 = x_4 > m_1 ? x_4 : m_1;
// CHECK-NEXT:      float4 s = 0.0f + q_kept_1 + ({{.*}}(int4)(0, 1, 2, 3))) >= (int4)(1) ? q_kept_3 : (float4)(0.0f));
// CHECK:           vstore4(q_kept_2 * s_3 + m_10, 0, o + v + 8);
// CHECK-NEXT:      vstore4(q_kept_3 * s_3 + m_10, 0, o + v + 11);
// CHECK-NEXT:  }
func.func @gone_back(%X: tensor<8x15xf32>) -> tensor<8x15xf32> {
  %O = tile.kernel(%x = %X : tensor<8x15xf32>) -> tensor<8x15xf32> axes <d0 = 0 to 8, d1 = 0 to 15>
      schedule <group.x d0 : 8, serial 8*d1 : 2, unroll 4*d1 : 2, vector d1 : 4> stage <%q private> {
    %m = tile.contraction max(%x[d0, d1]) -> [d0, 0] : (tensor<8x15xf32>) -> tensor<8x1xf32>
    %q = tile.mul %x, %x : (tensor<8x15xf32>, tensor<8x15xf32>) -> tensor<8x15xf32>
    %s = tile.contraction add(%q[d0, d1]) -> [d0, 0] : (tensor<8x15xf32>) -> tensor<8x1xf32>
    %r = tile.mul %q, %s : (tensor<8x15xf32>, tensor<8x1xf32>) -> tensor<8x15xf32>
    %o = tile.add %r, %m : (tensor<8x15xf32>, tensor<8x1xf32>) -> tensor<8x15xf32>
    tile.yield %o : tensor<8x15xf32>
  }
  func.return %O : tensor<8x15xf32>
}

// But for the first and the last ones, the vectors of a long row begin at multiples of themselves in memory. What both
// have is in the sum once.
// CHECK-LABEL: void slid_0_
// CHECK:       int [[V:.*]] = group_x * 514;
// CHECK:       float4 [[A:.*]] = vload4(0, x + [[V]]);
// CHECK:       int [[K:.*]] = group_x & 1;
// CHECK:       int [[S:.*]] = 0 - [[K]] * 2;
// CHECK:       float4 [[B:.*]] = vload4(0, x + [[V]] + 510);
// CHECK:       < (int4)([[S]] + 4) ? [[A]] : (float4)(0.0f)) + ({{.*}} >= (int4)([[S]] + 2) ? [[B]] : (float4)(0.0f));
// CHECK:       int [[W:.*]] = group_x * 514 - [[K]] * 2;
// CHECK:       for (int d1 = 0; d1 < 127; ++d1) {
// CHECK-NEXT:      s_1 += vload4(1, x + [[W]] + d1 * 4);
// CHECK:       vstore4([[A]] * {{.*}}, 0, o + [[V]]);
// CHECK-NEXT:  vstore4([[B]] * {{.*}}, 0, o + [[V]] + 510);
// CHECK-NEXT:  for (int d1 = 0; d1 < 127; ++d1) {
// CHECK-NEXT:      int [[X:.*]] = [[W]] + d1 * 4;
// CHECK-NEXT:      vstore4(vload4(1, x + [[X]]) * {{.*}}, 0, o + [[X]] + 4);
func.func @slid(%X: tensor<8x514xf32>) -> tensor<8x514xf32> {
  %O = tile.kernel(%x = %X : tensor<8x514xf32>) -> tensor<8x514xf32> axes <d0 = 0 to 8, d1 = 0 to 514>
      schedule <group.x d0 : 8, serial 4*d1 : 129, vector d1 : 4> {
    %s = tile.contraction add(%x[d0, d1]) -> [d0, 0] : (tensor<8x514xf32>) -> tensor<8x1xf32>
    %o = tile.mul %x, %s : (tensor<8x514xf32>, tensor<8x1xf32>) -> tensor<8x514xf32>
    tile.yield %o : tensor<8x514xf32>
  }
  func.return %O : tensor<8x514xf32>
}

// The last of unrolled rows are shifted inwards, without a test for each.
// CHECK-LABEL: void rows_0_
// CHECK:       for (int d0 = 0; d0 < 2; ++d0) {
// CHECK-NEXT:      int [[V:.*]] = {{.*}} + d0 * 12 + min({{.*}} - d0 * 2 + 9, 0) * 6;
// CHECK-NOT:       if (
// CHECK:               o[{{.*}}] = x[{{.*}}] * s;
// CHECK:               o[{{.*}} + 6] = (x + {{.*}})[6] * s_1;
// CHECK-LABEL: void some_rows_0_
// CHECK:       if (group_x < 1) {
// CHECK:       } else {
// CHECK-NEXT:      for (int d0 = 0; d0 < 2; ++d0) {
// CHECK-NEXT:          int v = d0 * 12 + min(0 - d0 * 2 + 1, 0) * 6;
// CHECK-NOT:           if (
func.func @rows(%X: tensor<11x6xf32>) -> tensor<11x6xf32> {
  %O = tile.kernel(%x = %X : tensor<11x6xf32>) -> tensor<11x6xf32> axes <d0 = 0 to 11, d1 = 0 to 6>
      schedule <group.x 4*d0 : 3, serial 2*d0 : 2, serial d1 : 6, unroll d0 : 2> {
    %s = tile.contraction add(%x[d0, d1]) -> [d0, 0] : (tensor<11x6xf32>) -> tensor<11x1xf32>
    %o = tile.mul %x, %s : (tensor<11x6xf32>, tensor<11x1xf32>) -> tensor<11x6xf32>
    tile.yield %o : tensor<11x6xf32>
  }
  func.return %O : tensor<11x6xf32>
}

func.func @some_rows(%X: tensor<11x6xf32>) -> tensor<11x6xf32> {
  %O = tile.kernel(%x = %X : tensor<11x6xf32>) -> tensor<11x6xf32> axes <d0 = 0 to 11, d1 = 0 to 6>
      schedule <group.x 8*d0 : 2, serial 2*d0 : 4, serial d1 : 6, unroll d0 : 2> {
    %s = tile.contraction add(%x[d0, d1]) -> [d0, 0] : (tensor<11x6xf32>) -> tensor<11x1xf32>
    %o = tile.mul %x, %s : (tensor<11x6xf32>, tensor<11x1xf32>) -> tensor<11x6xf32>
    tile.yield %o : tensor<11x6xf32>
  }
  func.return %O : tensor<11x6xf32>
}

// Rows of one vector that are written out together are computed phase by phase, not one after the other.
// CHECK-LABEL: void short_rows_0_
// CHECK:       float4 {{.*}} = vload4(0, x + [[V:.*]]);
// CHECK:       float4 {{.*}} = vload4(1, x + [[V]]);
// CHECK:       float2 {{.*}}.s01
// CHECK:       vstore4({{.*}}, 0, o + [[V]]);
// CHECK-NEXT:  {{.*}}vstore4({{.*}}, 0, o + [[V]] + 4);
func.func @short_rows(%X: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %O = tile.kernel(%x = %X : tensor<8x4xf32>) -> tensor<8x4xf32> axes <d0 = 0 to 8, d1 = 0 to 4>
      schedule <group.x 4*d0 : 2, serial 2*d0 : 2, unroll d0 : 2, vector d1 : 4> {
    %s = tile.contraction add(%x[d0, d1]) -> [d0, 0] : (tensor<8x4xf32>) -> tensor<8x1xf32>
    %o = tile.mul %x, %s : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<8x4xf32>
    tile.yield %o : tensor<8x4xf32>
  }
  func.return %O : tensor<8x4xf32>
}

// Where vectors do not fill columns, the last step is shifted inwards: columns are summed once more.
// CHECK-LABEL: void columns_0_
// CHECK:           for (int i = 0; i < 9; ++i) {
// CHECK-NEXT:          int [[A:.*]] = i * 15;
// CHECK-NEXT:          {{.*}} += vload4(0, x + [[A]]);
// CHECK-NEXT:          {{.*}} += vload4(1, x + [[A]]);
// CHECK:           for (int i = 0; i < 9; ++i) {
// CHECK-NEXT:          int [[B:.*]] = i * 15;
// CHECK-NEXT:          {{.*}} += vload4(0, x + [[B]] + 7);
// CHECK-NEXT:          {{.*}} += vload4(0, x + [[B]] + 11);
// CHECK-NEXT:      }
// CHECK-NEXT:      vstore4({{.*}}, 0, o + 7);
// CHECK-NEXT:      vstore4({{.*}}, 0, o + 11);
func.func @columns(%X: tensor<9x15xf32>) -> tensor<15xf32> {
  %O = tile.kernel(%x = %X : tensor<9x15xf32>) -> tensor<15xf32>
      schedule <serial 8*j : 2, serial i : 9, unroll 4*j : 2, vector j : 4> {
    %o = tile.contraction add(%x[i, j]) -> [j] domain <i = 0 to 9, j = 0 to 15> : (tensor<9x15xf32>) -> tensor<15xf32>
    tile.yield %o : tensor<15xf32>
  }
  func.return %O : tensor<15xf32>
}
