// A convolution whose weights stay, an activation, and sums over the pictures, on a CPU.
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"compute_units" = 2 : i64, "native_vector_width" = 16 : i64>>} {
  func.func @layers(%X: tensor<256x14x14xf32> {tile.name = "X"}, %W: tensor<256x256x3x3xf32> {tile.name = "W"}) -> (tensor<256xf32> {tile.name = "Y"}) {
    %H = tile.kernel(%x = %X : tensor<256x14x14xf32>, %w = %W : tensor<256x256x3x3xf32>) -> tensor<256x14x14xf32> {
      %s = tile.contraction add(%x[c, y + j - 1, x + i - 1] mul %w[o, c, j, i]) -> [o, y, x] domain <o = 0 to 256, y = 0 to 14, x = 0 to 14, c = 0 to 256, j = 0 to 3, i = 0 to 3> : (tensor<256x14x14xf32>, tensor<256x256x3x3xf32>) -> tensor<256x14x14xf32>
      %h = tile.relu %s : (tensor<256x14x14xf32>) -> tensor<256x14x14xf32>
      tile.yield %h : tensor<256x14x14xf32>
    }
    %Y = tile.kernel(%h = %H : tensor<256x14x14xf32>) -> tensor<256xf32> {
      %y = tile.contraction add(%h[o, y, x]) -> [o] domain <o = 0 to 256, y = 0 to 14, x = 0 to 14> : (tensor<256x14x14xf32>) -> tensor<256xf32>
      tile.yield %y : tensor<256xf32>
    }
    func.return %Y : tensor<256xf32>
  }
}
