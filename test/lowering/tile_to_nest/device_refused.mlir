// RUN: not tile-opt %s -p tile-to-nest 2>&1 | filecheck %s
// RUN: not tile-opt %s -p 'tile-loop-tiling{schedules="C: <local.y i : 16, local.x j : 16, serial k : 64>"},tile-to-nest' 2>&1 | filecheck %s --check-prefix=ITEMS

// What the device has not is refused, with the kernel's name and what it keeps.
// CHECK: kernel f_0_C keeps 4864 bytes in local memory (a_tile: 3840, b_tile: 1024); the device has 4096
// ITEMS: kernel f_0_C has work-groups of 256 work-items; the device runs at most 64
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"max_work_group_size" = 64 : i64, "local_mem_size" = 4096 : i64>>} {
  func.func @f(%A: tensor<16x64xf32>, %B: tensor<64x16xf32>) -> tensor<16x16xf32> {
    %C = tile.kernel(%a = %A : tensor<16x64xf32>, %b = %B : tensor<64x16xf32>) -> tensor<16x16xf32>
      schedule <group.y 8*i : 2, local.y i : 8, group.x 4*j : 4, local.x j : 4, serial 32*k : 2, serial k : 32>
      stage <%a local at 32*k copies 2 pad 32, %b local at 32*k copies 2> {
      %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 16, j = 0 to 16, k = 0 to 64> : (tensor<16x64xf32>, tensor<64x16xf32>) -> tensor<16x16xf32>
      tile.yield %c : tensor<16x16xf32>
    }
    func.return %C : tensor<16x16xf32>
  }
}
