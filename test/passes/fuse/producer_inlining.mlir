// RUN: tile-opt %s -p 'tile-bounds,tile-fuse{explain=true}' | filecheck %s
// RUN: tile-opt %s -p 'tile-bounds,tile-fuse{loads=false}' | filecheck %s --check-prefix=APART
// RUN: tile-opt %s -p 'tile-bounds,tile-fuse{loads=true rows=false explain=true}' | filecheck %s --check-prefix=ALL
// RUN: tile-opt %s -p 'tile-bounds,tile-fuse{apart=D}' | filecheck %s --check-prefix=SPLIT
// RUN: not tile-opt %s -p 'tile-bounds,tile-fuse{apart=D,Nothing}' 2>&1 | filecheck %s --check-prefix=UNKNOWN

// UNKNOWN: there is no result Nothing to keep apart

// What a contraction alone takes is computed where it loads it, and never in memory.
// CHECK-LABEL: @squares
// CHECK-NEXT:    %S = tile.kernel @{{\w+}}(%X_1 = %X : tensor<2048x512xf32>, %b_1 = %b : tensor<512xf32>) -> tensor<2048xf32>
// CHECK-SAME:      attributes {fused = ["Q is computed where S loads it: 5.0 us instead of 11.6 us apart, moving 4.2 MB instead of 12.6 MB"]} {
// CHECK-NEXT:      tile.sub
// CHECK-NEXT:      tile.mul
// CHECK-NEXT:      tile.contraction
// CHECK-NEXT:      tile.yield
// SPLIT-LABEL: @squares
// SPLIT:         %D = tile.kernel
// SPLIT-NEXT:      tile.sub
// SPLIT-NEXT:      tile.yield
// SPLIT:         %S = tile.kernel
// SPLIT-NEXT:      tile.mul
// APART-LABEL: @squares
// APART:         tile.kernel
// APART:         tile.kernel
func.func @squares(%X: tensor<2048x512xf32>, %b: tensor<512xf32>) -> tensor<2048xf32> {
  %D = tile.sub %X, %b : (tensor<2048x512xf32>, tensor<512xf32>) -> tensor<2048x512xf32>
  %Q = tile.mul %D, %D : (tensor<2048x512xf32>, tensor<2048x512xf32>) -> tensor<2048x512xf32>
  %S = tile.contraction add(%Q[i, j]) -> [i] : (tensor<2048x512xf32>) -> tensor<2048xf32>
  func.return %S : tensor<2048xf32>
}

// A matrix product reads every element too often to compute it each time, unless one insists.
// CHECK-LABEL: @product
// CHECK:         %E = tile.kernel
// CHECK:         %C = tile.kernel @{{\w+}}(%{{.*}}) -> tensor<512x512xf32>
// CHECK-SAME:      attributes {fused = ["E is not computed where C loads it, which would take 79.1 us instead of 10.0 us apart, moving 3.15 MB instead of 5.24 MB, with 2277 million operations again"]}
// ALL-LABEL:   @product
// ALL-NEXT:      %C = tile.kernel
// ALL-SAME:      with 2277 million operations again, but it was asked for"]
func.func @product(%A: tensor<512x512xf32>, %B: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %E = tile.exp %A : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %C = tile.contraction add(%E[i, k] mul %B[k, j]) -> [i, j] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  func.return %C : tensor<512x512xf32>
}

// What something else takes, too, is in memory anyway.
// CHECK-LABEL: @also_returned
// CHECK:         %E = tile.kernel
// CHECK:         %C = tile.kernel
func.func @also_returned(%A: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %E = tile.relu %A : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %C = tile.contraction assign(%E[j, i]) -> [i, j] : (tensor<64x64xf32>) -> tensor<64x64xf32>
  func.return %E, %C : tensor<64x64xf32>, tensor<64x64xf32>
}

// A default must be in memory.
// CHECK-LABEL: @default
// CHECK:         %D = tile.kernel
// CHECK:         %C = tile.kernel
func.func @default(%A: tensor<4xf32>) -> tensor<9xf32> {
  %c = tile.constant 2.0 : tensor<f32>
  %F = tile.contraction assign(%A[0]) -> [i] : (tensor<4xf32>) -> tensor<9xf32>
  %D = tile.mul %F, %c : (tensor<9xf32>, tensor<f32>) -> tensor<9xf32>
  %C = tile.contraction add(%A[i]) -> [2*i] default %D : (tensor<4xf32>, tensor<9xf32>) -> tensor<9xf32>
  func.return %C : tensor<9xf32>
}

