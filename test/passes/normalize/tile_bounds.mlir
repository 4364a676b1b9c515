// RUN: tile-opt %s -p tile-bounds | filecheck %s

// The ranges follow from the tensors; a constraint that says nothing new goes.
// CHECK: %C = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] domain <i = 0 to 3, j = 0 to 5, k = 0 to 4> :
func.func @product(%A: tensor<3x4xf32>, %B: tensor<4x5xf32>) -> tensor<3x5xf32> {
  %C = tile.contraction add(%A[i, k] mul %B[k, j]) -> [i, j] where 0 <= k < 9, 0 <= i + j < 100 : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  func.return %C : tensor<3x5xf32>
}

// A needed constraint stays.
// CHECK: %P = tile.contraction max(%A[2*i + j]) -> [i] where 0 <= j < 2 domain <i = 0 to 3, j = 0 to 2> :
func.func @pool(%A: tensor<6xf32>) -> tensor<3xf32> {
  %P = tile.contraction max(%A[2*i + j]) -> [i] where 0 <= j < 2 : (tensor<6xf32>) -> tensor<3xf32>
  func.return %P : tensor<3xf32>
}

// Only points at which every expression is an integer count.
// CHECK: %H = tile.contraction add(%A[1/2*i]) -> [i] domain <i = 0 to 9> :
func.func @half(%A: tensor<6xf32>) -> tensor<10xf32> {
  %H = tile.contraction add(%A[1/2*i]) -> [i] : (tensor<6xf32>) -> tensor<10xf32>
  func.return %H : tensor<10xf32>
}

// CHECK: %E = tile.contraction add(%A[i + 7]) -> [i] domain <i = 0 to 0> :
func.func @empty(%A: tensor<6xf32>) -> tensor<6xf32> {
  %E = tile.contraction add(%A[i + 7]) -> [i] : (tensor<6xf32>) -> tensor<6xf32>
  func.return %E : tensor<6xf32>
}

// CHECK: %R = tile.contraction assign(%A[5 - i]) -> [i] domain <i = 0 to 6> :
func.func @reverse(%A: tensor<6xf32>) -> tensor<6xf32> {
  %R = tile.contraction assign(%A[5 - i]) -> [i] : (tensor<6xf32>) -> tensor<6xf32>
  func.return %R : tensor<6xf32>
}
