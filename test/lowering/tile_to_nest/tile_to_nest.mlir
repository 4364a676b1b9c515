// RUN: tile-opt %s -p tile-to-nest --split-input-file | filecheck %s

// A register tile inside the summed loops; tiles that work-items copy together, one transposed.
// CHECK:      nest.for %i : group.y to 2 {
// CHECK-NEXT:   nest.for %j : local.x to 4 {
// CHECK-NEXT:     %acc = nest.buffer : memref<8x4xf32, 5 : i32>
// CHECK-NEXT:     nest.for %i_1 : unroll to 8 {
// CHECK-NEXT:       nest.for %j_1 : vector to 4 {
// CHECK-NEXT:         %{{[0-9]+}} = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:         nest.store %{{[0-9]+}}, %acc[%i_1, %j_1] : f32, memref<8x4xf32, 5 : i32>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:     nest.for %k : serial to 2 {
// CHECK-NEXT:       %a_tile = nest.buffer : memref<4x8xf32, strided<[9, 1]>, 3 : i32>
// CHECK-NEXT:       nest.for %t : unroll to 8 {
// CHECK-NEXT:         %{{[0-9]+}} = nest.load %a[8*%i + %t, 4*%k + %j] : memref<16x8xf32, 1 : i32>
// CHECK-NEXT:         nest.store %{{[0-9]+}}, %a_tile[%j, %t] : f32, memref<4x8xf32, strided<[9, 1]>, 3 : i32>
// CHECK-NEXT:       }
// CHECK-NEXT:       %b_tile = nest.buffer : memref<4x16xf32, 3 : i32>
// CHECK-NEXT:       nest.for %t_1 : unroll to 4 {
// CHECK-NEXT:         nest.for %lane : vector to 4 {
// CHECK-NEXT:           %{{[0-9]+}} = nest.load %b[4*%k + %t_1, 4*%j + %lane] : memref<8x16xf32, 1 : i32>
// CHECK-NEXT:           nest.store %{{[0-9]+}}, %b_tile[%t_1, 4*%j + %lane] : f32, memref<4x16xf32, 3 : i32>
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:       nest.for %k_1 : serial to 4 {
// CHECK-NEXT:         nest.for %i_2 : unroll to 8 {
// CHECK-NEXT:           nest.for %j_2 : vector to 4 {
// CHECK-NEXT:             %{{[0-9]+}} = nest.load %a_tile[%k_1, %i_2] : memref<4x8xf32, strided<[9, 1]>, 3 : i32>
// CHECK-NEXT:             %{{[0-9]+}} = nest.load %b_tile[%k_1, 4*%j + %j_2] : memref<4x16xf32, 3 : i32>
// CHECK-NEXT:             %{{[0-9]+}} = arith.mulf %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT:             %{{[0-9]+}} = nest.load %acc[%i_2, %j_2] : memref<8x4xf32, 5 : i32>
// CHECK-NEXT:             %{{[0-9]+}} = arith.addf %{{[0-9]+}}, %{{[0-9]+}} : f32
// CHECK-NEXT:             nest.store %{{[0-9]+}}, %acc[%i_2, %j_2] : f32, memref<8x4xf32, 5 : i32>
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:     nest.for %i_3 : unroll to 8 {
// CHECK-NEXT:       nest.for %j_3 : vector to 4 {
// CHECK-NEXT:         %{{[0-9]+}} = nest.load %acc[%i_3, %j_3] : memref<8x4xf32, 5 : i32>
// CHECK-NEXT:         nest.store %{{[0-9]+}}, %c[8*%i + %i_3, 4*%j + %j_3] : f32, memref<16x16xf32, 1 : i32>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @mm(%A: tensor<16x8xf32>, %B: tensor<8x16xf32>) -> tensor<16x16xf32> {
  %C = tile.kernel(%a = %A : tensor<16x8xf32>, %b = %B : tensor<8x16xf32>) -> tensor<16x16xf32>
    schedule <group.y 8*i : 2, local.x 4*j : 4, serial 4*k : 2, serial k : 4, unroll i : 8, vector j : 4>
    stage <%a local at 4*k pad 1 order (1, 0), %b local at 4*k vector 4> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 16, j = 0 to 16, k = 0 to 8> : (tensor<16x8xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
    tile.yield %c : tensor<16x16xf32>
  }
  func.return %C : tensor<16x16xf32>
}

// -----

// Work-items divide a sum among themselves: a tree in local memory.
// CHECK:      nest.for %i : group.x to 3 {
// CHECK-NEXT:   nest.for %k : local.x to 4 {
// CHECK-NEXT:     %acc = nest.buffer : memref<f32, 5 : i32>
// CHECK-NEXT:     %{{[0-9]+}} = arith.constant 0xff800000 : f32
// CHECK-NEXT:     nest.store %{{[0-9]+}}, %acc[] : f32, memref<f32, 5 : i32>
// CHECK-NEXT:     nest.for %k_1 : serial to 15 {
// CHECK-NEXT:       %{{[0-9]+}} = nest.load %a[%i, 4*%k_1 + %k] : memref<3x60xf32, 1 : i32>
// CHECK-NEXT:       %{{[0-9]+}} = nest.load %acc[] : memref<f32, 5 : i32>
// CHECK-NEXT:       %{{[0-9]+}} = arith.maximumf %{{[0-9]+}}, %{{[0-9]+}} fastmath<nsz> : f32
// CHECK-NEXT:       nest.store %{{[0-9]+}}, %acc[] : f32, memref<f32, 5 : i32>
// CHECK-NEXT:     }
// CHECK-NEXT:     %partial = nest.buffer : memref<1x2xf32, 3 : i32>
// CHECK-NEXT:     %partial_1 = nest.buffer : memref<1x1xf32, 3 : i32>
// CHECK-NEXT:     nest.if 2 <= %k {
// CHECK-NEXT:       %{{[0-9]+}} = nest.load %acc[] : memref<f32, 5 : i32>
// CHECK-NEXT:       nest.store %{{[0-9]+}}, %partial[0, %k - 2] : f32, memref<1x2xf32, 3 : i32>
// CHECK-NEXT:     }
// CHECK-NEXT:     nest.if %k < 2 {
// CHECK-NEXT:       %{{[0-9]+}} = nest.load %partial[0, %k] : memref<1x2xf32, 3 : i32>
// CHECK-NEXT:       %{{[0-9]+}} = nest.load %acc[] : memref<f32, 5 : i32>
// CHECK-NEXT:       %{{[0-9]+}} = arith.maximumf %{{[0-9]+}}, %{{[0-9]+}} fastmath<nsz> : f32
// CHECK-NEXT:       nest.store %{{[0-9]+}}, %acc[] : f32, memref<f32, 5 : i32>
// CHECK-NEXT:       nest.if 1 <= %k {
// CHECK-NEXT:         %{{[0-9]+}} = nest.load %acc[] : memref<f32, 5 : i32>
// CHECK-NEXT:         nest.store %{{[0-9]+}}, %partial_1[0, 0] : f32, memref<1x1xf32, 3 : i32>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:     nest.if %k < 1 {
// CHECK-NEXT:       %{{[0-9]+}} = nest.load %partial_1[0, 0] : memref<1x1xf32, 3 : i32>
// CHECK-NEXT:       %{{[0-9]+}} = nest.load %acc[] : memref<f32, 5 : i32>
// CHECK-NEXT:       %{{[0-9]+}} = arith.maximumf %{{[0-9]+}}, %{{[0-9]+}} fastmath<nsz> : f32
// CHECK-NEXT:       nest.store %{{[0-9]+}}, %acc[] : f32, memref<f32, 5 : i32>
// CHECK-NEXT:     }
// CHECK-NEXT:     nest.if %k == 0 {
// CHECK-NEXT:       %{{[0-9]+}} = nest.load %acc[] : memref<f32, 5 : i32>
// CHECK-NEXT:       nest.store %{{[0-9]+}}, %s[%i] : f32, memref<3xf32, 1 : i32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @rows(%A: tensor<3x60xf32>) -> tensor<3xf32> {
  %S = tile.kernel(%a = %A : tensor<3x60xf32>) -> tensor<3xf32> schedule <group.x i : 3, local.x k : 4, serial 4*k : 15> {
    %s = tile.contraction max(%a[i, k]) -> [i] domain <i = 0 to 3, k = 0 to 60> : (tensor<3x60xf32>) -> tensor<3xf32>
    tile.yield %s : tensor<3xf32>
  }
  func.return %S : tensor<3xf32>
}

