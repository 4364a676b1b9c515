// RUN: tile-opt %s -p 'tile-bounds,tile-fuse,tile-loop-tiling' --split-input-file | filecheck %s
// RUN: tile-opt %s -p 'tile-bounds,tile-fuse,tile-loop-tiling{explain=true}' --split-input-file 2>&1 | filecheck %s --check-prefix=WHY

// Products of f16 run on tensor cores.
// The model has no numbers for them.
// WHY:      1: tensor cores
// WHY:      chosen: 1, products on tensor cores come before all others, unweighed
// CHECK-LABEL: @half
// CHECK: instruction mma_m16n16k16_f16 <i, j, k> stage <%A_1 local at 32*k async copies 3 rotate 8 vector 8, %B_1 local at 32*k async copies 3 rotate 8 vector 8>
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"platform" = "NVIDIA CUDA", "compute_capability" = 90 : i64>>} {
  func.func @half(%A: tensor<256x512xf16>, %B: tensor<512x128xf16>) -> tensor<256x128xf16> {
    %C = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] : (tensor<256x512xf16>, tensor<512x128xf16>) -> tensor<256x128xf16>
    func.return %C : tensor<256x128xf16>
  }
}

// -----

// So do those of bf16.
// CHECK-LABEL: @brain
// CHECK: instruction mma_m16n16k16_bf16 <i, j, k> stage <%A_1 local at {{.*}}async
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"platform" = "NVIDIA CUDA", "compute_capability" = 90 : i64>>} {
  func.func @brain(%A: tensor<256x512xbf16>, %B: tensor<512x128xbf16>) -> tensor<256x128xbf16> {
    %C = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] : (tensor<256x512xbf16>, tensor<512x128xbf16>) -> tensor<256x128xbf16>
    func.return %C : tensor<256x128xbf16>
  }
}

// -----

// Those of f32 where the module says so.
// CHECK-LABEL: @rounded
// CHECK: instruction mma_m16n8k8_tf32 <i, 4*j, k> stage <%A_1 local at 16*k async copies 3 rotate 4 vector 4, %B_1 local at 16*k async copies 3 rotate 8 vector 4>
module attributes {tile.precision = "tf32", dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"platform" = "NVIDIA CUDA", "compute_capability" = 90 : i64>>} {
  func.func @rounded(%A: tensor<256x512xf32>, %B: tensor<512x128xf32>) -> tensor<256x128xf32> {
    %C = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] : (tensor<256x512xf32>, tensor<512x128xf32>) -> tensor<256x128xf32>
    func.return %C : tensor<256x128xf32>
  }
}

// -----

// Not so without it, for sizes that no tiles fit, operands that lie otherwise, or older devices.
// CHECK-LABEL: @exact
// CHECK-NOT: instruction
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"platform" = "NVIDIA CUDA", "compute_capability" = 90 : i64>>} {
  func.func @exact(%A: tensor<256x512xf32>, %B: tensor<512x128xf32>) -> tensor<256x128xf32> {
    %C = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] : (tensor<256x512xf32>, tensor<512x128xf32>) -> tensor<256x128xf32>
    func.return %C : tensor<256x128xf32>
  }
}

// -----

// CHECK-LABEL: @odd
// CHECK-NOT: instruction
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"platform" = "NVIDIA CUDA", "compute_capability" = 90 : i64>>} {
  func.func @odd(%A: tensor<250x512xf16>, %B: tensor<512x128xf16>, %T: tensor<128x512xf16>) -> (tensor<250x128xf16>, tensor<128x128xf16>) {
    %C = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] : (tensor<250x512xf16>, tensor<512x128xf16>) -> tensor<250x128xf16>
    %D = tile.contraction add(%T[i, k] mul %T[j, k]) -> [i, j] : (tensor<128x512xf16>, tensor<128x512xf16>) -> tensor<128x128xf16>
    func.return %C, %D : tensor<250x128xf16>, tensor<128x128xf16>
  }
}

// -----

// CHECK-LABEL: @old
// CHECK-NOT: instruction
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"platform" = "NVIDIA CUDA", "compute_capability" = 70 : i64>>} {
  func.func @old(%A: tensor<256x512xf16>, %B: tensor<512x128xf16>) -> tensor<256x128xf16> {
    %C = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] : (tensor<256x512xf16>, tensor<512x128xf16>) -> tensor<256x128xf16>
    func.return %C : tensor<256x128xf16>
  }
}
