// RUN: tile-opt %s -p tile-to-nest --split-input-file | filecheck %s
// RUN: tile-opt %s -p tile-to-gpu -t opencl --split-input-file | filecheck %s --check-prefix=OPENCL

// Neighbours exchange registers until each has the sum of 8; the three such parts of 24 are joined
// by a tree.
// CHECK:      %other = nest.shuffle %{{.*}} xor 4 in 8 : f32
// CHECK-NEXT: %{{.*}} = arith.addf %{{.*}}, %other : f32
// CHECK-NEXT: nest.store %{{.*}}, %acc[] : f32, memref<f32, 5 : i32>
// CHECK:      nest.shuffle %{{.*}} xor 2 in 8 : f32
// CHECK:      nest.shuffle %{{.*}} xor 1 in 8 : f32
// CHECK:      %partial = nest.buffer : memref<1x2xf32, 3 : i32>
// CHECK-NEXT: %partial_1 = nest.buffer : memref<1x1xf32, 3 : i32>
// CHECK-NEXT: nest.if (%k mod 8) == 0 and 16 <= %k {
// CHECK-NEXT:   %{{.*}} = nest.load %acc[] : memref<f32, 5 : i32>
// CHECK-NEXT:   nest.store %{{.*}}, %partial[0, 0] : f32, memref<1x2xf32, 3 : i32>
// CHECK-NEXT: }
// CHECK-NEXT: nest.if (%k mod 8) == 0 and %k < 16 {
// CHECK-NEXT:   nest.if %k < 8 {
// CHECK-NEXT:     %{{.*}} = nest.load %partial[0, 0] : memref<1x2xf32, 3 : i32>
// CHECK:        nest.if 8 <= %k {
// CHECK-NEXT:     %{{.*}} = nest.load %acc[] : memref<f32, 5 : i32>
// CHECK-NEXT:     nest.store %{{.*}}, %partial_1[0, 0] : f32, memref<1x1xf32, 3 : i32>

// OPENCL:      #ifdef cl_intel_required_subgroup_size
// OPENCL-NEXT: #define SUB_GROUPS_OF(n) __attribute__((intel_reqd_sub_group_size(n)))
// OPENCL-NEXT: #else
// OPENCL-NEXT: #define SUB_GROUPS_OF(n)
// OPENCL-NEXT: #endif
// OPENCL:      static inline int shuffle_xor(int x, int mask)
// OPENCL-NEXT: {
// OPENCL-NEXT: #ifdef cl_khr_subgroup_shuffle
// OPENCL-NEXT:     return sub_group_shuffle_xor(x, mask);
// OPENCL-NEXT: #else
// OPENCL-NEXT:     int y;
// OPENCL-NEXT:     asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(y) : "r"(x), "r"(mask));
// OPENCL-NEXT:     return y;
// OPENCL-NEXT: #endif
// OPENCL:      __kernel SUB_GROUPS_OF(8) __attribute__((reqd_work_group_size(24, 1, 1))) void sum_0_S(
// OPENCL:          float other = as_float(shuffle_xor(as_int(acc), 4));
// OPENCL-NEXT:     float acc_1 = acc + other;
func.func @sum(%A: tensor<8x96xf32>) -> tensor<8xf32> {
  %S = tile.kernel(%a = %A : tensor<8x96xf32>) -> tensor<8xf32>
    schedule <group.x i : 8, local.x k : 24, serial 24*k : 4> sub_groups 8 {
    %s = tile.contraction add(%a[i, k]) -> [i] domain <i = 0 to 8, k = 0 to 96> : (tensor<8x96xf32>) -> tensor<8xf32>
    tile.yield %s : tensor<8xf32>
  }
  func.return %S : tensor<8xf32>
}

// -----

// Four parts fit a sub-group, which joins them like the elements.
// CHECK:      %other = nest.shuffle %{{.*}} xor 4 in 8 : f32
// CHECK:      nest.shuffle %{{.*}} xor 1 in 8 : f32
// CHECK:      %partial = nest.buffer : memref<1x4xf32, 3 : i32>
// CHECK:      %{{.*}} = nest.load %partial[0, (%k mod 4)] : memref<1x4xf32, 3 : i32>
// CHECK:      nest.shuffle %{{.*}} xor 2 in 8 : f32
// CHECK:      nest.shuffle %{{.*}} xor 1 in 8 : f32
func.func @sum(%A: tensor<8x96xf32>) -> tensor<8xf32> {
  %S = tile.kernel(%a = %A : tensor<8x96xf32>) -> tensor<8xf32>
    schedule <group.x i : 8, local.x k : 32, serial 32*k : 3> sub_groups 8 {
    %s = tile.contraction add(%a[i, k]) -> [i] domain <i = 0 to 8, k = 0 to 96> : (tensor<8x96xf32>) -> tensor<8xf32>
    tile.yield %s : tensor<8xf32>
  }
  func.return %S : tensor<8xf32>
}

