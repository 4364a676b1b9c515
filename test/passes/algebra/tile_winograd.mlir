// RUN: tile-opt %s -p tile-winograd | filecheck %s
// RUN: tile-opt %s -p 'tile-winograd{keep=Y}' | filecheck %s --check-prefix=KEPT
// RUN: tile-opt %s -p 'tile-winograd{explain=true}' 2>&1 >/dev/null | filecheck %s --check-prefix=WHY
// RUN: not tile-opt %s -p 'tile-winograd{contraction=S}' 2>&1 | filecheck %s --check-prefix=STRIDED
// RUN: not tile-opt %s -p 'tile-winograd{contraction=Z}' 2>&1 | filecheck %s --check-prefix=NONE

// STRIDED: S is not a sum of products of f32 over windows of 3 x 3 with stride 1
// NONE: there is no contraction Z; there is {{.*}}S

// WHY: O: sums of places first, {{[0-9.]+}} us so and {{[0-9.]+}} us with all products
// WHY: DK: sums of places first, {{[0-9.]+}} us so and {{[0-9.]+}} us with all products
// WHY: F: all products, as they are too few for several kernels
// WHY-NOT: S

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<
    "platform" = "NVIDIA CUDA", "compute_units" = 132 : i64, "max_work_group_size" = 1024 : i64,
    "local_mem_size" = 49152 : i64>>} {

// 16 products for each tile of 2 x 2 pixels.
// CHECK-LABEL: @forward
// CHECK: %O_windows = tile.contraction add(%I[n, ci, 2*y_tile + y_place - 1, 2*x_tile + x_place - 1] mul %{{.*}}[0, e, y_place, x_place]) -> [e, ci, n, y_tile, x_tile]
// CHECK: %O_weights = tile.contraction add(%K[co, ci, j, i] mul %{{.*}}[1, e, j, i]) -> [e, co, ci]
// CHECK: %O_products = tile.contraction add({{.*}}[e, c, p] mul {{.*}}[e, k, c]) -> [e, k, p] domain <e = 0 to 16, k = 0 to 256, p = 0 to 1568, c = 0 to 256>
// CHECK: %O = tile.contraction add({{.*}}[e, co, n, y_tile, x_tile] mul {{.*}}[2, e, y_place, x_place]) -> [n, co, 2*y_tile + y_place, 2*x_tile + x_place] where 0 <= y_place < 2, 0 <= x_place < 2
// CHECK: tile.relu %O
// KEPT-LABEL: @forward
// KEPT: %O = tile.contraction add(%I[n, ci, y + j - 1, x + i - 1] mul %K[co, ci, j, i]) -> [n, co, y, x]
func.func @forward(%I: tensor<32x256x14x14xf32>, %K: tensor<256x256x3x3xf32>) -> tensor<32x256x14x14xf32> {
  %O = tile.contraction add(%I[n, ci, y + j - 1, x + i - 1] mul %K[co, ci, j, i]) -> [n, co, y, x] domain <n = 0 to 32, co = 0 to 256, y = 0 to 14, x = 0 to 14, ci = 0 to 256, j = 0 to 3, i = 0 to 3> : (tensor<32x256x14x14xf32>, tensor<256x256x3x3xf32>) -> tensor<32x256x14x14xf32>
  %Y = tile.relu %O : (tensor<32x256x14x14xf32>) -> tensor<32x256x14x14xf32>
  func.return %Y : tensor<32x256x14x14xf32>
}

// The gradient by the weights, channels last: the taps are the result's.
// CHECK-LABEL: @weights
// CHECK: %DK_windows = {{.*}} -> [e, n, y_tile, x_tile, ci]
// CHECK: %DK_tiles = tile.contraction add(%D[n, 2*y_tile + y_place, 2*x_tile + x_place, co] mul %{{.*}}[2, e, y_place, x_place]) -> [e, n, y_tile, x_tile, co]
// CHECK: %DK_products = tile.contraction add({{.*}}[e, p, c] mul {{.*}}[e, p, k]) -> [e, c, k]
// CHECK: %DK = tile.contraction add({{.*}}[e, ci, co] mul {{.*}}[1, e, j, i]) -> [j, i, ci, co]
func.func @weights(%I: tensor<32x14x14x256xf32>, %D: tensor<32x14x14x256xf32>) -> tensor<3x3x256x256xf32> {
  %DK = tile.contraction add(%I[n, y + j - 1, x + i - 1, ci] mul %D[n, y, x, co]) -> [j, i, ci, co] domain <n = 0 to 32, co = 0 to 256, y = 0 to 14, x = 0 to 14, ci = 0 to 256, j = 0 to 3, i = 0 to 3> : (tensor<32x14x14x256xf32>, tensor<32x14x14x256xf32>) -> tensor<3x3x256x256xf32>
  func.return %DK : tensor<3x3x256x256xf32>
}

// Few products, strides, other windows, halves and channels that nothing sums stay.
// CHECK-LABEL: @others
// CHECK-NOT: _windows
// CHECK: return
func.func @others(%I: tensor<2x16x14x14xf32>, %K: tensor<16x16x3x3xf32>, %L: tensor<32x256x28x28xf32>, %M: tensor<256x256x3x3xf32>, %G: tensor<32x256x14x14xf16>, %H: tensor<256x256x3x3xf16>, %D: tensor<256x3x3xf32>) -> (tensor<2x16x14x14xf32>, tensor<32x256x14x14xf32>, tensor<32x256x14x14xf16>, tensor<32x256x28x28xf32>) {
  %F = tile.contraction add(%I[n, ci, y + j - 1, x + i - 1] mul %K[co, ci, j, i]) -> [n, co, y, x] domain <n = 0 to 2, co = 0 to 16, y = 0 to 14, x = 0 to 14, ci = 0 to 16, j = 0 to 3, i = 0 to 3> : (tensor<2x16x14x14xf32>, tensor<16x16x3x3xf32>) -> tensor<2x16x14x14xf32>
  %S = tile.contraction add(%L[n, ci, 2*y + j - 1, 2*x + i - 1] mul %M[co, ci, j, i]) -> [n, co, y, x] domain <n = 0 to 32, co = 0 to 256, y = 0 to 14, x = 0 to 14, ci = 0 to 256, j = 0 to 3, i = 0 to 3> : (tensor<32x256x28x28xf32>, tensor<256x256x3x3xf32>) -> tensor<32x256x14x14xf32>
  %T = tile.contraction add(%G[n, ci, y + j - 1, x + i - 1] mul %H[co, ci, j, i]) -> [n, co, y, x] domain <n = 0 to 32, co = 0 to 256, y = 0 to 14, x = 0 to 14, ci = 0 to 256, j = 0 to 3, i = 0 to 3> : (tensor<32x256x14x14xf16>, tensor<256x256x3x3xf16>) -> tensor<32x256x14x14xf16>
  %U = tile.contraction add(%L[n, c, y + j - 1, x + i - 1] mul %D[c, j, i]) -> [n, c, y, x] domain <n = 0 to 32, c = 0 to 256, y = 0 to 28, x = 0 to 28, j = 0 to 3, i = 0 to 3> : (tensor<32x256x28x28xf32>, tensor<256x3x3xf32>) -> tensor<32x256x28x28xf32>
  func.return %F, %S, %T, %U : tensor<2x16x14x14xf32>, tensor<32x256x14x14xf32>, tensor<32x256x14x14xf16>, tensor<32x256x28x28xf32>
}
}
