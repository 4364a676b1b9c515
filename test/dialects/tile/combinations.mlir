// RUN: tile-opt %s | tile-opt | filecheck %s
// RUN: tile-opt %s --print-op-generic | tile-opt | filecheck %s

// The first tensors, put together, are compared with the next; where equal, the rest is taken.
// CHECK:      tile.contraction add(%A[i] add %B[i] eq %C[i]) -> [] : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<i32>
// CHECK-NEXT: tile.contraction add(%A[i] mul %B[i] eq %C[i]) -> [] : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<i32>
// CHECK-NEXT: tile.contraction add(%A[i] add %B[i] eq %C[i] cond %D[i]) -> [] : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf64>) -> tensor<f64>
// CHECK-NEXT: tile.contraction add(%A[i] mul %B[i] eq %C[i] cond %D[i]) -> [] : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf64>) -> tensor<f64>
// CHECK-NEXT: tile.contraction add(%A[i] mul %B[i] eq %C[i] cond %D[i] mul %A[i]) -> [] : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf64>, tensor<4xf32>) -> tensor<f64>
func.func @combinations(%A: tensor<4xf32>, %B: tensor<4xf32>, %C: tensor<4xf32>, %D: tensor<4xf64>) {
  %0 = tile.contraction add(%A[i] add %B[i] eq %C[i]) -> [] : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<i32>
  %1 = tile.contraction add(%A[i] mul %B[i] eq %C[i]) -> [] : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<i32>
  %2 = tile.contraction add(%A[i] add %B[i] eq %C[i] cond %D[i]) -> [] : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf64>) -> tensor<f64>
  %3 = tile.contraction add(%A[i] mul %B[i] eq %C[i] cond %D[i]) -> [] : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf64>) -> tensor<f64>
  %4 = tile.contraction add(%A[i] mul %B[i] eq %C[i] cond %D[i] mul %A[i]) -> [] : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf64>, tensor<4xf32>) -> tensor<f64>
  func.return
}
