// RUN: tile-opt %s -p 'tile-gradient,canonicalize,cse' -t tile | filecheck %s

// The maximum changes no result: nothing flows through it, and no element is compared with it.
func.func @softmax(%x: tensor<3x4xf32> {tile.name = "X"}) -> (tensor<3x4xf32> {tile.name = "Y"}) {
  %m = tile.contraction max(%x[n, c]) -> [n, 0] : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %d = tile.sub %x, %m : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %e = tile.exp %d : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %s = tile.contraction add(%e[n, c]) -> [n, 0] : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %y = tile.div %e, %s : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}
// CHECK-LABEL: function softmax_gradient(X, DY) -> (DX) {
// CHECK-NEXT:   M[n, 0: 3, 1] = >(X[n, c]);
// CHECK-NEXT:   D = X - M;
// CHECK-NOT:    M
// CHECK:        DX = De2 * E;
// CHECK-NEXT: }
