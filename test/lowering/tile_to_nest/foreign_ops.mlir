// RUN: tile-opt %s -p tile-compile --allow-unregistered-dialect --verify-diagnostics --split-input-file | filecheck %s

// CHECK: no pass lowers tosa.abs, of the dialect tosa, to kernels
func.func @unregistered(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "tosa.abs"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// CHECK: no pass lowers tosa.sin, of the dialect tosa, to kernels
func.func @branch(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.extract %c[] : tensor<i1>
  %r = scf.if %e -> (tensor<4xf32>) {
    scf.yield %x : tensor<4xf32>
  } else {
    %y = tosa.sin %x : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}

// -----

// CHECK: no pass lowers tosa.sin, of the dialect tosa, to kernels
func.func @before_branch(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = tosa.sin %x : (tensor<4xf32>) -> tensor<4xf32>
  %e = tensor.extract %c[] : tensor<i1>
  %r = scf.if %e -> (tensor<4xf32>) {
    scf.yield %x : tensor<4xf32>
  } else {
    scf.yield %y : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}
