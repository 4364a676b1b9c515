// RUN: tile-opt %s -p tile-split-reduction | filecheck %s
// RUN: tile-opt %s -p 'tile-split-reduction{keep=Y}' | filecheck %s --check-prefix=KEPT
// RUN: not tile-opt %s -p 'tile-split-reduction{parts=4}' 2>&1 | filecheck %s --check-prefix=WHERE

// RUN: tile-opt %s -p 'tile-split-reduction{keep=Y explain=true}' 2>&1 >/dev/null \
// RUN:   | filecheck %s --check-prefix=WHY

// What was weighed against what.
// WHY:      S: not split into partial results, as its schedule is given
// WHY-NEXT: S: not split into partial results, as its 16777216 results fill the 132 compute units
// WHY-NEXT: S: split into partial results, as a split takes less than 90% of the time of the whole, besides a launch
// WHY-NEXT:   whole: {{.*}} us
// WHY-NEXT:   k in 3 parts: {{[0-9.]+}} us
// WHY:      S: not split into partial results, as its {{[0-9]+}} groups fill the 132 compute units
// WHY-NEXT: S: split into partial results, as a split takes less than 90% of the time of the whole, besides a launch
// WHY-NEXT:   whole: {{.*}} us
// WHY-NEXT:   k in 2 parts: {{[0-9.]+}} us
// WHY-NEXT:   k in 3 parts: {{.*}} us
// WHY:      S: not split into partial results, as its 4096 points are too few for a second kernel
// WHY-NEXT: M: not split into partial results, as its schedule is given

// WHY:      S: split into partial results, as each r has a sum of its own, for which its elements are never written

// WHERE: tile-split-reduction needs the index to split at

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<
    "platform" = "NVIDIA CUDA", "compute_units" = 132 : i64, "max_work_group_size" = 1024 : i64,
    "local_mem_size" = 49152 : i64>>} {

// Few results of long sums leave most of the device idle: they are split.
// CHECK-LABEL: @deep
// CHECK: %S_parts = tile.contraction add(%A[i, {{[0-9]+}}*k_part + k] mul %B[{{[0-9]+}}*k_part + k, j]) -> [k_part, i, j]
// CHECK: %S = tile.contraction add(%S_parts[k_part, i, j]) -> [i, j]
// KEPT-LABEL: @deep
// KEPT-NOT: parts
// KEPT: return
func.func @deep(%A: tensor<64x8192xf32>, %B: tensor<8192x64xf32>) -> tensor<64x64xf32> {
  %S = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] domain <i = 0 to 64, j = 0 to 64, k = 0 to 8192> : (tensor<64x8192xf32>, tensor<8192x64xf32>) -> tensor<64x64xf32>
  %Y = tile.relu %S : (tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %Y : tensor<64x64xf32>
}

// Many results fill it.
// CHECK-LABEL: @square
// CHECK-NOT: parts
// CHECK: return
func.func @square(%A: tensor<4096x4096xf32>, %B: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %S = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] domain <i = 0 to 4096, j = 0 to 4096, k = 0 to 4096> : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  func.return %S : tensor<4096x4096xf32>
}

// Results of 74 tiles of 128 x 128 leave half of the units idle, however many they are.
// CHECK-LABEL: @long
// CHECK: -> [k_part, i, j]{{.*}}k_part = 0 to 3,
func.func @long(%A: tensor<1576x3072xf32>, %B: tensor<768x3072xf32>) -> tensor<1576x768xf32> {
  %S = tile.contraction add(%A[i, k] mul %B[j, k]) -> [i, j] domain <i = 0 to 1576, j = 0 to 768, k = 0 to 3072> : (tensor<1576x3072xf32>, tensor<768x3072xf32>) -> tensor<1576x768xf32>
  func.return %S : tensor<1576x768xf32>
}

// Rows are groups enough, however long their sums are.
// CHECK-LABEL: @rows
// CHECK-NOT: parts
// CHECK: return
func.func @rows(%A: tensor<16384x16384xf32>, %X: tensor<16384xf32>) -> tensor<16384xf32> {
  %S = tile.contraction add(%A[i, k] mul %X[k]) -> [i] domain <i = 0 to 16384, k = 0 to 16384> : (tensor<16384x16384xf32>, tensor<16384xf32>) -> tensor<16384xf32>
  func.return %S : tensor<16384xf32>
}

// As many parts as all units have room for at once: another would come after them.
// CHECK-LABEL: @odd
// CHECK: -> [k_part, i, j]{{.*}}k_part = 0 to 3,
func.func @odd(%A: tensor<1000x3000xf32>, %B: tensor<3000x700xf32>) -> tensor<1000x700xf32> {
  %S = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] domain <i = 0 to 1000, j = 0 to 700, k = 0 to 3000> : (tensor<1000x3000xf32>, tensor<3000x700xf32>) -> tensor<1000x700xf32>
  func.return %S : tensor<1000x700xf32>
}

