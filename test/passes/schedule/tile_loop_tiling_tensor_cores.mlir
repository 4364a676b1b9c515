// RUN: tile-opt %s -p 'tile-bounds,tile-fuse,tile-loop-tiling' --split-input-file | filecheck %s
// RUN: tile-opt %s -p 'tile-bounds,tile-fuse,tile-loop-tiling{explain=true}' --split-input-file 2>&1 | filecheck %s --check-prefix=WHY

// Products of f16 run on tensor cores.
// They are estimated by the tiles that their groups wait for.
// WHY:      1: {{.*}} tensor cores, bound by {{launch|waiting}}
// WHY:      chosen: 1, products on tensor cores come before all others
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

// Operands may lie otherwise, tiles need not fit, and there may be many products. Few results have
// smaller tiles. As much is copied together as divides rows.
// CHECK-LABEL: @otherwise
// CHECK:         %C = tile.kernel @{{\w+}}({{.*}} schedule <group.y 128*i : 9, group.x 128*j : 32, {{.*}}> instruction mma_m16n16k16_f16 <i, j, k> stage <%A_1 local at 32*k async copies 3 rotate 8 vector 2, %B_1 local at 32*k async copies 3 rotate 8 vector 4>
// CHECK:         %D = tile.kernel @{{\w+}}({{.*}} schedule <group.z b : 8, group.y 64*i : 4, group.x 64*j : 4, {{.*}}> instruction mma_m16n16k16_f16 <i, j, k>
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"platform" = "NVIDIA CUDA", "compute_capability" = 90 : i64, "compute_units" = 132 : i64>>} {
  func.func @otherwise(%A: tensor<500x1030xf16>, %B: tensor<4096x500xf16>, %P: tensor<8x256x200xf16>, %Q: tensor<8x200x256xf16>) -> (tensor<1030x4096xf16>, tensor<8x256x256xf16>) {
    %C = tile.contraction add(%A[k, i] mul %B[j, k]) -> [i, j] : (tensor<500x1030xf16>, tensor<4096x500xf16>) -> tensor<1030x4096xf16>
    %D = tile.contraction add(%P[b, i, k] mul %Q[b, k, j]) -> [b, i, j] : (tensor<8x256x200xf16>, tensor<8x200x256xf16>) -> tensor<8x256x256xf16>
    func.return %C, %D : tensor<1030x4096xf16>, tensor<8x256x256xf16>
  }
}

// -----

// Rows that copies cannot read, or that begin amidst sectors, are copied with zeros at their ends,
// if they are read often enough.
// CHECK-LABEL: @uneven
// CHECK: tile.contraction assign({{.*}} : (tensor<1027x1027xf16>) -> tensor<1027x1088xf16>
// CHECK: tile.contraction assign({{.*}} : (tensor<1027x1027xf16>) -> tensor<1027x1088xf16>
// CHECK: stage <%A_1 local at 32*k async copies 3 rotate 8 vector 8, %B_1 local at 32*k async copies 3 rotate 8 vector 8>
// CHECK: tile.contraction assign({{.*}} : (tensor<3000x5000xf16>) -> tensor<3000x5056xf16>
// CHECK-NOT: assign
// CHECK: %D = tile.kernel
// CHECK-NOT: assign
// CHECK: func.return
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"platform" = "NVIDIA CUDA", "compute_capability" = 90 : i64, "compute_units" = 132 : i64>>} {
  func.func @uneven(%A: tensor<1027x1027xf16>, %B: tensor<1027x1027xf16>, %P: tensor<3000x5000xf16>, %Q: tensor<5000x4000xf16>, %R: tensor<300x500xf16>, %S: tensor<500x301xf16>) -> (tensor<1027x1027xf16>, tensor<3000x4000xf16>, tensor<300x301xf16>) {
    %C = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] : (tensor<1027x1027xf16>, tensor<1027x1027xf16>) -> tensor<1027x1027xf16>
    %D = tile.contraction add(%P[i, k] mul %Q[k, j]) -> [i, j] : (tensor<3000x5000xf16>, tensor<5000x4000xf16>) -> tensor<3000x4000xf16>
    %E = tile.contraction add(%R[i, k] mul %S[k, j]) -> [i, j] : (tensor<300x500xf16>, tensor<500x301xf16>) -> tensor<300x301xf16>
    func.return %C, %D, %E : tensor<1027x1027xf16>, tensor<3000x4000xf16>, tensor<300x301xf16>
  }
}

// -----

// In tf32, rows along the sum are loaded as those of the first factor.
// CHECK-LABEL: @turned
// CHECK: instruction mma_m16n8k8_tf32 <i, j, k> stage <%A_1 local at 16*k async copies 3 rotate 8 vector 4, %B_1 local at 16*k async copies 3 rotate 4 vector 4>
module attributes {tile.precision = "tf32", dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"platform" = "NVIDIA CUDA", "compute_capability" = 90 : i64, "compute_units" = 132 : i64>>} {
  func.func @turned(%A: tensor<512x256xf32>, %B: tensor<512x512xf32>) -> tensor<256x512xf32> {
    %C = tile.contraction add(%A[k, i] mul %B[j, k]) -> [i, j] : (tensor<512x256xf32>, tensor<512x512xf32>) -> tensor<256x512xf32>
    func.return %C : tensor<256x512xf32>
  }
}

// -----

// Not so without it, for few rows or results, or on older devices.
// CHECK-LABEL: @exact
// CHECK-NOT: instruction
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"platform" = "NVIDIA CUDA", "compute_capability" = 90 : i64>>} {
  func.func @exact(%A: tensor<256x512xf32>, %B: tensor<512x128xf32>) -> tensor<256x128xf32> {
    %C = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] : (tensor<256x512xf32>, tensor<512x128xf32>) -> tensor<256x128xf32>
    func.return %C : tensor<256x128xf32>
  }
}

// -----

// CHECK-LABEL: @few
// CHECK-NOT: instruction
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"platform" = "NVIDIA CUDA", "compute_capability" = 90 : i64, "compute_units" = 132 : i64>>} {
  func.func @few(%A: tensor<15x512xf16>, %B: tensor<512x4096xf16>, %C: tensor<512x48xf16>, %D: tensor<512x64xf16>) -> (tensor<15x4096xf16>, tensor<48x64xf16>) {
    %E = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] : (tensor<15x512xf16>, tensor<512x4096xf16>) -> tensor<15x4096xf16>
    %F = tile.contraction add(%C[k, i] mul %D[k, j]) -> [i, j] : (tensor<512x48xf16>, tensor<512x64xf16>) -> tensor<48x64xf16>
    func.return %E, %F : tensor<15x4096xf16>, tensor<48x64xf16>
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
