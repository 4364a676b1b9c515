// RUN: tile-opt %s -p tile-to-nest | filecheck %s

// Vectors that a lone work-item adds in one step have sums of their own, which are added up last.
// CHECK:      %acc = nest.buffer : memref<2x4xf32, 5 : i32>
// CHECK:      nest.for %k_2 : serial to 3 {
// CHECK-NEXT:   nest.for %k_3 : unroll to 2 {
// CHECK-NEXT:     nest.for %k_4 : vector to 4 {
// CHECK-NEXT:       %1 = nest.load %a[%i, 8*%k_2 + 4*%k_3 + %k_4]
// CHECK-NEXT:       %2 = nest.load %acc[%k_3, %k_4]
// CHECK:      nest.for %lane : vector to 4 {
// CHECK-NEXT:   %4 = nest.load %acc[0, %lane]
// CHECK-NEXT:   %5 = nest.load %acc[1, %lane]
// CHECK:      nest.for %lane_1 : vector to 2 {
// CHECK-NEXT:   %7 = nest.load %acc[0, %lane_1]
// CHECK-NEXT:   %8 = nest.load %acc[0, %lane_1 + 2]
func.func @sums(%A: tensor<5x24xf32>) -> tensor<5xf32> {
  %S = tile.kernel(%a = %A : tensor<5x24xf32>) -> tensor<5xf32>
    schedule <group.x i : 5, serial 8*k : 3, unroll 4*k : 2, vector k : 4> {
    %s = tile.contraction add(%a[i, k]) -> [i] domain <i = 0 to 5, k = 0 to 24>
         : (tensor<5x24xf32>) -> tensor<5xf32>
    tile.yield %s : tensor<5xf32>
  }
  func.return %S : tensor<5xf32>
}

// Work-items beside one another need none.
// CHECK:       sym_name = "items_kernels"
// CHECK:       %acc = nest.buffer : memref<4xf32, 5 : i32>
func.func @items(%A: tensor<5x24xf32>) -> tensor<5xf32> {
  %S = tile.kernel(%a = %A : tensor<5x24xf32>) -> tensor<5xf32>
    schedule <local.x i : 5, serial 8*k : 3, unroll 4*k : 2, vector k : 4> {
    %s = tile.contraction add(%a[i, k]) -> [i] domain <i = 0 to 5, k = 0 to 24>
         : (tensor<5x24xf32>) -> tensor<5xf32>
    tile.yield %s : tensor<5xf32>
  }
  func.return %S : tensor<5xf32>
}