// Rows are gathered where they are summed; not where vectors would not lie along rows.
// CHECK-LABEL: @bags
// CHECK-NEXT:    %S = tile.kernel @{{\w+}}(%E_1 = %E : tensor<50x64xf32>, %I_1 = %I : tensor<8x20xi32>) -> tensor<8x64xf32>
// CHECK:           tile.gather
// CHECK-NEXT:      tile.contraction add(%{{.*}}[b, l, d]) -> [b, d]
// CHECK:         tile.gather
// CHECK-NEXT:    tile.yield
// CHECK:         tile.gather
// CHECK-NEXT:    tile.yield
// APART-LABEL: @bags
// APART:         tile.gather
// APART-NEXT:    tile.yield
func.func @bags(%E: tensor<50x64xf32>, %I: tensor<8x20xi32>, %J: tensor<8x20xi32>, %K: tensor<8x20xi32>, %W: tensor<64x64xf32>) -> (tensor<8x64xf32>, tensor<8x20xf32>, tensor<8x20x64xf32>) {
  %G = tile.gather %E, %I : (tensor<50x64xf32>, tensor<8x20xi32>) -> tensor<8x20x64xf32>
  %S = tile.contraction add(%G[b, l, d]) -> [b, d] : (tensor<8x20x64xf32>) -> tensor<8x64xf32>
  %H = tile.gather %E, %J : (tensor<50x64xf32>, tensor<8x20xi32>) -> tensor<8x20x64xf32>
  %T = tile.contraction add(%H[b, l, d]) -> [b, l] : (tensor<8x20x64xf32>) -> tensor<8x20xf32>
  %M = tile.gather %E, %K : (tensor<50x64xf32>, tensor<8x20xi32>) -> tensor<8x20x64xf32>
  %P = tile.contraction add(%M[b, l, d] mul %W[d, f]) -> [b, l, f] : (tensor<8x20x64xf32>, tensor<64x64xf32>) -> tensor<8x20x64xf32>
  func.return %S, %T, %P : tensor<8x64xf32>, tensor<8x20xf32>, tensor<8x20x64xf32>
}

// Each matrix of a batch is gathered where rows are multiplied by it, as the experts' of tokens; one that is read
// at other places than its own is copied.
// CHECK-LABEL: @experts
// CHECK-NEXT:    %P = tile.kernel @{{\w+}}(%W_1 = %W : tensor<4x32x64xf32>, %I_1 = %I : tensor<6xi32>, %X_1 = %X : tensor<6x8x32xf32>) -> tensor<6x8x64xf32>
// CHECK:           tile.gather
// CHECK-NEXT:      tile.contraction add(%{{.*}}[b, m, k] mul %{{.*}}[b, k, n]) -> [b, m, n]
// CHECK:         tile.gather
// CHECK-NEXT:    tile.yield
// APART-LABEL: @experts
// APART:         tile.gather
// APART-NEXT:    tile.yield
func.func @experts(%X: tensor<6x8x32xf32>, %W: tensor<4x32x64xf32>, %I: tensor<6xi32>, %J: tensor<6xi32>) -> (tensor<6x8x64xf32>, tensor<6x8x63xf32>) {
  %G = tile.gather %W, %I : (tensor<4x32x64xf32>, tensor<6xi32>) -> tensor<6x32x64xf32>
  %P = tile.contraction add(%X[b, m, k] mul %G[b, k, n]) -> [b, m, n] : (tensor<6x8x32xf32>, tensor<6x32x64xf32>) -> tensor<6x8x64xf32>
  %H = tile.gather %W, %J : (tensor<4x32x64xf32>, tensor<6xi32>) -> tensor<6x32x64xf32>
  %Q = tile.contraction add(%X[b, m, k] mul %H[b, k, n + 1]) -> [b, m, n] : (tensor<6x8x32xf32>, tensor<6x32x64xf32>) -> tensor<6x8x63xf32>
  func.return %P, %Q : tensor<6x8x64xf32>, tensor<6x8x63xf32>
}
