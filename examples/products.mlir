// Queries and keys: products of one tensor by two weights.
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<
  "type" = "gpu", "compute_units" = 132 : i64, "max_work_group_size" = 1024 : i64>>} {
  func.func @scores(%X: tensor<64x128xf32> {tile.name = "X"}, %V: tensor<128x32xf32> {tile.name = "V"}, %W: tensor<128x32xf32> {tile.name = "W"}) -> tensor<64x64xf32> {
    %Q = tile.contraction add(%X[i, k] mul %V[k, j]) -> [i, j] : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
    %K = tile.contraction add(%X[i, k] mul %W[k, j]) -> [i, j] : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
    %S = tile.contraction add(%Q[i, k] mul %K[j, k]) -> [i, j] : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x64xf32>
    func.return %S : tensor<64x64xf32>
  }
}
