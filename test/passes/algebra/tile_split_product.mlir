// RUN: tile-opt %s -p tile-split-product | filecheck %s
// RUN: tile-opt %s -p 'tile-split-product{keep=Y}' | filecheck %s --check-prefix=KEPT
// RUN: tile-opt %s -p 'tile-split-product{first=A,B}' | filecheck %s --check-prefix=GIVEN
// RUN: not tile-opt %s -p 'tile-split-product{first=A,C}' 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not tile-opt %s -p 'tile-split-product{first=A}' 2>&1 | filecheck %s --check-prefix=TWO

// NONE: `first` must name two factors of a sum of products of three, got A and C; there is {{.*}}A
// TWO: `first` must name 2 factors, got 1 (A)

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "compute_units" = 2 : i64, "native_vector_width" = 16 : i64>>} {

// Two products of matrices have fewer points than one of three: what W and B alone share is first.
// CHECK-LABEL: @bilinear
// CHECK: %S_factor = tile.contraction add(%W[k, l] mul %B[j, l]) -> [k, j] domain <k = 0 to 64, j = 0 to 32, l = 0 to 64>
// CHECK: %S = tile.contraction add(%S_factor[k, j] mul %A[i, k]) -> [i, j] domain <i = 0 to 256, j = 0 to 32, k = 0 to 64>
// KEPT-LABEL: @bilinear
// KEPT: %S = tile.contraction add(%A[i, k] mul %W[k, l] mul %B[j, l]) -> [i, j]
// GIVEN-LABEL: @bilinear
// GIVEN: %S_factor = tile.contraction add(%A[i, k] mul %B[j, l]) -> [i, k, j, l]
// GIVEN: %S = tile.contraction add(%S_factor[i, k, j, l] mul %W[k, l]) -> [i, j]
func.func @bilinear(%A: tensor<256x64xf32>, %W: tensor<64x64xf32>, %B: tensor<32x64xf32>) -> tensor<256x32xf32> {
  %S = tile.contraction add(%A[i, k] mul %W[k, l] mul %B[j, l]) -> [i, j] domain <i = 0 to 256, j = 0 to 32, k = 0 to 64, l = 0 to 64> : (tensor<256x64xf32>, tensor<64x64xf32>, tensor<32x64xf32>) -> tensor<256x32xf32>
  %Y = tile.relu %S : (tensor<256x32xf32>) -> tensor<256x32xf32>
  func.return %Y : tensor<256x32xf32>
}

// Nothing is gained where all share one index: there is nothing to sum first.
// CHECK-LABEL: @dot
// CHECK-NOT: factor
// CHECK: return
func.func @dot(%A: tensor<4096xf32>, %W: tensor<4096xf32>, %B: tensor<4096xf32>) -> tensor<f32> {
  %S = tile.contraction add(%A[i] mul %W[i] mul %B[i]) -> [] domain <i = 0 to 4096> : (tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>) -> tensor<f32>
  func.return %S : tensor<f32>
}

// Half floats would be rounded in between, and windows have values that are outside of a tensor.
// CHECK-LABEL: @others
// CHECK-NOT: factor
// CHECK: return
func.func @others(%A: tensor<256x64xf16>, %W: tensor<64x64xf16>, %B: tensor<32x64xf16>, %X: tensor<256x64xf32>, %Y: tensor<64x64xf32>, %Z: tensor<32x64xf32>) -> (tensor<256x32xf16>, tensor<256x32xf32>) {
  %S = tile.contraction add(%A[i, k] mul %W[k, l] mul %B[j, l]) -> [i, j] domain <i = 0 to 256, j = 0 to 32, k = 0 to 64, l = 0 to 64> : (tensor<256x64xf16>, tensor<64x64xf16>, tensor<32x64xf16>) -> tensor<256x32xf16>
  %T = tile.contraction add(%X[i, k] mul %Y[k + 1, l] mul %Z[j, l]) -> [i, j] domain <i = 0 to 256, j = 0 to 32, k = 0 to 63, l = 0 to 64> : (tensor<256x64xf32>, tensor<64x64xf32>, tensor<32x64xf32>) -> tensor<256x32xf32>
  func.return %S, %T : tensor<256x32xf16>, tensor<256x32xf32>
}
}
