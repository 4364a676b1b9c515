// RUN: tile-opt %s -p tile-to-nest --split-input-file | filecheck %s

// A part is written over its initial value, of which it takes a view.
// CHECK-LABEL: func.func @view(
// CHECK:         %fill = "gpu.alloc"
// CHECK-NOT:     gpu.memcpy
// CHECK-NOT:     gpu.alloc
// CHECK:         func.return
func.func @view(%A: tensor<4xf32>) -> tensor<8xf32> {
  %fill = tile.kernel() -> tensor<2x4xf32> schedule <group.x i : 2, local.x j : 4> {
    %start = tile.constant 0 : tensor<f32>
    %f = tile.contraction assign(%start[]) -> [i, j] domain <i = 0 to 2, j = 0 to 4> : (tensor<f32>) -> tensor<2x4xf32>
    tile.yield %f : tensor<2x4xf32>
  }
  %view = tile.reshape %fill to [] : tensor<2x4xf32> -> tensor<8xf32>
  %O = tile.kernel(%a = %A : tensor<4xf32>, %d = %view : tensor<8xf32>) -> tensor<8xf32> schedule <local.x i : 4> {
    %o = tile.contraction assign(%a[i]) -> [i] default %d domain <i = 0 to 4> : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
    tile.yield %o : tensor<8xf32>
  }
  func.return %O : tensor<8xf32>
}

// -----

// Another user of the viewed tensor needs it as it was: the part is written into a copy.
// CHECK-LABEL: func.func @others(
// CHECK:         gpu.memcpy
func.func @others(%A: tensor<4xf32>) -> (tensor<8xf32>, tensor<2x4xf32>) {
  %fill = tile.kernel() -> tensor<2x4xf32> schedule <group.x i : 2, local.x j : 4> {
    %start = tile.constant 0 : tensor<f32>
    %f = tile.contraction assign(%start[]) -> [i, j] domain <i = 0 to 2, j = 0 to 4> : (tensor<f32>) -> tensor<2x4xf32>
    tile.yield %f : tensor<2x4xf32>
  }
  %view = tile.reshape %fill to [] : tensor<2x4xf32> -> tensor<8xf32>
  %O = tile.kernel(%a = %A : tensor<4xf32>, %d = %view : tensor<8xf32>) -> tensor<8xf32> schedule <local.x i : 4> {
    %o = tile.contraction assign(%a[i]) -> [i] default %d domain <i = 0 to 4> : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
    tile.yield %o : tensor<8xf32>
  }
  func.return %O, %fill : tensor<8xf32>, tensor<2x4xf32>
}