// -----

// Work-items that share several sums have their parts side by side, each a vector: neighbours are
// neighbours there, and no two meet in a bank.
// CHECK:      %partial = nest.buffer : memref<2x2x8x4xf32, 3 : i32>
// CHECK-NEXT: %partial_1 = nest.buffer : memref<2x1x8x4xf32, 3 : i32>
// CHECK-NEXT: nest.if 2 <= %k {
// CHECK-NEXT:   nest.for %{{i.*}} : unroll to 2 {
// CHECK-NEXT:     nest.for %{{j.*}} : vector to 4 {
// CHECK-NEXT:       %{{.*}} = nest.load %acc[%{{i.*}}, %{{j.*}}] : memref<2x4xf32, 5 : i32>
// CHECK-NEXT:       nest.store %{{.*}}, %partial[%{{.*}}, %k - 2, %j, %{{.*}}]
// CHECK:      nest.if %k < 2 {
// CHECK-NEXT:   nest.for %{{i.*}} : unroll to 2 {
// CHECK-NEXT:     nest.for %{{j.*}} : vector to 4 {
// CHECK-NEXT:       %{{.*}} = nest.load %partial[%{{.*}}, %k, %j, %{{.*}}]
func.func @product(%A: tensor<2x64xf32>, %B: tensor<64x32xf32>) -> tensor<2x32xf32> {
  %C = tile.kernel(%a = %A : tensor<2x64xf32>, %b = %B : tensor<64x32xf32>) -> tensor<2x32xf32>
    schedule <local.x k : 4, local.x 4*j : 8, serial 4*k : 16, unroll i : 2, vector j : 4> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 2, j = 0 to 32, k = 0 to 64>
         : (tensor<2x64xf32>, tensor<64x32xf32>) -> tensor<2x32xf32>
    tile.yield %c : tensor<2x32xf32>
  }
  func.return %C : tensor<2x32xf32>
}

