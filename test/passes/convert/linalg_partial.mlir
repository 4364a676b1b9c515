// RUN: tile-opt %s -p convert-linalg-to-tile{partial=true} | filecheck %s

// What has no counterpart stays, between ops that are converted.

// CHECK: func.func @largest(%x: tensor<4x6xf32>, %v: tensor<4xf32>, %p: tensor<4xi32>)
// CHECK-NEXT: %e = tile.exp %x
// CHECK-NEXT: %a, %b = linalg.generic
// CHECK: tile.contraction add(%a[d0]) -> []
func.func @largest(%x: tensor<4x6xf32>, %v: tensor<4xf32>, %p: tensor<4xi32>) -> (tensor<f32>, tensor<4xi32>) {
  %e = math.exp %x : tensor<4x6xf32>
  %a, %b = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>,
      affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%e : tensor<4x6xf32>) outs(%v, %p : tensor<4xf32>, tensor<4xi32>) {
  ^bb0(%f: f32, %m: f32, %n: i32):
    %k = linalg.index 1 : index
    %j = arith.index_cast %k : index to i32
    %c = arith.cmpf ugt, %f, %m : f32
    %s = arith.select %c, %f, %m : f32
    %t = arith.select %c, %j, %n : i32
    linalg.yield %s, %t : f32, i32
  } -> (tensor<4xf32>, tensor<4xi32>)
  %z = arith.constant dense<0.0> : tensor<f32>
  %s = linalg.reduce { arith.addf } ins(%a : tensor<4xf32>) outs(%z : tensor<f32>) dimensions = [0]
  func.return %s, %b : tensor<f32>, tensor<4xi32>
}
