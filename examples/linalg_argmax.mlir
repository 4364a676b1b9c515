// The largest number of each row and its place: two results that depend on one another.
func.func @argmax(%x: tensor<4x6xf32>, %v: tensor<4xf32>, %p: tensor<4xi32>) -> tensor<4xi32> {
  %a, %b = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>,
      affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x6xf32>) outs(%v, %p : tensor<4xf32>, tensor<4xi32>) {
  ^bb0(%e: f32, %m: f32, %n: i32):
    %k = linalg.index 1 : index
    %j = arith.index_cast %k : index to i32
    %c = arith.cmpf ogt, %e, %m : f32
    %s = arith.select %c, %e, %m : f32
    %t = arith.select %c, %j, %n : i32
    linalg.yield %s, %t : f32, i32
  } -> (tensor<4xf32>, tensor<4xi32>)
  func.return %b : tensor<4xi32>
}
