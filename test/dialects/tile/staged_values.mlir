// RUN: tile-opt %s -p canonicalize | filecheck %s
// RUN: tile-opt %s -p cse,dce | filecheck %s
// RUN: tile-opt %s -p canonicalize | tile-opt | filecheck %s

// What is staged stays staged where ops before it go, or ops like it are there.
// CHECK: stage <%x private vector 4, %e private> {
// CHECK: %e = tile.exp {{.*}} {staged = 0 : i64}
// CHECK: tile.div %e, %s
func.func @softmax(%X: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %P = tile.kernel(%x = %X : tensor<16x64xf32>) -> tensor<16x64xf32> axes <d0 = 0 to 16, d1 = 0 to 64>
      schedule <group.x d0 : 16, local.x 4*d1 : 4, unroll 16*d1 : 4, vector d1 : 4>
      stage <%x private vector 4, %e private> {
    %m = tile.contraction max(%x[d0, d1]) -> [d0, 0] : (tensor<16x64xf32>) -> tensor<16x1xf32>
    %twin = tile.sub %x, %m : (tensor<16x64xf32>, tensor<16x1xf32>) -> tensor<16x64xf32>
    %c = tile.sub %x, %m : (tensor<16x64xf32>, tensor<16x1xf32>) -> tensor<16x64xf32>
    %f = tile.exp %twin : (tensor<16x64xf32>) -> tensor<16x64xf32>
    %dead = tile.mul %c, %f : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %e = tile.exp %c : (tensor<16x64xf32>) -> tensor<16x64xf32>
    %s = tile.contraction add(%e[d0, d1]) -> [d0, 0] : (tensor<16x64xf32>) -> tensor<16x1xf32>
    %p = tile.div %e, %s : (tensor<16x64xf32>, tensor<16x1xf32>) -> tensor<16x64xf32>
    tile.yield %p : tensor<16x64xf32>
  }
  func.return %P : tensor<16x64xf32>
}
