// RUN: tile-opt %s -p 'tile-bounds,tile-fuse{apart=T}' | filecheck %s
// RUN: not tile-opt %s -p 'tile-bounds,tile-fuse{apart=U}' 2>&1 | filecheck %s --check-prefix=NONE

// The name of a location counts, and not the SSA name.
// CHECK: tile.exp
// CHECK: tile.kernel
// CHECK: tile.neg
// NONE: there is no result U to keep apart; there is T, C
func.func @f(%A: tensor<4xf32>) -> tensor<4xf32> {
  %U = tile.exp %A : (tensor<4xf32>) -> tensor<4xf32> loc("T")
  %C = tile.neg %U : (tensor<4xf32>) -> tensor<4xf32>
  func.return %C : tensor<4xf32>
}
