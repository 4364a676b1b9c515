// RUN: tile-opt %s -p 'tile-bounds,tile-scan' --split-input-file | filecheck %s

// What comes before is told by a shifted index, or by a constraint.
// CHECK-LABEL: @shifted
// CHECK-NEXT: %O = tile.scan add %I axis 1 : (tensor<4x16xf32>) -> tensor<4x16xf32>
// CHECK-NEXT: return
func.func @shifted(%I: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %O = tile.contraction add(%I[n, i - j]) -> [n, i] where 0 <= j < 16 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  func.return %O : tensor<4x16xf32>
}

// -----

// CHECK-LABEL: @from_here_on
// CHECK-NEXT: %O = tile.scan max %I axis 0 reverse : (tensor<16x4xi8>) -> tensor<16x4xi8>
// CHECK-NEXT: return
func.func @from_here_on(%I: tensor<16x4xi8>) -> tensor<16x4xi8> {
  %O = tile.contraction max(%I[k, n]) -> [i, n] where 0 <= k - i < 16 : (tensor<16x4xi8>) -> tensor<16x4xi8>
  func.return %O : tensor<16x4xi8>
}

// -----

// Without the element itself, and every second one: the scan, and then what is taken of it.
// CHECK-LABEL: @before
// CHECK-NEXT: %running = tile.scan mul %I axis 0 : (tensor<16xf32>) -> tensor<16xf32>
// CHECK-NEXT: %O = tile.contraction assign(%running[2*v0 - 1]) -> [v0] default %D domain <v0 = 1 to 8> : (tensor<16xf32>, tensor<8xf32>) -> tensor<8xf32>
func.func @before(%I: tensor<16xf32>, %D: tensor<8xf32>) -> tensor<8xf32> {
  %O = tile.contraction mul(%I[k]) -> [i] where 0 <= 2*i - k - 1 < 16 default %D : (tensor<16xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %O : tensor<8xf32>
}

// -----

// What is combined, and summed over other indices, comes first; a common factor last.
// CHECK-LABEL: @combined
// CHECK-NEXT: %terms = tile.contraction add(%A[v{{.*}}, v{{.*}}] mul %B[v{{.*}}]) -> [v{{.*}}] domain <{{.*}}> : (tensor<16x5xf32>, tensor<5xf32>) -> tensor<16xf32>
// CHECK-NEXT: %running = tile.scan add %terms axis 0 : (tensor<16xf32>) -> tensor<16xf32>
// CHECK-NEXT: %O = tile.contraction assign(%running[v0] mul %F[v0]) -> [v0] domain <v0 = 0 to 16> : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
func.func @combined(%A: tensor<16x5xf32>, %B: tensor<5xf32>, %F: tensor<16xf32>) -> tensor<16xf32> {
  %O = tile.contraction add(%A[k, c] mul %B[c] mul %F[i]) -> [i] where 0 <= i - k < 16 : (tensor<16x5xf32>, tensor<5xf32>, tensor<16xf32>) -> tensor<16xf32>
  func.return %O : tensor<16xf32>
}

// -----

// Along two axes: one after the other.
// CHECK-LABEL: @area
// CHECK-NEXT: %terms = tile.scan add %I axis 1 : (tensor<16x9xf32>) -> tensor<16x9xf32>
// CHECK-NEXT: %O = tile.scan add %terms axis 0 : (tensor<16x9xf32>) -> tensor<16x9xf32>
// CHECK-NEXT: return
func.func @area(%I: tensor<16x9xf32>) -> tensor<16x9xf32> {
  %O = tile.contraction add(%I[k, l]) -> [i, j] where 0 <= i - k < 16, 0 <= j - l < 9 : (tensor<16x9xf32>) -> tensor<16x9xf32>
  func.return %O : tensor<16x9xf32>
}

// -----

// These are none: a window, a convolution, a product that cannot be taken apart, few elements,
// more than there is, and what is to stay as it is.
// CHECK-LABEL: @others
// CHECK-COUNT-6: tile.contraction
// CHECK-NOT: tile.scan
func.func @others(%I: tensor<16xf32>, %F: tensor<16xf32>, %S: tensor<7xf32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<7xf32>, tensor<20xf32>, tensor<16xf32>) {
  %0 = tile.contraction add(%I[k]) -> [i] where 0 <= i - k < 5 : (tensor<16xf32>) -> tensor<16xf32>
  %1 = tile.contraction add(%I[i - k] mul %F[k]) -> [i] : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %2 = tile.contraction max(%I[k] mul %F[i]) -> [i] where 0 <= i - k < 16 : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %3 = tile.contraction add(%S[k]) -> [i] where 0 <= i - k < 7 : (tensor<7xf32>) -> tensor<7xf32>
  %4 = tile.contraction add(%I[k]) -> [i] where 0 <= i - k < 20 : (tensor<16xf32>) -> tensor<20xf32>
  %5 = tile.contraction add(%I[k]) -> [i] where 0 <= i - k < 16 no_defract : (tensor<16xf32>) -> tensor<16xf32>
  func.return %0, %1, %2, %3, %4, %5 : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<7xf32>, tensor<20xf32>, tensor<16xf32>
}

// -----

// What is counted, or added up, where an element equals a running extreme: runs of that. Not so
// where the constraint says less, or the extreme is another one's.
// CHECK-LABEL: @ties
// CHECK: %O = tile.scan max %I axis 0
// CHECK-NEXT: %ties = tile.cmp_eq %I, %O
// CHECK-NEXT: %C = tile.scan add %ties axis 0 runs %O : (tensor<16xi1>, tensor<16xf32>) -> tensor<16xi32>
// CHECK-NEXT: %running = tile.scan add %G axis 0 reverse runs %O : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
// CHECK-NEXT: %ties_1 = tile.cmp_eq %I, %O
// CHECK: %D = tile.select %ties_1, %running
// CHECK-NEXT: %ties_2 = tile.cmp_eq %I, %O
// CHECK: %chosen = tile.select %ties_2, %G
// CHECK-NEXT: %S = tile.scan add %chosen axis 0 runs %O : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
// CHECK-NEXT: tile.contraction add(%I[{{.*}}] eq %O
// CHECK-NEXT: tile.contraction add(%G[{{.*}}] eq %O
// CHECK-NEXT: tile.contraction add(%I[{{.*}}] eq %O
func.func @ties(%I: tensor<16xf32>, %G: tensor<16xf32>) -> (tensor<16xi32>, tensor<16xf32>, tensor<16xf32>, tensor<16xi32>, tensor<16xi32>, tensor<16xi32>) {
  %O = tile.contraction max(%I[k]) -> [i] where 0 <= i - k < 16 : (tensor<16xf32>) -> tensor<16xf32>
  %C = tile.contraction add(%I[k] eq %O[i]) -> [i] where 0 <= i - k < 16 : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xi32>
  %D = tile.contraction add(%I[k] eq %O[i] cond %G[i]) -> [k] where 0 <= i - k < 16 : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %S = tile.contraction add(%I[k] eq %O[i] cond %G[k]) -> [i] where 0 <= i - k < 16 : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %0 = tile.contraction add(%I[k] eq %O[i]) -> [i] where 0 <= i - k < 5 : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xi32>
  %1 = tile.contraction add(%G[k] eq %O[i]) -> [i] where 0 <= i - k < 16 : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xi32>
  %2 = tile.contraction add(%I[k] eq %O[i]) -> [i] where 0 <= k - i < 16 : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xi32>
  func.return %C, %D, %S, %0, %1, %2 : tensor<16xi32>, tensor<16xf32>, tensor<16xf32>, tensor<16xi32>, tensor<16xi32>, tensor<16xi32>
}
