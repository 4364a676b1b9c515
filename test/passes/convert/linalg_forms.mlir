// RUN: tile-opt %s -p convert-linalg-to-tile | filecheck %s
// RUN: tile-opt %s | tile-opt -p convert-linalg-to-tile | filecheck %s
// RUN: tile-opt %s --print-op-generic | tile-opt -p convert-linalg-to-tile | filecheck %s

#maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>]
#trait = {indexing_maps = #maps, iterator_types = ["parallel", "parallel"], library_call = "turn"}

// Maps and kinds of loops under a name.
// CHECK-LABEL: func.func @trait(
// CHECK-NEXT: %r = tile.contraction assign(%x[d1, d0]) -> [d0, d1]
func.func @trait(%x: tensor<3x4xf32>, %y: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %r = linalg.generic #trait ins(%x : tensor<3x4xf32>) outs(%y : tensor<4x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<4x3xf32>
  func.return %r : tensor<4x3xf32>
}

// Numbers without a sign.
// CHECK-LABEL: func.func @casts(
// CHECK-NEXT: tile.cast %x : (tensor<3x4xi8>) -> tensor<3x4xui8>
func.func @casts(%x: tensor<3x4xi8>, %y: tensor<4x2xi8>, %z: tensor<3x2xi32>) -> tensor<3x2xi32> {
  %r = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%x, %y : tensor<3x4xi8>, tensor<4x2xi8>) outs(%z : tensor<3x2xi32>) -> tensor<3x2xi32>
  func.return %r : tensor<3x2xi32>
}
