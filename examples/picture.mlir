// Each channel of small pictures in parts of its largest element, on a CPU.
module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "compute_units" = 2 : i64, "native_vector_width" = 8 : i64>>} {
  func.func @picture(%X: tensor<3x7x7xf32>) -> tensor<3x7x7xf32> {
    %Y = tile.kernel(%x = %X : tensor<3x7x7xf32>) -> tensor<3x7x7xf32> axes <c = 0 to 3, y = 0 to 7, x = 0 to 7> {
      %m = tile.contraction max(%x[c, y, x]) -> [c, 0, 0] : (tensor<3x7x7xf32>) -> tensor<3x1x1xf32>
      %y = tile.div %x, %m : (tensor<3x7x7xf32>, tensor<3x1x1xf32>) -> tensor<3x7x7xf32>
      tile.yield %y : tensor<3x7x7xf32>
    }
    func.return %Y : tensor<3x7x7xf32>
  }
}
