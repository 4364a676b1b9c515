// REQUIRES: stablehlo
// RUN: tile-opt %s | filecheck %s --check-prefix SYNTAX
// RUN: tile-opt %s -p convert-stablehlo-to-tile | filecheck %s

// SYNTAX: %a = chlo.lgamma %x : tensor<4xbf16> -> tensor<4xbf16>
// SYNTAX: %b = chlo.digamma %a : tensor<4xbf16> -> tensor<4xbf16>
// SYNTAX: %c = chlo.next_after %a, %b : tensor<4xbf16>, tensor<4xbf16> -> tensor<4xbf16>
// CHECK-LABEL: func.func @functions(
// CHECK-NEXT: tile.cast %x : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK:      %a = tile.cast %{{.*}} : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK:      %b = tile.cast %{{.*}} : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK:      tile.bit_or
// CHECK:      %c = tile.select
func.func @functions(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %a = chlo.lgamma %x : tensor<4xbf16> -> tensor<4xbf16>
  %b = chlo.digamma %a : tensor<4xbf16> -> tensor<4xbf16>
  %c = chlo.next_after %a, %b : tensor<4xbf16>, tensor<4xbf16> -> tensor<4xbf16>
  func.return %c : tensor<4xbf16>
}