// Short sums are done before a second kernel has begun.
// CHECK-LABEL: @short
// CHECK-NOT: parts
// CHECK: return
func.func @short(%A: tensor<8x64xf32>, %B: tensor<64x8xf32>) -> tensor<8x8xf32> {
  %S = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 8, k = 0 to 64> : (tensor<8x64xf32>, tensor<64x8xf32>) -> tensor<8x8xf32>
  func.return %S : tensor<8x8xf32>
}

// Rows that are used again are a kernel's, unless they are too few to keep the units busy.
// CHECK-LABEL: @few_rows
// CHECK: %M_parts = tile.contraction max(
// CHECK-LABEL: @some_rows
// CHECK-NOT: parts
// CHECK: return
func.func @few_rows(%X: tensor<32x1048576xf32>) -> tensor<32x1048576xf32> {
  %M = tile.contraction max(%X[i, k]) -> [i, 0] domain <i = 0 to 32, k = 0 to 1048576> : (tensor<32x1048576xf32>) -> tensor<32x1xf32>
  %Y = tile.sub %X, %M : (tensor<32x1048576xf32>, tensor<32x1xf32>) -> tensor<32x1048576xf32>
  func.return %Y : tensor<32x1048576xf32>
}
func.func @some_rows(%X: tensor<96x65536xf32>) -> tensor<96x65536xf32> {
  %M = tile.contraction max(%X[i, k]) -> [i, 0] domain <i = 0 to 96, k = 0 to 65536> : (tensor<96x65536xf32>) -> tensor<96x1xf32>
  %Y = tile.sub %X, %M : (tensor<96x65536xf32>, tensor<96x1xf32>) -> tensor<96x65536xf32>
  func.return %Y : tensor<96x65536xf32>
}

// Taps are too few to be shared out if there are channels: groups of each point skip those outside.
// CHECK-LABEL: @small_pictures
// CHECK: -> [ci_part, n, y, x, co]{{.*}}ci_part = 0 to 4,
func.func @small_pictures(%I: tensor<32x7x7x512xf32>, %K: tensor<3x3x512x512xf32>) -> tensor<32x7x7x512xf32> {
  %O = tile.contraction add(%I[n, y + j - 1, x + i - 1, ci] mul %K[j, i, ci, co]) -> [n, y, x, co] domain <n = 0 to 32, y = 0 to 7, x = 0 to 7, co = 0 to 512, j = 0 to 3, i = 0 to 3, ci = 0 to 512> : (tensor<32x7x7x512xf32>, tensor<3x3x512x512xf32>) -> tensor<32x7x7x512xf32>
  func.return %O : tensor<32x7x7x512xf32>
}

// A sum over rows that need their own sums is one of rows first: a row kernel then never writes
// what is summed, as in a cross entropy.
// CHECK-LABEL: @row_sums
// CHECK: %S_parts = tile.contraction add(%P[r_part, c]) -> [r_part] domain <r_part = 0 to 1000, c = 0 to 500>
// CHECK-NEXT: %S = tile.contraction add(%S_parts[r_part]) -> []
// Too few rows keep no unit busy.
// CHECK-LABEL: @few_row_sums
// CHECK: %S_parts = tile.contraction add(%P[r, {{[0-9]+}}*c_part + c]) -> [c_part]
func.func @row_sums(%X: tensor<1000x500xf32>) -> tensor<f32> {
  %T = tile.contraction add(%X[r, c]) -> [r, 0] domain <r = 0 to 1000, c = 0 to 500> : (tensor<1000x500xf32>) -> tensor<1000x1xf32>
  %P = tile.sub %X, %T : (tensor<1000x500xf32>, tensor<1000x1xf32>) -> tensor<1000x500xf32>
  %S = tile.contraction add(%P[r, c]) -> [] domain <r = 0 to 1000, c = 0 to 500> : (tensor<1000x500xf32>) -> tensor<f32>
  func.return %S : tensor<f32>
}
func.func @few_row_sums(%X: tensor<4x1048576xf32>) -> tensor<f32> {
  %T = tile.contraction add(%X[r, c]) -> [r, 0] domain <r = 0 to 4, c = 0 to 1048576> : (tensor<4x1048576xf32>) -> tensor<4x1xf32>
  %P = tile.sub %X, %T : (tensor<4x1048576xf32>, tensor<4x1xf32>) -> tensor<4x1048576xf32>
  %S = tile.contraction add(%P[r, c]) -> [] domain <r = 0 to 4, c = 0 to 1048576> : (tensor<4x1048576xf32>) -> tensor<f32>
  func.return %S : tensor<f32>
}
// Of columns groups have few long sums: twice as many parts are slower, as more places are read.
// CHECK-LABEL: @columns
// CHECK: -> [r_part, c]{{.*}}r_part = 0 to 32,
func.func @columns(%X: tensor<16384x4096xf32>) -> tensor<4096xf32> {
  %S = tile.contraction add(%X[r, c]) -> [c] domain <c = 0 to 4096, r = 0 to 16384> : (tensor<16384x4096xf32>) -> tensor<4096xf32>
  func.return %S : tensor<4096xf32>
}
}
