// A product on tensor cores, two boxes a step, whose operands are fetched two steps ahead.
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" = #dlti.target_device_spec<"platform" = "NVIDIA CUDA", "compute_capability" = 80 : i64>>} {
  func.func @product(%A: tensor<16x256xf16>, %B: tensor<256x8xf16>) -> tensor<16x8xf16> {
    %C = tile.kernel(%a = %A : tensor<16x256xf16>, %b = %B : tensor<256x8xf16>) -> tensor<16x8xf16> schedule <local.x i : 8, local.x 2*j : 4, serial 32*k : 8, unroll 16*k : 2, unroll 8*i : 2, unroll k : 16, vector j : 2> instruction mma_m16n8k16_f16 <i, j, k> stage <%a local at 32*k async copies 3 rotate 8 vector 8, %b local at 32*k async copies 3 vector 8> {
      %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to 16, j = 0 to 8, k = 0 to 256> : (tensor<16x256xf16>, tensor<256x8xf16>) -> tensor<16x8xf16>
      tile.yield %c : tensor<16x8xf16>
    }
    func.return %C : tensor<16x8xf16>
  }
}
