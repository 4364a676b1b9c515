// RUN: tile-opt %s --verify-diagnostics --parsing-diagnostics --split-input-file | filecheck %s

// CHECK: s must be alone in its kernel
func.func @alone(%U: tensor<4x8xf32>, %I: tensor<4xi32>, %V: tensor<9xf32>) -> tensor<9x8xf32> {
  %R = tile.kernel(%u = %U : tensor<4x8xf32>, %i = %I : tensor<4xi32>, %v = %V : tensor<9xf32>) -> tensor<9x8xf32> {
    %s = tile.scatter %u, %i, %v : (tensor<4x8xf32>, tensor<4xi32>, tensor<9xf32>) -> tensor<9x8xf32>
    %n = tile.neg %s : (tensor<9x8xf32>) -> tensor<9x8xf32>
    tile.yield %n : tensor<9x8xf32>
  }
  func.return %R : tensor<9x8xf32>
}

// -----

// CHECK: in a scatter, the rows of a work-item must lie together: the loop serial 3*d0 : 3 must have a smaller stride than those over work-groups and work-items
func.func @apart(%U: tensor<4x8xf32>, %I: tensor<4xi32>, %V: tensor<9xf32>) -> tensor<9x8xf32> {
  %R = tile.kernel(%u = %U : tensor<4x8xf32>, %i = %I : tensor<4xi32>, %v = %V : tensor<9xf32>) -> tensor<9x8xf32>
    schedule <local.x d0 : 3, serial 3*d0 : 3, vector d1 : 8> {
    %s = tile.scatter %u, %i, %v : (tensor<4x8xf32>, tensor<4xi32>, tensor<9xf32>) -> tensor<9x8xf32>
    tile.yield %s : tensor<9x8xf32>
  }
  func.return %R : tensor<9x8xf32>
}
