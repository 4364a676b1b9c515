// RUN: tile-opt %s -p 'tile-block-constants{constants=W}' | filecheck %s
// RUN: tile-opt %s -p tile-block-constants | filecheck %s --check-prefix=NONE
// RUN: sed 's/"CPU"/"GPU"/; s/"cpu"/"gpu"/' %s | tile-opt - -p 'tile-block-constants{constants=W}' | filecheck %s --check-prefix=NONE
// NONE-NOT: _blocks

builtin.module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"type" = "cpu", "compute_units" = 2 : i64, "native_vector_width" = 16 : i64>>} {

  // Weights are read in blocks of two vectors, and so are all tensors along `o`; a sum that is padded
  // keeps its limits, and an axis of one element stays one.
  // CHECK-LABEL: @convolution
  // CHECK:       %[[W:.*]] = tile.reshape %W to [] : tensor<256x256x3x3xf32> -> tensor<8x32x256x3x3xf32>
  // CHECK:       tile.reshape %B to [] : tensor<256x1x1xf32> -> tensor<8x32x1x1xf32>
  // CHECK:       tile.reshape %R to [] : tensor<1x256x7x7xf32> -> tensor<1x8x32x7x7xf32>
  // CHECK:       %Y_blocks = tile.kernel @Y_blocks({{.*}} = %[[W]] : tensor<8x32x256x3x3xf32>) -> tensor<8x256x3x3x32xf32>
  // CHECK:         tile.contraction assign(%{{.*}}[d0, d1, d2, d3, d4]) -> [d0, d2, d3, d4, d1]
  // CHECK:       tile.kernel @Y(%{{.*}} = %X : tensor<1x256x9x9xf32>, %{{.*}} = %Y_blocks : tensor<8x256x3x3x32xf32>
  // CHECK:         tile.contraction add(%{{.*}}[n, c, y + j, x + i] mul %{{.*}}[o_block, c, j, i, o]) -> [n, o_block, o, y, x] where 0 <= j < 3
  // CHECK:       tile.reshape %Y{{.*}} to [] : tensor<1x8x32x7x7xf32> -> tensor<1x256x7x7xf32>
  func.func @convolution(%X: tensor<1x256x9x9xf32> {tile.name = "X"}, %W: tensor<256x256x3x3xf32> {tile.name = "W"}, %B: tensor<256x1x1xf32> {tile.name = "B"}, %R: tensor<1x256x7x7xf32> {tile.name = "R"}) -> (tensor<1x256x7x7xf32> {tile.name = "Y"}) {
    %Y = tile.kernel @Y(%x = %X : tensor<1x256x9x9xf32>, %w = %W : tensor<256x256x3x3xf32>, %b = %B : tensor<256x1x1xf32>, %r = %R : tensor<1x256x7x7xf32>) -> tensor<1x256x7x7xf32> {
      %s = tile.contraction add(%x[n, c, y + j, x + i] mul %w[o, c, j, i]) -> [n, o, y, x] where 0 <= j < 3 domain <n = 0 to 1, o = 0 to 256, y = 0 to 7, x = 0 to 7, c = 0 to 256, j = 0 to 3, i = 0 to 3> : (tensor<1x256x9x9xf32>, tensor<256x256x3x3xf32>) -> tensor<1x256x7x7xf32>
      %t = tile.add %s, %b : (tensor<1x256x7x7xf32>, tensor<256x1x1xf32>) -> tensor<1x256x7x7xf32>
      %y = tile.add %t, %r : (tensor<1x256x7x7xf32>, tensor<1x256x7x7xf32>) -> tensor<1x256x7x7xf32>
      tile.yield %y : tensor<1x256x7x7xf32>
    }
    func.return %Y : tensor<1x256x7x7xf32>
  }

  // Rows of a matrix are apart in memory: a block of its columns has them side by side. One of four
  // vectors is read by tiles that are wider than high.
  // CHECK-LABEL: @columns
  // CHECK:       %[[W:.*]] = tile.reshape %W to [] : tensor<768x3072xf32> -> tensor<768x48x64xf32>
  // CHECK:       tile.kernel @Y_{{.*}}blocks({{.*}} = %[[W]] : tensor<768x48x64xf32>) -> tensor<48x768x64xf32>
  // CHECK:         tile.contraction add(%{{.*}}[m, k] mul %{{.*}}[n_block, k, n]) -> [m, n_block, n]
  func.func @columns(%X: tensor<197x768xf32> {tile.name = "X"}, %W: tensor<768x3072xf32> {tile.name = "W"}) -> (tensor<197x3072xf32> {tile.name = "Y"}) {
    %Y = tile.kernel @Y(%x = %X : tensor<197x768xf32>, %w = %W : tensor<768x3072xf32>) -> tensor<197x3072xf32> {
      %s = tile.contraction add(%x[m, k] mul %w[k, n]) -> [m, n] domain <m = 0 to 197, n = 0 to 3072, k = 0 to 768> : (tensor<197x768xf32>, tensor<768x3072xf32>) -> tensor<197x3072xf32>
      tile.yield %s : tensor<197x3072xf32>
    }
    func.return %Y : tensor<197x3072xf32>
  }

  // A block begins before what is summed over.
  // CHECK-LABEL: @inner
  // CHECK:       tile.kernel @Y_{{.*}}blocks({{.*}} : tensor<256x8x32x3x3xf32>) -> tensor<8x256x3x3x32xf32>
  func.func @inner(%X: tensor<256x9x9xf32> {tile.name = "X"}, %W: tensor<256x256x3x3xf32> {tile.name = "W"}) -> (tensor<256x7x7xf32> {tile.name = "Y"}) {
    %Y = tile.kernel @Y(%x = %X : tensor<256x9x9xf32>, %w = %W : tensor<256x256x3x3xf32>) -> tensor<256x7x7xf32> {
      %s = tile.contraction add(%x[c, y + j, x + i] mul %w[c, o, j, i]) -> [o, y, x] domain <o = 0 to 256, y = 0 to 7, x = 0 to 7, c = 0 to 256, j = 0 to 3, i = 0 to 3> : (tensor<256x9x9xf32>, tensor<256x256x3x3xf32>) -> tensor<256x7x7xf32>
      tile.yield %s : tensor<256x7x7xf32>
    }
    func.return %Y : tensor<256x7x7xf32>
  }

  // What is computed of constants alone is constant.
  // CHECK-LABEL: @reshaped
  // CHECK:       tile.reshape {{.*}} -> tensor<8x32x256x3x3xf32>
  func.func @reshaped(%X: tensor<256x9x9xf32> {tile.name = "X"}, %W: tensor<256x2304xf32> {tile.name = "W"}) -> (tensor<256x7x7xf32> {tile.name = "Y"}) {
    %V = tile.reshape %W to [] : tensor<256x2304xf32> -> tensor<256x256x3x3xf32>
    %Y = tile.kernel @Y(%x = %X : tensor<256x9x9xf32>, %w = %V : tensor<256x256x3x3xf32>) -> tensor<256x7x7xf32> {
      %s = tile.contraction add(%x[c, y + j, x + i] mul %w[o, c, j, i]) -> [o, y, x] domain <o = 0 to 256, y = 0 to 7, x = 0 to 7, c = 0 to 256, j = 0 to 3, i = 0 to 3> : (tensor<256x9x9xf32>, tensor<256x256x3x3xf32>) -> tensor<256x7x7xf32>
      tile.yield %s : tensor<256x7x7xf32>
    }
    func.return %Y : tensor<256x7x7xf32>
  }

  // No whole blocks.
  // CHECK-LABEL: @rest
  // CHECK-NOT:   tile.reshape
  func.func @rest(%X: tensor<256x9x9xf32> {tile.name = "X"}, %W: tensor<250x256x3x3xf32> {tile.name = "W"}) -> (tensor<250x7x7xf32> {tile.name = "Y"}) {
    %Y = tile.kernel @Y(%x = %X : tensor<256x9x9xf32>, %w = %W : tensor<250x256x3x3xf32>) -> tensor<250x7x7xf32> {
      %s = tile.contraction add(%x[c, y + j, x + i] mul %w[o, c, j, i]) -> [o, y, x] domain <o = 0 to 250, y = 0 to 7, x = 0 to 7, c = 0 to 256, j = 0 to 3, i = 0 to 3> : (tensor<256x9x9xf32>, tensor<250x256x3x3xf32>) -> tensor<250x7x7xf32>
      tile.yield %s : tensor<250x7x7xf32>
    }
    func.return %Y : tensor<250x7x7xf32>
  }

  // Each weight is read once: no order is better than another.
  // CHECK-LABEL: @vector
  // CHECK-NOT:   tile.reshape
  func.func @vector(%X: tensor<256xf32> {tile.name = "X"}, %W: tensor<256x256xf32> {tile.name = "W"}) -> (tensor<256xf32> {tile.name = "Y"}) {
    %Y = tile.kernel @Y(%x = %X : tensor<256xf32>, %w = %W : tensor<256x256xf32>) -> tensor<256xf32> {
      %s = tile.contraction add(%x[c] mul %w[o, c]) -> [o] domain <o = 0 to 256, c = 0 to 256> : (tensor<256xf32>, tensor<256x256xf32>) -> tensor<256xf32>
      tile.yield %s : tensor<256xf32>
    }
    func.return %Y : tensor<256xf32>
  }

  // An op on the result reads the picture, which has no blocks along its own axes.
  // CHECK-LABEL: @residual
  // CHECK-NOT:   tile.reshape
  func.func @residual(%X: tensor<256x7x7xf32> {tile.name = "X"}, %W: tensor<256x256x3x3xf32> {tile.name = "W"}) -> (tensor<256x7x7xf32> {tile.name = "Y"}) {
    %Y = tile.kernel @Y(%x = %X : tensor<256x7x7xf32>, %w = %W : tensor<256x256x3x3xf32>) -> tensor<256x7x7xf32> {
      %s = tile.contraction add(%x[c, y + j - 1, x + i - 1] mul %w[o, c, j, i]) -> [o, y, x] domain <o = 0 to 256, y = 0 to 7, x = 0 to 7, c = 0 to 256, j = 0 to 3, i = 0 to 3> : (tensor<256x7x7xf32>, tensor<256x256x3x3xf32>) -> tensor<256x7x7xf32>
      %y = tile.add %s, %x : (tensor<256x7x7xf32>, tensor<256x7x7xf32>) -> tensor<256x7x7xf32>
      tile.yield %y : tensor<256x7x7xf32>
    }
    func.return %Y : tensor<256x7x7xf32>
  }

  // Positions along an axis that is split would be other numbers; axes after it have another place.
  // CHECK-LABEL: @positions
  // CHECK:       tile.index %{{.*}} axis 3 : (tensor<8x32x7x7xf32>)
  func.func @positions(%X: tensor<256x9x9xf32> {tile.name = "X"}, %W: tensor<256x256x3x3xf32> {tile.name = "W"}) -> (tensor<256x7x7xf32> {tile.name = "Y"}) {
    %Y = tile.kernel @Y(%x = %X : tensor<256x9x9xf32>, %w = %W : tensor<256x256x3x3xf32>) -> tensor<256x7x7xf32> {
      %s = tile.contraction add(%x[c, y + j, x + i] mul %w[o, c, j, i]) -> [o, y, x] domain <o = 0 to 256, y = 0 to 7, x = 0 to 7, c = 0 to 256, j = 0 to 3, i = 0 to 3> : (tensor<256x9x9xf32>, tensor<256x256x3x3xf32>) -> tensor<256x7x7xf32>
      %p = tile.index %s axis 2 : (tensor<256x7x7xf32>) -> tensor<256x7x7xi32>
      %y = tile.add %s, %p : (tensor<256x7x7xf32>, tensor<256x7x7xi32>) -> tensor<256x7x7xf32>
      tile.yield %y : tensor<256x7x7xf32>
    }
    func.return %Y : tensor<256x7x7xf32>
  }

  // CHECK-LABEL: @split_positions
  // CHECK-NOT:   tile.reshape
  func.func @split_positions(%X: tensor<256x9x9xf32> {tile.name = "X"}, %W: tensor<256x256x3x3xf32> {tile.name = "W"}) -> (tensor<256x7x7xf32> {tile.name = "Y"}) {
    %Y = tile.kernel @Y(%x = %X : tensor<256x9x9xf32>, %w = %W : tensor<256x256x3x3xf32>) -> tensor<256x7x7xf32> {
      %s = tile.contraction add(%x[c, y + j, x + i] mul %w[o, c, j, i]) -> [o, y, x] domain <o = 0 to 256, y = 0 to 7, x = 0 to 7, c = 0 to 256, j = 0 to 3, i = 0 to 3> : (tensor<256x9x9xf32>, tensor<256x256x3x3xf32>) -> tensor<256x7x7xf32>
      %p = tile.index %s axis 0 : (tensor<256x7x7xf32>) -> tensor<256x7x7xi32>
      %y = tile.add %s, %p : (tensor<256x7x7xf32>, tensor<256x7x7xi32>) -> tensor<256x7x7xf32>
      tile.yield %y : tensor<256x7x7xf32>
    }
    func.return %Y : tensor<256x7x7xf32>
  }
}
