// RUN: tile-opt %s -p 'tile-block-layouts{constants=W,V,U}' | filecheck %s
// RUN: tile-opt %s -p tile-block-layouts | filecheck %s --check-prefix=NONE
// RUN: sed 's/"CPU"/"GPU"/; s/"cpu"/"gpu"/' %s | tile-opt - -p 'tile-block-layouts{constants=W,V,U}' | filecheck %s --check-prefix=NONE
// NONE-NOT: _blocks

builtin.module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"type" = "cpu", "compute_units" = 2 : i64, "native_vector_width" = 16 : i64>>} {

  // The result of the first convolution, which the second one and an addition read, lies in blocks of
  // two vectors; weights have the digits of both channels last, those of the result outermost. The
  // tensor that is returned stays.
  // CHECK-LABEL: @layers
  // CHECK:       tile.reshape %B to [] : tensor<256x1x1xf32> -> tensor<8x1x1x32xf32>
  // CHECK:       tile.reshape %W to [] : tensor<256x256x3x3xf32> -> tensor<8x32x256x3x3xf32>
  // CHECK:       tile.kernel @W_blocks
  // CHECK:         -> [d0, d2, d3, d4, d1]
  // CHECK:       tile.kernel @H({{.*}}) -> tensor<1x8x14x14x32xf32>
  // CHECK:         tile.contraction add(%{{.*}}[n, c, y + j - 1, x + i - 1] mul %{{.*}}[o_block, c, j, i, o]) -> [n, o_block, y, x, o]
  // CHECK:         tile.add %{{.*}}, %{{.*}} : (tensor<1x8x14x14x32xf32>, tensor<8x1x1x32xf32>) -> tensor<1x8x14x14x32xf32>
  // CHECK:       tile.reshape %V to [] : tensor<256x256x3x3xf32> -> tensor<8x32x8x32x3x3xf32>
  // CHECK:       tile.kernel @V_blocks
  // CHECK:         -> [d0, d2, d4, d5, d3, d1]
  // CHECK:       tile.kernel @G({{.*}}) -> tensor<1x8x14x14x32xf32>
  // CHECK:         tile.contraction add(%{{.*}}[n, c_block, y + j - 1, x + i - 1, c] mul %{{.*}}[o_block, c_block, j, i, c, o]) -> [n, o_block, y, x, o] domain <n = 0 to 1, o_block = 0 to 8, {{.*}} c_block = 0 to 8, {{.*}} c = 0 to 32>
  // CHECK:         tile.add {{.*}} : (tensor<1x8x14x14x32xf32>, tensor<1x8x14x14x32xf32>)
  // CHECK:       tile.kernel @Y(%{{.*}} : tensor<1x8x14x14x32xf32>) -> tensor<8x32xf32>
  // CHECK:         tile.contraction add(%{{.*}}[n, o_block, y, x, o]) -> [o_block, o]
  // CHECK:       tile.reshape %{{.*}} to [] : tensor<8x32xf32> -> tensor<256xf32>
  func.func @layers(%X: tensor<1x256x14x14xf32> {tile.name = "X"}, %W: tensor<256x256x3x3xf32> {tile.name = "W"}, %V: tensor<256x256x3x3xf32> {tile.name = "V"}, %B: tensor<256x1x1xf32> {tile.name = "B"}) -> (tensor<256xf32> {tile.name = "Y"}) {
    %H = tile.kernel @H(%x = %X : tensor<1x256x14x14xf32>, %w = %W : tensor<256x256x3x3xf32>, %b = %B : tensor<256x1x1xf32>) -> tensor<1x256x14x14xf32> {
      %s = tile.contraction add(%x[n, c, y + j - 1, x + i - 1] mul %w[o, c, j, i]) -> [n, o, y, x] domain <n = 0 to 1, o = 0 to 256, y = 0 to 14, x = 0 to 14, c = 0 to 256, j = 0 to 3, i = 0 to 3> : (tensor<1x256x14x14xf32>, tensor<256x256x3x3xf32>) -> tensor<1x256x14x14xf32>
      %h = tile.add %s, %b : (tensor<1x256x14x14xf32>, tensor<256x1x1xf32>) -> tensor<1x256x14x14xf32>
      tile.yield %h : tensor<1x256x14x14xf32>
    }
    %G = tile.kernel @G(%h = %H : tensor<1x256x14x14xf32>, %v = %V : tensor<256x256x3x3xf32>) -> tensor<1x256x14x14xf32> {
      %s = tile.contraction add(%h[n, c, y + j - 1, x + i - 1] mul %v[o, c, j, i]) -> [n, o, y, x] domain <n = 0 to 1, o = 0 to 256, y = 0 to 14, x = 0 to 14, c = 0 to 256, j = 0 to 3, i = 0 to 3> : (tensor<1x256x14x14xf32>, tensor<256x256x3x3xf32>) -> tensor<1x256x14x14xf32>
      %g = tile.add %s, %h : (tensor<1x256x14x14xf32>, tensor<1x256x14x14xf32>) -> tensor<1x256x14x14xf32>
      tile.yield %g : tensor<1x256x14x14xf32>
    }
    %Y = tile.kernel @Y(%g = %G : tensor<1x256x14x14xf32>) -> tensor<256xf32> {
      %y = tile.contraction add(%g[n, o, y, x]) -> [o] domain <n = 0 to 1, o = 0 to 256, y = 0 to 14, x = 0 to 14> : (tensor<1x256x14x14xf32>) -> tensor<256xf32>
      tile.yield %y : tensor<256xf32>
    }
    func.return %Y : tensor<256xf32>
  }

  // Reshapes behind the channels, as of windows that do not meet, keep the blocks. Parts of whole
  // blocks lie side by side.
  // CHECK-LABEL: @joined
  // CHECK:       tile.kernel @H({{.*}}) -> tensor<1x8x14x14x32xf32>
  // CHECK:       tile.reshape %H to [] : tensor<1x8x14x14x32xf32> -> tensor<1x8x7x2x14x32xf32>
  // CHECK:       tile.kernel @M({{.*}}) -> tensor<1x8x7x1x14x32xf32>
  // CHECK:       tile.reshape %M to [] : tensor<1x8x7x1x14x32xf32> -> tensor<1x8x7x14x32xf32>
  // CHECK:       tile.kernel @J({{.*}}) -> tensor<1x16x7x14x32xf32>
  // CHECK:         tile.contraction assign(%{{.*}}[d0, d1_block, d2, d3, d1]) -> [d0, d1_block, d2, d3, d1] domain <d0 = 0 to 1, d1_block = 0 to 16, d2 = 0 to 7, d3 = 0 to 14, d1 = 0 to 32>
  // CHECK:         tile.contraction assign(%{{.*}}[v0, v1_block - 8, v2, v3, v1]) -> [v0, v1_block, v2, v3, v1] default %{{.*}} domain <v0 = 0 to 1, v1_block = 8 to 16, v2 = 0 to 7, v3 = 0 to 14, v1 = 0 to 32>
  func.func @joined(%X: tensor<1x256x14x14xf32> {tile.name = "X"}, %W: tensor<256x256x3x3xf32> {tile.name = "W"}, %V: tensor<256x512x3x3xf32> {tile.name = "V"}) -> (tensor<256xf32> {tile.name = "Y"}) {
    %H = tile.kernel @H(%x = %X : tensor<1x256x14x14xf32>, %w = %W : tensor<256x256x3x3xf32>) -> tensor<1x256x14x14xf32> {
      %s = tile.contraction add(%x[n, c, y + j - 1, x + i - 1] mul %w[o, c, j, i]) -> [n, o, y, x] domain <n = 0 to 1, o = 0 to 256, y = 0 to 14, x = 0 to 14, c = 0 to 256, j = 0 to 3, i = 0 to 3> : (tensor<1x256x14x14xf32>, tensor<256x256x3x3xf32>) -> tensor<1x256x14x14xf32>
      tile.yield %s : tensor<1x256x14x14xf32>
    }
    %R = tile.reshape %H to [] : tensor<1x256x14x14xf32> -> tensor<1x256x7x2x14xf32>
    %M = tile.kernel @M(%h = %R : tensor<1x256x7x2x14xf32>) -> tensor<1x256x7x1x14xf32> {
      %m = tile.contraction max(%h[0, d1, d2, d3, d4]) -> [0, d1, d2, 0, d4] domain <d1 = 0 to 256, d2 = 0 to 7, d4 = 0 to 14, d3 = 0 to 2> : (tensor<1x256x7x2x14xf32>) -> tensor<1x256x7x1x14xf32>
      tile.yield %m : tensor<1x256x7x1x14xf32>
    }
    %P = tile.reshape %M to [] : tensor<1x256x7x1x14xf32> -> tensor<1x256x7x14xf32>
    %G = tile.kernel @G(%h = %P : tensor<1x256x7x14xf32>, %w = %W : tensor<256x256x3x3xf32>) -> tensor<1x256x7x14xf32> {
      %s = tile.contraction add(%h[n, c, y + j - 1, x + i - 1] mul %w[o, c, j, i]) -> [n, o, y, x] domain <n = 0 to 1, o = 0 to 256, y = 0 to 7, x = 0 to 14, c = 0 to 256, j = 0 to 3, i = 0 to 3> : (tensor<1x256x7x14xf32>, tensor<256x256x3x3xf32>) -> tensor<1x256x7x14xf32>
      tile.yield %s : tensor<1x256x7x14xf32>
    }
    %J = tile.kernel @J(%p = %P : tensor<1x256x7x14xf32>, %g = %G : tensor<1x256x7x14xf32>) -> tensor<1x512x7x14xf32> {
      %a = tile.contraction assign(%p[d0, d1, d2, d3]) -> [d0, d1, d2, d3] domain <d0 = 0 to 1, d1 = 0 to 512, d2 = 0 to 7, d3 = 0 to 14> : (tensor<1x256x7x14xf32>) -> tensor<1x512x7x14xf32>
      %b = tile.contraction assign(%g[v0, v1 - 256, v2, v3]) -> [v0, v1, v2, v3] default %a domain <v0 = 0 to 1, v1 = 256 to 512, v2 = 0 to 7, v3 = 0 to 14> : (tensor<1x256x7x14xf32>, tensor<1x512x7x14xf32>) -> tensor<1x512x7x14xf32>
      tile.yield %b : tensor<1x512x7x14xf32>
    }
    %F = tile.kernel @F(%h = %J : tensor<1x512x7x14xf32>, %v = %V : tensor<256x512x3x3xf32>) -> tensor<1x256x7x14xf32> {
      %s = tile.contraction add(%h[n, c, y + j - 1, x + i - 1] mul %v[o, c, j, i]) -> [n, o, y, x] domain <n = 0 to 1, o = 0 to 256, y = 0 to 7, x = 0 to 14, c = 0 to 512, j = 0 to 3, i = 0 to 3> : (tensor<1x512x7x14xf32>, tensor<256x512x3x3xf32>) -> tensor<1x256x7x14xf32>
      tile.yield %s : tensor<1x256x7x14xf32>
    }
    %Y = tile.kernel @Y(%g = %F : tensor<1x256x7x14xf32>) -> tensor<256xf32> {
      %y = tile.contraction add(%g[n, o, y, x]) -> [o] domain <n = 0 to 1, o = 0 to 256, y = 0 to 7, x = 0 to 14> : (tensor<1x256x7x14xf32>) -> tensor<256xf32>
      tile.yield %y : tensor<256xf32>
    }
    func.return %Y : tensor<256xf32>
  }

  // Row kernels with all axes in order have one axis more; copies may have a given default.
  // CHECK-LABEL: @rows
  // CHECK:       tile.reshape %H to [] : tensor<1x8x14x14x32xf32> -> tensor<1x8x7x2x14x32xf32>
  // CHECK:       tile.kernel @M({{.*}}) -> (tensor<1x8x7x1x14x32xf32>, tensor<1x8x7x1x14x32xf32>) axes <d0 = 0 to 1, d1_block = 0 to 8, d2 = 0 to 7, d3 = 0 to 2, d4 = 0 to 14, d1 = 0 to 32>
  // CHECK:         tile.contraction add(%{{.*}}[0, d1_block, d2, d3, d4, d1]) -> [0, d1_block, d2, 0, d4, d1]
  // CHECK:         tile.mul %{{.*}}, %{{.*}} : (tensor<1x8x7x1x14x32xf32>, tensor<1x8x1x1x1x32xf32>) -> tensor<1x8x7x1x14x32xf32>
  // CHECK:       tile.kernel @J({{.*}}) -> tensor<1x8x7x14x32xf32>
  // CHECK:         tile.contraction assign(%{{.*}}[v0, v1_block - 4, v2, v3, v1]) -> [v0, v1_block, v2, v3, v1] default %{{.*}} domain <v0 = 0 to 1, v1_block = 0 to 8, v2 = 0 to 7, v3 = 0 to 14, v1 = 0 to 32>
  func.func @rows(%X: tensor<1x256x14x14xf32> {tile.name = "X"}, %W: tensor<256x256x3x3xf32> {tile.name = "W"}, %V: tensor<128x256x3x3xf32> {tile.name = "V"}, %B: tensor<1x256x1x1x1xf32> {tile.name = "B"}) -> (tensor<256xf32> {tile.name = "Y"}) {
    %H = tile.kernel @H(%x = %X : tensor<1x256x14x14xf32>, %w = %W : tensor<256x256x3x3xf32>) -> tensor<1x256x14x14xf32> {
      %s = tile.contraction add(%x[n, c, y + j - 1, x + i - 1] mul %w[o, c, j, i]) -> [n, o, y, x] domain <n = 0 to 1, o = 0 to 256, y = 0 to 14, x = 0 to 14, c = 0 to 256, j = 0 to 3, i = 0 to 3> : (tensor<1x256x14x14xf32>, tensor<256x256x3x3xf32>) -> tensor<1x256x14x14xf32>
      tile.yield %s : tensor<1x256x14x14xf32>
    }
    %R = tile.reshape %H to [] : tensor<1x256x14x14xf32> -> tensor<1x256x7x2x14xf32>
    %M, %N = tile.kernel @M(%h = %R : tensor<1x256x7x2x14xf32>, %b = %B : tensor<1x256x1x1x1xf32>) -> (tensor<1x256x7x1x14xf32>, tensor<1x256x7x1x14xf32>) axes <d0 = 0 to 1, d1 = 0 to 256, d2 = 0 to 7, d3 = 0 to 2, d4 = 0 to 14> {
      %m = tile.contraction add(%h[0, d1, d2, d3, d4]) -> [0, d1, d2, 0, d4] : (tensor<1x256x7x2x14xf32>) -> tensor<1x256x7x1x14xf32>
      %p = tile.mul %m, %b : (tensor<1x256x7x1x14xf32>, tensor<1x256x1x1x1xf32>) -> tensor<1x256x7x1x14xf32>
      tile.yield %m, %p : tensor<1x256x7x1x14xf32>, tensor<1x256x7x1x14xf32>
    }
    %P = tile.reshape %M to [] : tensor<1x256x7x1x14xf32> -> tensor<1x256x7x14xf32>
    %Q = tile.reshape %N to [] : tensor<1x256x7x1x14xf32> -> tensor<1x256x7x14xf32>
    %G = tile.kernel @G(%h = %P : tensor<1x256x7x14xf32>, %v = %V : tensor<128x256x3x3xf32>) -> tensor<1x128x7x14xf32> {
      %s = tile.contraction add(%h[n, c, y + j - 1, x + i - 1] mul %v[o, c, j, i]) -> [n, o, y, x] domain <n = 0 to 1, o = 0 to 128, y = 0 to 7, x = 0 to 14, c = 0 to 256, j = 0 to 3, i = 0 to 3> : (tensor<1x256x7x14xf32>, tensor<128x256x3x3xf32>) -> tensor<1x128x7x14xf32>
      tile.yield %s : tensor<1x128x7x14xf32>
    }
    %J = tile.kernel @J(%g = %G : tensor<1x128x7x14xf32>, %q = %Q : tensor<1x256x7x14xf32>) -> tensor<1x256x7x14xf32> {
      %b = tile.contraction assign(%g[v0, v1 - 128, v2, v3]) -> [v0, v1, v2, v3] default %q domain <v0 = 0 to 1, v1 = 0 to 256, v2 = 0 to 7, v3 = 0 to 14> : (tensor<1x128x7x14xf32>, tensor<1x256x7x14xf32>) -> tensor<1x256x7x14xf32>
      tile.yield %b : tensor<1x256x7x14xf32>
    }
    %Y = tile.kernel @Y(%g = %J : tensor<1x256x7x14xf32>) -> tensor<256xf32> {
      %y = tile.contraction add(%g[n, o, y, x]) -> [o] domain <n = 0 to 1, o = 0 to 256, y = 0 to 7, x = 0 to 14> : (tensor<1x256x7x14xf32>) -> tensor<256xf32>
      tile.yield %y : tensor<256xf32>
    }
    func.return %Y : tensor<256xf32>
  }

  // Groups of channels that are whole blocks are read and written in blocks: of one block, and of two.
  // CHECK-LABEL: @groups
  // CHECK:       tile.kernel @H({{.*}}) -> tensor<1x8x14x14x32xf32>
  // CHECK:       tile.reshape %V to [] : tensor<256x32x3x3xf32> -> tensor<8x32x1x32x3x3xf32>
  // CHECK:       tile.kernel @V_blocks
  // CHECK:         -> [d0, d2, d4, d5, d3, d1]
  // CHECK:       tile.kernel @G({{.*}}) -> tensor<1x8x14x14x32xf32>
  // CHECK:         tile.contraction add(%{{.*}}[n, g, y + j - 1, x + i - 1, c] mul %{{.*}}[g, 0, j, i, c, o]) -> [n, g, y, x, o] where 0 <= o < 32 domain <n = 0 to 1, g = 0 to 8, y = 0 to 14, x = 0 to 14, o = 0 to 32, {{.*}}c = 0 to 32>
  // CHECK:       tile.kernel @F({{.*}}) -> tensor<1x8x14x14x32xf32>
  // CHECK:         tile.contraction add(%{{.*}}[n, 2*g + c_block, y + j - 1, x + i - 1, c] mul %{{.*}}[2*g + o_block, c_block, j, i, c, o]) -> [n, 2*g + o_block, y, x, o] where 0 <= 32*o_block + o < 64 domain <n = 0 to 1, g = 0 to 4, o_block = 0 to 2, y = 0 to 14, x = 0 to 14, o = 0 to 32, c_block = 0 to 2, {{.*}}c = 0 to 32>
  func.func @groups(%X: tensor<1x256x14x14xf32> {tile.name = "X"}, %W: tensor<256x256x3x3xf32> {tile.name = "W"}, %V: tensor<256x32x3x3xf32> {tile.name = "V"}, %U: tensor<256x64x3x3xf32> {tile.name = "U"}) -> (tensor<256xf32> {tile.name = "Y"}) {
    %H = tile.kernel @H(%x = %X : tensor<1x256x14x14xf32>, %w = %W : tensor<256x256x3x3xf32>) -> tensor<1x256x14x14xf32> {
      %s = tile.contraction add(%x[n, c, y + j - 1, x + i - 1] mul %w[o, c, j, i]) -> [n, o, y, x] domain <n = 0 to 1, o = 0 to 256, y = 0 to 14, x = 0 to 14, c = 0 to 256, j = 0 to 3, i = 0 to 3> : (tensor<1x256x14x14xf32>, tensor<256x256x3x3xf32>) -> tensor<1x256x14x14xf32>
      tile.yield %s : tensor<1x256x14x14xf32>
    }
    %G = tile.kernel @G(%h = %H : tensor<1x256x14x14xf32>, %v = %V : tensor<256x32x3x3xf32>) -> tensor<1x256x14x14xf32> {
      %s = tile.contraction add(%h[n, 32*g + c, y + j - 1, x + i - 1] mul %v[32*g + o, c, j, i]) -> [n, 32*g + o, y, x] where 0 <= o < 32 domain <n = 0 to 1, g = 0 to 8, o = 0 to 32, y = 0 to 14, x = 0 to 14, c = 0 to 32, j = 0 to 3, i = 0 to 3> : (tensor<1x256x14x14xf32>, tensor<256x32x3x3xf32>) -> tensor<1x256x14x14xf32>
      tile.yield %s : tensor<1x256x14x14xf32>
    }
    %F = tile.kernel @F(%g = %G : tensor<1x256x14x14xf32>, %u = %U : tensor<256x64x3x3xf32>) -> tensor<1x256x14x14xf32> {
      %s = tile.contraction add(%g[n, 64*g + c, y + j - 1, x + i - 1] mul %u[64*g + o, c, j, i]) -> [n, 64*g + o, y, x] where 0 <= o < 64 domain <n = 0 to 1, g = 0 to 4, o = 0 to 64, y = 0 to 14, x = 0 to 14, c = 0 to 64, j = 0 to 3, i = 0 to 3> : (tensor<1x256x14x14xf32>, tensor<256x64x3x3xf32>) -> tensor<1x256x14x14xf32>
      tile.yield %s : tensor<1x256x14x14xf32>
    }
    %Y = tile.kernel @Y(%f = %F : tensor<1x256x14x14xf32>) -> tensor<256xf32> {
      %y = tile.contraction add(%f[n, o, y, x]) -> [o] domain <n = 0 to 1, o = 0 to 256, y = 0 to 14, x = 0 to 14> : (tensor<1x256x14x14xf32>) -> tensor<256xf32>
      tile.yield %y : tensor<256xf32>
    }
    func.return %Y : tensor<256xf32>
  }

  // Groups that are parts of blocks stay.
  // CHECK-LABEL: @small_groups
  // CHECK-NOT:   tile.reshape
  func.func @small_groups(%X: tensor<256x14x14xf32> {tile.name = "X"}, %W: tensor<256x8x3x3xf32> {tile.name = "W"}) -> (tensor<256xf32> {tile.name = "Y"}) {
    %H = tile.kernel @H(%x = %X : tensor<256x14x14xf32>, %w = %W : tensor<256x8x3x3xf32>) -> tensor<256x14x14xf32> {
      %s = tile.contraction add(%x[8*g + c, y + j - 1, x + i - 1] mul %w[8*g + o, c, j, i]) -> [8*g + o, y, x] where 0 <= o < 8 domain <g = 0 to 32, o = 0 to 8, y = 0 to 14, x = 0 to 14, c = 0 to 8, j = 0 to 3, i = 0 to 3> : (tensor<256x14x14xf32>, tensor<256x8x3x3xf32>) -> tensor<256x14x14xf32>
      tile.yield %s : tensor<256x14x14xf32>
    }
    %Y = tile.kernel @Y(%h = %H : tensor<256x14x14xf32>) -> tensor<256xf32> {
      %y = tile.contraction add(%h[o, y, x]) -> [o] domain <o = 0 to 256, y = 0 to 14, x = 0 to 14> : (tensor<256x14x14xf32>) -> tensor<256xf32>
      tile.yield %y : tensor<256xf32>
    }
    func.return %Y : tensor<256xf32>
  }

  // A tensor that is returned stays.
  // CHECK-LABEL: @returned
  // CHECK-NOT:   tile.reshape
  func.func @returned(%X: tensor<256x14x14xf32> {tile.name = "X"}, %W: tensor<256x256x3x3xf32> {tile.name = "W"}) -> (tensor<256x14x14xf32> {tile.name = "H"}) {
    %H = tile.kernel @H(%x = %X : tensor<256x14x14xf32>, %w = %W : tensor<256x256x3x3xf32>) -> tensor<256x14x14xf32> {
      %s = tile.contraction add(%x[c, y + j - 1, x + i - 1] mul %w[o, c, j, i]) -> [o, y, x] domain <o = 0 to 256, y = 0 to 14, x = 0 to 14, c = 0 to 256, j = 0 to 3, i = 0 to 3> : (tensor<256x14x14xf32>, tensor<256x256x3x3xf32>) -> tensor<256x14x14xf32>
      tile.yield %s : tensor<256x14x14xf32>
    }
    func.return %H : tensor<256x14x14xf32>
  }

  // Channels that are read at other places would be in other blocks, and positions other numbers.
  // CHECK-LABEL: @shifted
  // CHECK-NOT:   tile.reshape
  func.func @shifted(%X: tensor<256x14x14xf32> {tile.name = "X"}, %W: tensor<256x256x3x3xf32> {tile.name = "W"}) -> (tensor<255x14x14xf32> {tile.name = "Y"}) {
    %H = tile.kernel @H(%x = %X : tensor<256x14x14xf32>, %w = %W : tensor<256x256x3x3xf32>) -> tensor<256x14x14xf32> {
      %s = tile.contraction add(%x[c, y + j - 1, x + i - 1] mul %w[o, c, j, i]) -> [o, y, x] domain <o = 0 to 256, y = 0 to 14, x = 0 to 14, c = 0 to 256, j = 0 to 3, i = 0 to 3> : (tensor<256x14x14xf32>, tensor<256x256x3x3xf32>) -> tensor<256x14x14xf32>
      tile.yield %s : tensor<256x14x14xf32>
    }
    %Y = tile.kernel @Y(%h = %H : tensor<256x14x14xf32>) -> tensor<255x14x14xf32> {
      %y = tile.contraction assign(%h[o + 1, y, x]) -> [o, y, x] domain <o = 0 to 255, y = 0 to 14, x = 0 to 14> : (tensor<256x14x14xf32>) -> tensor<255x14x14xf32>
      tile.yield %y : tensor<255x14x14xf32>
    }
    func.return %Y : tensor<255x14x14xf32>
  }

  // CHECK-LABEL: @positions
  // CHECK-NOT:   tile.reshape
  func.func @positions(%X: tensor<256x14x14xf32> {tile.name = "X"}, %W: tensor<256x256x3x3xf32> {tile.name = "W"}) -> (tensor<256xf32> {tile.name = "Y"}) {
    %H = tile.kernel @H(%x = %X : tensor<256x14x14xf32>, %w = %W : tensor<256x256x3x3xf32>) -> tensor<256x14x14xf32> {
      %s = tile.contraction add(%x[c, y + j - 1, x + i - 1] mul %w[o, c, j, i]) -> [o, y, x] domain <o = 0 to 256, y = 0 to 14, x = 0 to 14, c = 0 to 256, j = 0 to 3, i = 0 to 3> : (tensor<256x14x14xf32>, tensor<256x256x3x3xf32>) -> tensor<256x14x14xf32>
      %p = tile.index %s axis 0 : (tensor<256x14x14xf32>) -> tensor<256x14x14xi32>
      %h = tile.add %s, %p : (tensor<256x14x14xf32>, tensor<256x14x14xi32>) -> tensor<256x14x14xf32>
      tile.yield %h : tensor<256x14x14xf32>
    }
    %Y = tile.kernel @Y(%h = %H : tensor<256x14x14xf32>) -> tensor<256xf32> {
      %y = tile.contraction add(%h[o, y, x]) -> [o] domain <o = 0 to 256, y = 0 to 14, x = 0 to 14> : (tensor<256x14x14xf32>) -> tensor<256xf32>
      tile.yield %y : tensor<256xf32>
    }
    func.return %Y : tensor<256xf32>
  }
}
