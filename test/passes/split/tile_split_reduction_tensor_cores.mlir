// RUN: tile-opt %s -p 'tile-bounds,tile-split-reduction' --split-input-file | filecheck %s
// RUN: tile-opt %s -p 'tile-bounds,tile-split-reduction,tile-fuse,tile-loop-tiling' --split-input-file | filecheck %s --check-prefix=TILED
// RUN: tile-opt %s -p 'tile-bounds,tile-split-reduction{explain}' --split-input-file 2>&1 >/dev/null | filecheck %s --check-prefix=WHY

// Products whose tiles fill few units have sums in parts, each unit one; their number is in where
// operands are read.
// WHY: C: split into partial results, as {{[0-9]+}} parts of k have tiles for more of the tensor cores
// Nothing is written before the partial results, of which each has points.
// CHECK-LABEL: @long
// CHECK-NOT:   assign
// CHECK:       %C_parts = tile.contraction add(%A[i, 256*k_part + k] mul %B[256*k_part + k, j]) -> [k_part, i, j]
// CHECK-SAME:  -> tensor<32x128x128xf32>
// TILED-LABEL: @long
// TILED-NOT:   starts
// TILED:       schedule <group.z k_part : 32, group.y 64*i : 2, group.x 64*j : 2, {{.*}}instruction mma_m16n16k16_f16 <i, j, k>
// TILED-SAME:  async copies 3
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"platform" = "NVIDIA CUDA", "compute_capability" = 90 : i64, "compute_units" = 132 : i64>>} {
  func.func @long(%A: tensor<128x8192xf16>, %B: tensor<8192x128xf16>) -> tensor<128x128xf16> {
    %C = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] : (tensor<128x8192xf16>, tensor<8192x128xf16>) -> tensor<128x128xf16>
    func.return %C : tensor<128x128xf16>
  }
}

// -----

// Parts end at whole steps; the last one is shorter.
// CHECK-LABEL: @uneven
// CHECK:       add(%A[832*k_part + k, i] mul %B[j, 832*k_part + k]) -> [k_part, i, j]
// TILED-LABEL: @uneven
// TILED:       instruction mma_m16n16k16_bf16 <i, j, k>
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"platform" = "NVIDIA CUDA", "compute_capability" = 90 : i64, "compute_units" = 132 : i64>>} {
  func.func @uneven(%A: tensor<4100x300xbf16>, %B: tensor<300x4100xbf16>) -> tensor<300x300xbf16> {
    %C = tile.contraction add(%A[k, i] mul %B[j, k]) -> [i, j] : (tensor<4100x300xbf16>, tensor<300x4100xbf16>) -> tensor<300x300xbf16>
    func.return %C : tensor<300x300xbf16>
  }
}

// -----

// Tiles that fill the device, short sums, and what one kernel computes as fast have no parts.
// WHY: C: not split into partial results, as tensor cores compute it
// WHY: D: not split into partial results, as tensor cores compute it
// CHECK-LABEL: @whole
// CHECK-NOT:   parts
// CHECK:       return
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"platform" = "NVIDIA CUDA", "compute_capability" = 90 : i64, "compute_units" = 132 : i64>>} {
  func.func @whole(%A: tensor<1000x3000xf16>, %B: tensor<3000x700xf16>, %P: tensor<512x512xf16>) -> (tensor<1000x700xf16>, tensor<512x512xf16>) {
    %C = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] : (tensor<1000x3000xf16>, tensor<3000x700xf16>) -> tensor<1000x700xf16>
    %D = tile.contraction add(%P[i, k] mul %P[k, j]) -> [i, j] : (tensor<512x512xf16>, tensor<512x512xf16>) -> tensor<512x512xf16>
    func.return %C, %D : tensor<1000x700xf16>, tensor<512x512xf16>
  }
}

// -----

// No step of a part goes on into the next one.
// TILED-LABEL: @amid
// TILED-NOT:   instruction
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"platform" = "NVIDIA CUDA", "compute_capability" = 90 : i64, "compute_units" = 4 : i64>>} {
  func.func @amid(%A: tensor<256x576xf16>, %B: tensor<576x256xf16>) -> tensor<4x256x256xf16> {
    %C = tile.contraction add(%A[i, 144*p + k] mul %B[144*p + k, j]) -> [p, i, j] where 0 <= k < 144 : (tensor<256x576xf16>, tensor<576x256xf16>) -> tensor<4x256x256xf16>
    func.return %C : tensor<4x256x256xf16>
  }
}
