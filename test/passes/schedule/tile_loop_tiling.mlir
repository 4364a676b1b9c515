// RUN: tile-opt %s -p tile-loop-tiling | filecheck %s
// RUN: tile-opt %s -p 'tile-loop-tiling{local-size=4}' | filecheck %s --check-prefix=SMALL
// RUN: not tile-opt %s -p 'tile-loop-tiling{local-size=0}' 2>&1 | filecheck %s --check-prefix=NONE

// CHECK: schedule <group.y i : 100, group.x 64*j : 4, local.x j : 64, serial k : 50>
// SMALL: schedule <group.y i : 100, group.x 4*j : 50, local.x j : 4, serial k : 50>
// NONE: `local-size` must be at least 1, got 0
func.func @product(%A: tensor<100x50xf32>, %B: tensor<50x200xf32>) -> tensor<100x200xf32> {
  %C = tile.kernel(%a = %A : tensor<100x50xf32>, %b = %B : tensor<50x200xf32>) -> tensor<100x200xf32> {
    %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 100, j = 0 to 200, k = 0 to 50> : (tensor<100x50xf32>, tensor<50x200xf32>) -> tensor<100x200xf32>
    tile.yield %c : tensor<100x200xf32>
  }
  func.return %C : tensor<100x200xf32>
}

// Small inner axes share a work-group.
// CHECK: schedule <group.z d0 : 5, local.x d1 : 10, local.x d2 : 6>
// SMALL: schedule
func.func @small(%A: tensor<5x10x6xf32>) -> tensor<5x10x6xf32> {
  %C = tile.kernel(%a = %A : tensor<5x10x6xf32>) -> tensor<5x10x6xf32> {
    %c = tile.exp %a : (tensor<5x10x6xf32>) -> tensor<5x10x6xf32>
    tile.yield %c : tensor<5x10x6xf32>
  }
  func.return %C : tensor<5x10x6xf32>
}

// A schedule that is there stays.
// CHECK: schedule <unroll d0 : 8>
func.func @given(%A: tensor<8xf32>) -> tensor<8xf32> {
  %C = tile.kernel(%a = %A : tensor<8xf32>) -> tensor<8xf32> schedule <unroll d0 : 8> {
    %c = tile.exp %a : (tensor<8xf32>) -> tensor<8xf32>
    tile.yield %c : tensor<8xf32>
  }
  func.return %C : tensor<8xf32>
}
