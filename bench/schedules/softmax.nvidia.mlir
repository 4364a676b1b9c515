// The row and its exponentials stay in registers.
func.func @softmax(%X: tensor<16384x4096xf32> {tile.name = "X"}) -> (tensor<16384x4096xf32> {tile.name = "P"}) {
  %P = tile.kernel(%x = %X : tensor<16384x4096xf32>) -> tensor<16384x4096xf32> axes <d0 = 0 to 16384, d1 = 0 to 4096>
      schedule <group.x d0 : 16384, local.x 4*d1 : 256, unroll 1024*d1 : 4, vector d1 : 4>
      stage <%x private vector 4, %e private> {
    %m = tile.contraction max(%x[d0, d1]) -> [d0, 0] : (tensor<16384x4096xf32>) -> tensor<16384x1xf32>
    %c = tile.sub %x, %m : (tensor<16384x4096xf32>, tensor<16384x1xf32>) -> tensor<16384x4096xf32>
    %e = tile.exp %c : (tensor<16384x4096xf32>) -> tensor<16384x4096xf32>
    %s = tile.contraction add(%e[d0, d1]) -> [d0, 0] : (tensor<16384x4096xf32>) -> tensor<16384x1xf32>
    %p = tile.div %e, %s : (tensor<16384x4096xf32>, tensor<16384x1xf32>) -> tensor<16384x4096xf32>
    tile.yield %p : tensor<16384x4096xf32>
  }
  func.return %P : tensor<16384x4096xf32>
}
