// RUN: tile-opt %s -p tile-join-axes | filecheck %s

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "compute_units" = 2 : i64, "native_vector_width" = 8 : i64>>} {

// All of a factor's last axes are summed over: they are read as one, and the loops stay.
// CHECK-LABEL: @weights
// CHECK:      tile.reshape %K to [] : tensor<8x5x3x3xf32> -> tensor<8x45xf32>
// CHECK:      add(%x[c, y + j, x + i] mul %k[f, 9*c + 3*j + i]) -> [f, y, x]
// CHECK-SAME: domain <f = 0 to 8, y = 0 to 20, x = 0 to 20, c = 0 to 5, j = 0 to 3, i = 0 to 3>
func.func @weights(%X: tensor<5x22x22xf32>, %K: tensor<8x5x3x3xf32>) -> tensor<8x20x20xf32> {
  %O = tile.kernel(%x = %X : tensor<5x22x22xf32>, %k = %K : tensor<8x5x3x3xf32>) -> tensor<8x20x20xf32> {
    %o = tile.contraction add(%x[c, y + j, x + i] mul %k[f, c, j, i]) -> [f, y, x] domain <f = 0 to 8, y = 0 to 20, x = 0 to 20, c = 0 to 5, j = 0 to 3, i = 0 to 3> : (tensor<5x22x22xf32>, tensor<8x5x3x3xf32>) -> tensor<8x20x20xf32>
    tile.yield %o : tensor<8x20x20xf32>
  }
  func.return %O : tensor<8x20x20xf32>
}

// A diagonal along an index of the result is a row of distant elements.
// CHECK-LABEL: @diagonal
// CHECK:      tile.reshape %X to [] : tensor<64x64xf32> -> tensor<4096xf32>
// CHECK:      assign(%x[65*i]) -> [i]
func.func @diagonal(%X: tensor<64x64xf32>) -> tensor<64xf32> {
  %O = tile.kernel(%x = %X : tensor<64x64xf32>) -> tensor<64xf32> {
    %o = tile.contraction assign(%x[i, i]) -> [i] domain <i = 0 to 64> : (tensor<64x64xf32>) -> tensor<64xf32>
    tile.yield %o : tensor<64xf32>
  }
  func.return %O : tensor<64xf32>
}

// Only some of the last axes are summed over, or neighbouring diagonal elements share cache lines.
// CHECK-LABEL: @neither
// CHECK-NOT:  tile.reshape
func.func @neither(%X: tensor<4x4xf32>, %A: tensor<3x40x50xf32>, %B: tensor<3x40x60xf32>) -> (tensor<4xf32>, tensor<50x60xf32>) {
  %O = tile.kernel(%x = %X : tensor<4x4xf32>) -> tensor<4xf32> {
    %o = tile.contraction assign(%x[i, i]) -> [i] domain <i = 0 to 4> : (tensor<4x4xf32>) -> tensor<4xf32>
    tile.yield %o : tensor<4xf32>
  }
  %P = tile.kernel(%a = %A : tensor<3x40x50xf32>, %b = %B : tensor<3x40x60xf32>) -> tensor<50x60xf32> {
    %p = tile.contraction add(%a[0, k, m] mul %b[0, k, n]) -> [m, n] domain <m = 0 to 50, n = 0 to 60, k = 0 to 40> : (tensor<3x40x50xf32>, tensor<3x40x60xf32>) -> tensor<50x60xf32>
    tile.yield %p : tensor<50x60xf32>
  }
  func.return %O, %P : tensor<4xf32>, tensor<50x60xf32>
}
}
