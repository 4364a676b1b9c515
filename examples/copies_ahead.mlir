// A product whose first operand is fetched two steps ahead, as NVIDIA's devices do it by themselves.
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"platform" = "NVIDIA CUDA", "compute_capability" = 80 : i64>>} {
  func.func @vector(%A: tensor<64x256xf32>, %X: tensor<256xf32>) -> tensor<64xf32> {
    %Y = tile.kernel(%a = %A : tensor<64x256xf32>, %x = %X : tensor<256xf32>) -> tensor<64xf32> schedule <local.x i : 64, serial 4*k : 64, serial k : 4> stage <%a local at 4*k async copies 3 vector 4> {
      %y = tile.contraction add(%a[i, k] mul %x[k]) -> [i] domain <i = 0 to 64, k = 0 to 256> : (tensor<64x256xf32>, tensor<256xf32>) -> tensor<64xf32>
      tile.yield %y : tensor<64xf32>
    }
    func.return %Y : tensor<64xf32>
  }
}
