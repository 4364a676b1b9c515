// RUN: not tile-opt %s -p tile-to-nest 2>&1 | filecheck %s

// CHECK: tile-to-nest works on kernels with a schedule: run tile-loop-tiling
func.func @f(%X: tensor<8xf32>) -> tensor<8xf32> {
  %R = tile.kernel(%x = %X : tensor<8xf32>) -> tensor<8xf32> {
    %e = tile.exp %x : (tensor<8xf32>) -> tensor<8xf32>
    tile.yield %e : tensor<8xf32>
  }
  func.return %R : tensor<8xf32>
}
