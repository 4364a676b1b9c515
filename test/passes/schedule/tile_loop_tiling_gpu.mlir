// RUN: tile-opt %s -p tile-loop-tiling | filecheck %s
// RUN: tile-opt %s -p 'tile-loop-tiling{explain}' 2>&1 | filecheck %s --check-prefix=WHY

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<
    "platform" = "NVIDIA CUDA", "compute_units" = 132 : i64, "max_work_group_size" = 1024 : i64,
    "local_mem_size" = 49152 : i64>>} {

// Tiles at three levels, both operands staged in local memory and again in registers.
// CHECK: @product
// CHECK: schedule <group.y {{[0-9]+}}*i : {{[0-9]+}}, group.x {{[0-9]+}}*j : {{[0-9]+}}, local.x
// CHECK-SAME: serial {{[0-9]+}}*k
// CHECK-SAME: vector j : 4>
// CHECK-SAME: stage <%a local at
// CHECK-SAME: %b local at
// CHECK-SAME: %a private at k vector 4, %b private at k vector 4>
// WHY:      device: 132 compute units, {{[0-9]+}} GFLOP/s, {{[0-9]+}} GB/s, 5 us to start a kernel; a group has at most 48 KiB of local memory and 1024 work-items
// WHY-NEXT: C: {{[0-9]+}} schedules weighed; {{[0-9]+}} more would need more than {{.*}}
// WHY-NEXT:   computes: c[i, j] = +(a[i, k] * b[k, j])
// WHY-NEXT:   loops: i < 2048, j < 2048; aggregated over k < 2048
// WHY-NEXT:   at least: {{[0-9.]+}} us for 17180 million operations, {{[0-9.]+}} us to move 50.3 MB
// WHY-NEXT:   us: total arithmetic local cache memory waiting launch groups groups/unit registers local bytes
// WHY-NEXT:   1: {{.*}} contractions, bound by arithmetic
// WHY-NEXT:     <group.y {{.*}} stage <a local at
// WHY:          default, bound by waiting
// WHY:        chosen: 1, the fastest by the model: 2 would take {{[0-9.]+}} % more, as waiting takes {{[0-9.]+}} us instead of {{[0-9.]+}}
func.func @product(%A: tensor<2048x2048xf32>, %B: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %C = tile.kernel(%a = %A : tensor<2048x2048xf32>, %b = %B : tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 2048, j = 0 to 2048, k = 0 to 2048> : (tensor<2048x2048xf32>, tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
    tile.yield %c : tensor<2048x2048xf32>
  }
  func.return %C : tensor<2048x2048xf32>
}

// A convolution: pixels in rows, a window of them in registers, taps inside the chunks.
// CHECK: @convolution
// CHECK: schedule <group.z n : 32
// CHECK-SAME: local.x 4*co : 8
// CHECK-SAME: unroll j : 3, unroll i : 3, unroll x : {{[0-9]+}}
// CHECK-SAME: vector co : 4>
// CHECK-SAME: stage <%a local at
// CHECK-SAME: order (0, 1, 3, 2)
// CHECK-SAME: %a private at j
func.func @convolution(%A: tensor<32x56x56x64xf32>, %B: tensor<3x3x64x64xf32>) -> tensor<32x56x56x64xf32> {
  %C = tile.kernel(%a = %A : tensor<32x56x56x64xf32>, %b = %B : tensor<3x3x64x64xf32>) -> tensor<32x56x56x64xf32> {
    %c = tile.contraction add(%a[n, y + j - 1, x + i - 1, ci] mul %b[j, i, ci, co]) -> [n, y, x, co] domain <n = 0 to 32, y = 0 to 56, x = 0 to 56, co = 0 to 64, j = 0 to 3, i = 0 to 3, ci = 0 to 64> : (tensor<32x56x56x64xf32>, tensor<3x3x64x64xf32>) -> tensor<32x56x56x64xf32>
    tile.yield %c : tensor<32x56x56x64xf32>
  }
  func.return %C : tensor<32x56x56x64xf32>
}

// A schedule that the user gave stays, and is compared with what would be chosen.
// WHY:      C_2: {{[0-9]+}} schedules weighed beside the one that is given
// WHY:        1: {{.*}} given, bound by launch
// WHY-NEXT:     <unroll i : 2, serial k : 2, unroll j : 2>
// WHY-NEXT:   2: {{.*}} sums, bound by launch
// WHY:        given: 1, which takes {{[0-9.]+}} % more by the model than 2, the fastest
// CHECK: schedule <unroll i : 2, serial k : 2, unroll j : 2> {
func.func @given(%A: tensor<2x2xf32>, %B: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %C = tile.kernel(%a = %A : tensor<2x2xf32>, %b = %B : tensor<2x2xf32>) -> tensor<2x2xf32> schedule <unroll i : 2, serial k : 2, unroll j : 2> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 2, j = 0 to 2, k = 0 to 2> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    tile.yield %c : tensor<2x2xf32>
  }
  func.return %C : tensor<2x2xf32>
}
}
