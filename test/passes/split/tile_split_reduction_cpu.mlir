// RUN: tile-opt %s -p tile-split-reduction | filecheck %s
// RUN: tile-opt %s -p 'tile-split-reduction{explain=true}' 2>&1 >/dev/null \
// RUN:   | filecheck %s --check-prefix=WHY

// WHY:      S: split into partial results, as a split takes less than 90% of the time of the whole, besides a launch
// WHY:      D: split into partial results
// WHY-NEXT:   whole:
// WHY-NEXT:   i in 16 parts:
// WHY:      S: not split into partial results, as its 100000 points are too few for a second kernel
// WHY-NEXT: T: not split into partial results, as its 100 results are a vector or more for each of 2 compute units

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "platform" = "Intel(R) OpenCL", "compute_units" = 2 : i64, "native_vector_width" = 16 : i64,
    "bandwidth" = 22.0 : f64, "arithmetic" = 340.0 : f64, "launch" = 3.0 : f64>>} {

// One core alone would sum this up.
// CHECK-LABEL: @all
// CHECK: %S_parts = tile.contraction add
func.func @all(%A: tensor<400x1000xf32>) -> tensor<f32> {
  %S = tile.contraction add(%A[i, j]) -> [] domain <i = 0 to 400, j = 0 to 1000> : (tensor<400x1000xf32>) -> tensor<f32>
  func.return %S : tensor<f32>
}

// Long parts, a few for each core, are read in vectors from end to end, whatever their length.
// CHECK-LABEL: @dot
// CHECK: %D_parts = tile.contraction add{{.*}} -> [i_part]{{.*}}<i_part = 0 to 16, i = 0 to 62512>
// CHECK-LABEL: @longer
// CHECK: %E_parts = tile.contraction add{{.*}} -> [i_part]{{.*}}<i_part = 0 to 32, i = 0 to 262144>
func.func @dot(%A: tensor<1000000xf32>, %B: tensor<1000000xf32>) -> tensor<f32> {
  %D = tile.contraction add(%A[i] mul %B[i]) -> [] domain <i = 0 to 1000000> : (tensor<1000000xf32>, tensor<1000000xf32>) -> tensor<f32>
  func.return %D : tensor<f32>
}
func.func @longer(%A: tensor<8388608xf32>, %B: tensor<8388608xf32>) -> tensor<f32> {
  %E = tile.contraction add(%A[i] mul %B[i]) -> [] domain <i = 0 to 8388608> : (tensor<8388608xf32>, tensor<8388608xf32>) -> tensor<f32>
  func.return %E : tensor<f32>
}

// It is done with so few before another kernel has begun, and columns are a vector for each core.
// CHECK-LABEL: @few
// CHECK-NOT: parts
// CHECK: return
func.func @few(%A: tensor<100x1000xf32>, %B: tensor<5000x100xf32>) -> (tensor<f32>, tensor<100xf32>) {
  %S = tile.contraction add(%A[i, j]) -> [] domain <i = 0 to 100, j = 0 to 1000> : (tensor<100x1000xf32>) -> tensor<f32>
  %T = tile.contraction add(%B[i, j]) -> [j] domain <j = 0 to 100, i = 0 to 5000> : (tensor<5000x100xf32>) -> tensor<100xf32>
  func.return %S, %T : tensor<f32>, tensor<100xf32>
}
}
