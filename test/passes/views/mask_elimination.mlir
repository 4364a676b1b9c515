// RUN: tile-opt %s -p tile-bounds,tile-fuse | filecheck %s

// Nothing is counted at the elements that are read: the mask keeps all of them.
// CHECK-LABEL: @past
// CHECK-NEXT:    %P = tile.kernel @{{\w+}}(%{{.*}} = %D : tensor<8xf32>) -> tensor<5xf32> {
// CHECK-NEXT:      tile.contraction assign(%{{.*}}[i]) -> [i]
// CHECK-NEXT:      tile.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    return %P
func.func @past(%D: tensor<8xf32>) -> tensor<5xf32> {
  %one = tile.constant 1.0 : tensor<f32>
  %zero = tile.constant 0.0 : tensor<f32>
  %N = tile.contraction add(%one[]) -> [i + 5] where 0 <= i < 3 : (tensor<f32>) -> tensor<8xf32>
  %E = tile.cmp_eq %N, %zero : (tensor<8xf32>, tensor<f32>) -> tensor<8xi1>
  %M = tile.select %E, %D, %zero : (tensor<8xi1>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %P = tile.contraction assign(%M[i]) -> [i] : (tensor<8xf32>) -> tensor<5xf32>
  func.return %P : tensor<5xf32>
}

// One of the elements that are read is counted.
// CHECK-LABEL: @overlap
// CHECK:         tile.select
func.func @overlap(%D: tensor<8xf32>) -> tensor<5xf32> {
  %one = tile.constant 1.0 : tensor<f32>
  %zero = tile.constant 0.0 : tensor<f32>
  %N = tile.contraction add(%one[]) -> [i + 4] where 0 <= i < 3 : (tensor<f32>) -> tensor<8xf32>
  %E = tile.cmp_eq %N, %zero : (tensor<8xf32>, tensor<f32>) -> tensor<8xi1>
  %M = tile.select %E, %D, %zero : (tensor<8xi1>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %P = tile.contraction assign(%M[i]) -> [i] : (tensor<8xf32>) -> tensor<5xf32>
  func.return %P : tensor<5xf32>
}

// A count of one element is broadcast, and masks all of the others.
// CHECK-LABEL: @broadcast
// CHECK:         tile.select
func.func @broadcast(%D: tensor<8xf32>, %X: tensor<2xf32>) -> tensor<5xf32> {
  %zero = tile.constant 0.0 : tensor<f32>
  %N = tile.contraction add(%X[i]) -> [0] : (tensor<2xf32>) -> tensor<1xf32>
  %E = tile.cmp_eq %N, %zero : (tensor<1xf32>, tensor<f32>) -> tensor<1xi1>
  %M = tile.select %E, %D, %zero : (tensor<1xi1>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %P = tile.contraction assign(%M[i + 3]) -> [i] : (tensor<8xf32>) -> tensor<5xf32>
  func.return %P : tensor<5xf32>
}
