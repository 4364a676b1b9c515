// RUN: tile-opt %s -p 'tile-bounds,tile-fuse{rows=true},tile-loop-tiling{schedules="V: <group.x d0 : 8, serial 128*d1 : 1048576, serial 8*d1 : 16, vector d1 : 8> one_pass","W: <group.x d0 : 8, serial 128*d1 : 2097152, serial 8*d1 : 16, vector d1 : 8> one_pass"},tile-to-nest' | filecheck %s

// Each lane counts the points of which its guess is the mean; in f32 one more than 2^24 is none.
// CHECK-LABEL: sym_name = "counted_kernels"
// CHECK:         %guess = nest.buffer
// CHECK-LABEL: sym_name = "not_counted_kernels"
// CHECK-NOT:     guess
func.func @counted(%X: tensor<8x134217727xf32>) -> tensor<8x1xf32> {
  %T = tile.contraction add(%X[r, c]) -> [r, 0] : (tensor<8x134217727xf32>) -> tensor<8x1xf32>
  %c = tile.constant 134217727.0 : tensor<f32>
  %M = tile.div %T, %c : (tensor<8x1xf32>, tensor<f32>) -> tensor<8x1xf32>
  %D = tile.sub %X, %M : (tensor<8x134217727xf32>, tensor<8x1xf32>) -> tensor<8x134217727xf32>
  %Q = tile.mul %D, %D : (tensor<8x134217727xf32>, tensor<8x134217727xf32>) -> tensor<8x134217727xf32>
  %V = tile.contraction add(%Q[r, c]) -> [r, 0] : (tensor<8x134217727xf32>) -> tensor<8x1xf32>
  func.return %V : tensor<8x1xf32>
}

func.func @not_counted(%X: tensor<8x268435455xf32>) -> tensor<8x1xf32> {
  %T = tile.contraction add(%X[r, c]) -> [r, 0] : (tensor<8x268435455xf32>) -> tensor<8x1xf32>
  %c = tile.constant 268435455.0 : tensor<f32>
  %M = tile.div %T, %c : (tensor<8x1xf32>, tensor<f32>) -> tensor<8x1xf32>
  %D = tile.sub %X, %M : (tensor<8x268435455xf32>, tensor<8x1xf32>) -> tensor<8x268435455xf32>
  %Q = tile.mul %D, %D : (tensor<8x268435455xf32>, tensor<8x268435455xf32>) -> tensor<8x268435455xf32>
  %W = tile.contraction add(%Q[r, c]) -> [r, 0] : (tensor<8x268435455xf32>) -> tensor<8x1xf32>
  func.return %W : tensor<8x1xf32>
}
