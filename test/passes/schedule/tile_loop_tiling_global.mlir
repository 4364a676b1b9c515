// RUN: tile-opt %s -p tile-loop-tiling | filecheck %s
// RUN: tile-opt %s -p 'tile-loop-tiling{schedules="C_b: <group.x d0 : 32, serial d1 : 16>"}' | filecheck %s --check-prefix=GIVEN
// RUN: not tile-opt %s -p tile-to-nest 2>&1 | filecheck %s --check-prefix=NEST

// A kernel copies what is staged in global memory; the other reads the copy, and so do its stages.
// CHECK:      %C_b = tile.kernel @C_b(%B_1 = %B : tensor<32x16xf32>) -> tensor<16x32xf32>
// CHECK-SAME:   schedule <{{.*}}> attributes {staging} {
// CHECK-NEXT:   %{{.*}} = tile.contraction assign(%B_1[d0, d1]) -> [d1, d0] domain <d1 = 0 to 16, d0 = 0 to 32>
// CHECK:      %C = tile.kernel(%a = %A : tensor<8x32xf32>, %b = %C_b : tensor<16x32xf32>) -> tensor<8x16xf32>
// CHECK-SAME:   stage <%b private at k order (1, 0)> {
// CHECK-NEXT:   %{{.*}} = tile.contraction add(%a[i, k] mul %b[j, k]) -> [i, j]
// GIVEN:      %C_b = tile.kernel{{.*}} schedule <group.x d0 : 32, serial d1 : 16> attributes {staging}
// NEST:       b is staged in global memory: run tile-loop-tiling first
// Rows may be padded; zeros add nothing.
// CHECK-LABEL: @padded
// CHECK:      %{{.*}} = tile.contraction assign(%{{.*}}[d0, d1]) -> [d0, d1] domain <d0 = 0 to 8, d1 = 0 to 32> : (tensor<8x29xf32>) -> tensor<8x32xf32>
// CHECK:      %C = tile.kernel(%a = %C_a : tensor<8x32xf32>, %b = %B : tensor<29x16xf32>)
func.func @product(%A: tensor<8x32xf32>, %B: tensor<32x16xf32>) -> tensor<8x16xf32> {
  %C = tile.kernel(%a = %A : tensor<8x32xf32>, %b = %B : tensor<32x16xf32>) -> tensor<8x16xf32>
    schedule <local.x i : 8, serial k : 32, unroll j : 16>
    stage <%b global order (1, 0), %b private at k order (0, 1)> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 16, k = 0 to 32> : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
    tile.yield %c : tensor<8x16xf32>
  }
  func.return %C : tensor<8x16xf32>
}

func.func @padded(%A: tensor<8x29xf32>, %B: tensor<29x16xf32>) -> tensor<8x16xf32> {
  %C = tile.kernel(%a = %A : tensor<8x29xf32>, %b = %B : tensor<29x16xf32>) -> tensor<8x16xf32>
    schedule <local.x i : 8, serial 8*k : 4, serial k : 8, unroll j : 16>
    stage <%a global order (0, 1) pad 3, %a local at 8*k vector 4> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 8, j = 0 to 16, k = 0 to 29> : (tensor<8x29xf32>, tensor<29x16xf32>) -> tensor<8x16xf32>
    tile.yield %c : tensor<8x16xf32>
  }
  func.return %C : tensor<8x16xf32>
}
