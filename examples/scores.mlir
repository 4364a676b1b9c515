// The kernels of scores.tile with schedules by hand, for a processor with vectors of 8 floats.
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "type" = "cpu", "compute_units" = 4 : i64, "native_vector_width" = 8 : i64,
    "bandwidth" = 40.0 : f64, "arithmetic" = 400.0 : f64>>} {
  func.func @scores(%A: tensor<64x32xf32> {tile.name = "A", tile.dims = ["N", "K"]}, %B: tensor<32x8xf32> {tile.name = "B", tile.dims = ["K", "M"]}) -> (tensor<64x8xf32> {tile.name = "P"}) {
    %S = tile.kernel @S(%A_1 = %A : tensor<64x32xf32>, %B_1 = %B : tensor<32x8xf32>) -> tensor<64x8xf32>
        schedule <group.x i : 64, serial k : 32, vector j : 8> {
      %S_1 = tile.contraction add(%A_1[i, k] mul %B_1[k, j]) -> [i, j] domain <i = 0 to 64, j = 0 to 8, k = 0 to 32> : (tensor<64x32xf32>, tensor<32x8xf32>) -> tensor<64x8xf32>
      tile.yield %S_1 : tensor<64x8xf32>
    }
    %P = tile.kernel @P(%S_1 = %S : tensor<64x8xf32>) -> tensor<64x8xf32> axes <d0 = 0 to 64, d1 = 0 to 8>
        schedule <group.x d0 : 64, vector d1 : 8> {
      %Max = tile.contraction max(%S_1[d0, d1]) -> [d0, 0] : (tensor<64x8xf32>) -> tensor<64x1xf32>
      %0 = tile.sub %S_1, %Max : (tensor<64x8xf32>, tensor<64x1xf32>) -> tensor<64x8xf32>
      %Exp = tile.exp %0 : (tensor<64x8xf32>) -> tensor<64x8xf32>
      %Sum = tile.contraction add(%Exp[d0, d1]) -> [d0, 0] : (tensor<64x8xf32>) -> tensor<64x1xf32>
      %P_1 = tile.div %Exp, %Sum : (tensor<64x8xf32>, tensor<64x1xf32>) -> tensor<64x8xf32>
      tile.yield %P_1 : tensor<64x8xf32>
    }
    func.return %P : tensor<64x8xf32>
  }
}
