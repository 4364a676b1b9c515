// The row stays in registers, then what it is without its mean.
func.func @layer_norm(%X: tensor<16384x4096xf32> {tile.name = "X"}) -> (tensor<16384x4096xf32> {tile.name = "Y"}) {
  %Y = tile.kernel(%x = %X : tensor<16384x4096xf32>) -> tensor<16384x4096xf32> axes <d0 = 0 to 16384, d1 = 0 to 4096>
      schedule <group.x d0 : 16384, local.x 4*d1 : 256, unroll 1024*d1 : 4, vector d1 : 4>
      stage <%x private vector 4, %c private> {
    %n = tile.constant 4096.0 : tensor<f32>
    %epsilon = tile.constant 1.0e-5 : tensor<f32>
    %a = tile.contraction add(%x[d0, d1]) -> [d0, 0] : (tensor<16384x4096xf32>) -> tensor<16384x1xf32>
    %mean = tile.div %a, %n : (tensor<16384x1xf32>, tensor<f32>) -> tensor<16384x1xf32>
    %c = tile.sub %x, %mean : (tensor<16384x4096xf32>, tensor<16384x1xf32>) -> tensor<16384x4096xf32>
    %q = tile.mul %c, %c : (tensor<16384x4096xf32>, tensor<16384x4096xf32>) -> tensor<16384x4096xf32>
    %s = tile.contraction add(%q[d0, d1]) -> [d0, 0] : (tensor<16384x4096xf32>) -> tensor<16384x1xf32>
    %v = tile.div %s, %n : (tensor<16384x1xf32>, tensor<f32>) -> tensor<16384x1xf32>
    %w = tile.add %v, %epsilon : (tensor<16384x1xf32>, tensor<f32>) -> tensor<16384x1xf32>
    %d = tile.sqrt %w : (tensor<16384x1xf32>) -> tensor<16384x1xf32>
    %y = tile.div %c, %d : (tensor<16384x4096xf32>, tensor<16384x1xf32>) -> tensor<16384x4096xf32>
    tile.yield %y : tensor<16384x4096xf32>
  }
  func.return %Y : tensor<16384x4096xf32>
}