// -----

// No inner loop tests for the padding: rows of it are skipped, the rest is zeros in the tile.
// CHECK:      nest.for %j : serial to 4 {
// CHECK:        nest.for %k : serial to 3 {
// CHECK-NEXT:     nest.if 1 <= %i + %k and %i + %k < 9 {
// CHECK-NEXT:       nest.for %l : serial to 3 {
// CHECK-NEXT:         nest.for %j_2 : vector to 4 {
// CHECK-NEXT:           %{{[0-9]+}} = nest.load %x_tile[%k, 4*%j + %j_2 + %l] : memref<3x18xf32, 3 : i32>
// CHECK-NEXT:           %{{[0-9]+}} = nest.load %w[%k, %l] : memref<3x3xf32, 1 : i32>
func.func @padded(%X: tensor<8x16xf32>, %W: tensor<3x3xf32>) -> tensor<8x16xf32> {
  %Y = tile.kernel(%x = %X : tensor<8x16xf32>, %w = %W : tensor<3x3xf32>) -> tensor<8x16xf32>
    schedule <group.x i : 8, serial 4*j : 4, serial k : 3, serial l : 3, vector j : 4>
    stage <%x local> {
    %y = tile.contraction add(%x[i + k - 1, j + l - 1] mul %w[k, l]) -> [i, j]
         domain <i = 0 to 8, j = 0 to 16, k = 0 to 3, l = 0 to 3>
         : (tensor<8x16xf32>, tensor<3x3xf32>) -> tensor<8x16xf32>
    tile.yield %y : tensor<8x16xf32>
  }
  func.return %Y : tensor<8x16xf32>
}

// -----

// Sums in blocks: those that a step of the outer sum does not touch wait in memory.
// CHECK:      %acc = nest.buffer : memref<4x2x4xf32, 5 : i32>
// CHECK:      nest.for %k : serial to 2 {
// CHECK:        nest.for %i_2 : serial to 4 {
// CHECK-NEXT:     %sum = nest.buffer : memref<2x4xf32, 5 : i32>
// CHECK:            %{{[0-9]+}} = nest.load %acc[%i_2, %i_3, %j_2] : memref<4x2x4xf32, 5 : i32>
// CHECK-NEXT:       nest.store %{{[0-9]+}}, %sum[%i_3, %j_2] : f32, memref<2x4xf32, 5 : i32>
// CHECK:          nest.for %k_1 : serial to 6 {
// CHECK-NEXT:       nest.for %i_4 : unroll to 2 {
// CHECK-NEXT:         nest.for %j_3 : vector to 4 {
// CHECK-NEXT:           %{{[0-9]+}} = nest.load %a[2*%i_2 + %i_4, 6*%k + %k_1] : memref<8x12xf32, 1 : i32>
// CHECK-NEXT:           %{{[0-9]+}} = nest.load %b_tile[%k_1, %j_3] : memref<6x4xf32, 3 : i32>
// CHECK:                nest.store %{{[0-9]+}}, %sum[%i_4, %j_3] : f32, memref<2x4xf32, 5 : i32>
// CHECK:            %{{[0-9]+}} = nest.load %sum[%i_5, %j_4] : memref<2x4xf32, 5 : i32>
// CHECK-NEXT:       nest.store %{{[0-9]+}}, %acc[%i_2, %i_5, %j_4] : f32, memref<4x2x4xf32, 5 : i32>
// CHECK:      nest.if 4*%j + %j_5 < 6 {
func.func @blocked(%A: tensor<8x12xf32>, %B: tensor<12x6xf32>) -> tensor<8x6xf32> {
  %C = tile.kernel(%a = %A : tensor<8x12xf32>, %b = %B : tensor<12x6xf32>) -> tensor<8x6xf32>
    schedule <group.x 4*j : 2, serial 6*k : 2, serial 2*i : 4, serial k : 6, unroll i : 2, vector j : 4>
    stage <%b local at 6*k> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j]
         domain <i = 0 to 8, j = 0 to 6, k = 0 to 12>
         : (tensor<8x12xf32>, tensor<12x6xf32>) -> tensor<8x6xf32>
    tile.yield %c : tensor<8x6xf32>
  }
  func.return %C : tensor<8x6xf32>
}
