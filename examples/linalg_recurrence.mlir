// Each number is added to the square of what was there before: no sum, product or extremum.
func.func @recurrence(%x: tensor<4x6xf32>, %v: tensor<4xf32>) -> tensor<4xf32> {
  %a = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x6xf32>) outs(%v : tensor<4xf32>) {
  ^bb0(%e: f32, %m: f32):
    %s = arith.mulf %m, %m : f32
    %t = arith.addf %s, %e : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}
