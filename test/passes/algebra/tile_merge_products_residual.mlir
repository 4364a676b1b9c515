// RUN: tile-opt %s -p 'tile-merge-products{constants="V","W"}' | filecheck %s

// Products that do residual sums by the way stay: the sum of a merged one's part is a kernel of its own.

builtin.module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"type" = "cpu", "compute_units" = 2 : i64, "native_vector_width" = 16 : i64, "registers" = 32 : i64>>} {

// CHECK-LABEL: func.func @merged
// CHECK:         tile.contraction add(%{{.*}}[o, c] mul %X[c, x]) -> [o, x] : {{.*}} -> tensor<320x3136xf32>
func.func @merged(%X: tensor<64x3136xf32> {tile.name = "X"}, %V: tensor<64x64xf32> {tile.name = "V"}, %W: tensor<256x64xf32> {tile.name = "W"}) -> (tensor<64x3136xf32>, tensor<256x3136xf32>) {
  %P = tile.contraction add(%V[o, c] mul %X[c, x]) -> [o, x] : (tensor<64x64xf32>, tensor<64x3136xf32>) -> tensor<64x3136xf32>
  %Q = tile.contraction add(%W[o, c] mul %X[c, x]) -> [o, x] : (tensor<256x64xf32>, tensor<64x3136xf32>) -> tensor<256x3136xf32>
  func.return %P, %Q : tensor<64x3136xf32>, tensor<256x3136xf32>
}

// CHECK-LABEL: func.func @residual
// CHECK-NEXT:    tile.contraction add(%V[o, c] mul %X[c, x]) -> [o, x]
// CHECK-NEXT:    tile.contraction add(%W[o, c] mul %X[c, x]) -> [o, x]
func.func @residual(%X: tensor<64x3136xf32> {tile.name = "X"}, %V: tensor<64x64xf32> {tile.name = "V"}, %W: tensor<256x64xf32> {tile.name = "W"}, %R: tensor<256x3136xf32> {tile.name = "R"}) -> (tensor<64x3136xf32>, tensor<256x3136xf32>) {
  %P = tile.contraction add(%V[o, c] mul %X[c, x]) -> [o, x] : (tensor<64x64xf32>, tensor<64x3136xf32>) -> tensor<64x3136xf32>
  %Q = tile.contraction add(%W[o, c] mul %X[c, x]) -> [o, x] : (tensor<256x64xf32>, tensor<64x3136xf32>) -> tensor<256x3136xf32>
  %S = tile.add %Q, %R : (tensor<256x3136xf32>, tensor<256x3136xf32>) -> tensor<256x3136xf32>
  func.return %P, %S : tensor<64x3136xf32>, tensor<256x3136xf32>
}
}