// -----

// What one sub-group shares needs no local memory.
// CHECK:      nest.shuffle %{{.*}} xor 2 in 32 : f32
// CHECK:      %[[other:.*]] = nest.shuffle %{{.*}} xor 1 in 32 : f32
// CHECK-NEXT: %[[sum:.*]] = arith.addf %{{.*}}, %[[other]] : f32
// CHECK-NEXT: nest.store %[[sum]], %acc[] : f32, memref<f32, 5 : i32>
// CHECK-NEXT: nest.if %k == 0 {
func.func @sum(%A: tensor<8x96xf32>) -> tensor<8xf32> {
  %S = tile.kernel(%a = %A : tensor<8x96xf32>) -> tensor<8xf32>
    schedule <local.x i : 8, local.x k : 4, serial 4*k : 24> sub_groups 32 {
    %s = tile.contraction add(%a[i, k]) -> [i] domain <i = 0 to 8, k = 0 to 96> : (tensor<8x96xf32>) -> tensor<8xf32>
    tile.yield %s : tensor<8xf32>
  }
  func.return %S : tensor<8xf32>
}

// -----

// A device that lists no such sub-groups has the tree.
// CHECK:      %partial = nest.buffer : memref<1x16xf32, 3 : i32>
// CHECK-NEXT: %partial_1 = nest.buffer : memref<1x8xf32, 3 : i32>
// CHECK-NEXT: nest.if 16 <= %k {
// CHECK-NEXT:   %{{.*}} = nest.load %acc[] : memref<f32, 5 : i32>
// CHECK-NEXT:   nest.store %{{.*}}, %partial[0, %k - 16] : f32, memref<1x16xf32, 3 : i32>
// CHECK-NEXT: }
// CHECK-NEXT: nest.if %k < 16 {
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"sub_group_sizes" = [4 : i64, 16 : i64]>>} {
func.func @sum(%A: tensor<8x96xf32>) -> tensor<8xf32> {
  %S = tile.kernel(%a = %A : tensor<8x96xf32>) -> tensor<8xf32>
    schedule <group.x i : 8, local.x k : 32, serial 32*k : 3> sub_groups 8 {
    %s = tile.contraction add(%a[i, k]) -> [i] domain <i = 0 to 8, k = 0 to 96> : (tensor<8x96xf32>) -> tensor<8xf32>
    tile.yield %s : tensor<8xf32>
  }
  func.return %S : tensor<8xf32>
}
}

// -----

// CHECK:      %other = nest.shuffle %{{.*}} xor 8 in 16 : f64
// OPENCL:     int2 acc_words = as_int2(acc);
// OPENCL-NEXT: double other = as_double((int2)(shuffle_xor(acc_words.x, 8), shuffle_xor(acc_words.y, 8)));
func.func @wide(%A: tensor<8x96xf64>) -> tensor<8xf64> {
  %S = tile.kernel(%a = %A : tensor<8x96xf64>) -> tensor<8xf64>
    schedule <group.x i : 8, local.x k : 32, serial 32*k : 3> sub_groups 16 {
    %s = tile.contraction add(%a[i, k]) -> [i] domain <i = 0 to 8, k = 0 to 96> : (tensor<8x96xf64>) -> tensor<8xf64>
    tile.yield %s : tensor<8xf64>
  }
  func.return %S : tensor<8xf64>
}

// -----

// CHECK:      %other = nest.shuffle %{{.*}} xor 8 in 16 : i8
// OPENCL:     char other = shuffle_xor(acc, 8);
func.func @narrow(%A: tensor<8x96xi8>) -> tensor<8xi8> {
  %S = tile.kernel(%a = %A : tensor<8x96xi8>) -> tensor<8xi8>
    schedule <group.x i : 8, local.x k : 32, serial 32*k : 3> sub_groups 16 {
    %s = tile.contraction add(%a[i, k]) -> [i] domain <i = 0 to 8, k = 0 to 96> : (tensor<8x96xi8>) -> tensor<8xi8>
    tile.yield %s : tensor<8xi8>
  }
  func.return %S : tensor<8xi8>
}
