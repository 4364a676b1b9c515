// RUN: tile-opt %s -p tile-compile | filecheck %s

// Each tensor that a loop carries has memory, to which iterations copy their results. A result that
// takes another one's place is saved first; what stays the same is where it is.
// CHECK-LABEL: func.func @swapped(
// CHECK-SAME:      %[[X:.*]]: memref<4xf32, 1 : i32>, %[[Y:.*]]: memref<4xf32, 1 : i32>, %[[W:.*]]: memref
// CHECK-DAG:     %[[A:.*]] = "gpu.alloc"() {{.*}} -> memref<4xf32, 1 : i32>
// CHECK-DAG:     %[[B:.*]] = "gpu.alloc"() {{.*}} -> memref<4xf32, 1 : i32>
// CHECK:         "gpu.memcpy"(%{{.*}}, %[[X]])
// CHECK-NEXT:    "gpu.memcpy"(%{{.*}}, %[[Y]])
// CHECK-NEXT:    scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK:           "gpu.launch_func"({{.*}}, %[[W]], %{{.*}}) <{kernel = @swapped_part0_kernels::
// CHECK-COUNT-3:   "gpu.memcpy"
// CHECK-NEXT:    }
func.func @swapped(%x: tensor<4xf32>, %y: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = arith.constant 1000 : index
  %a, %b, %c = scf.for %i = %zero to %n step %one iter_args(%p = %x, %q = %y, %r = %w) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %s = tile.add %p, %r : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %q, %s, %r : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  func.return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @chosen(
// CHECK:         %[[E:.*]] = memref.load %c[] : memref<i1, 1 : i32>
// CHECK-NEXT:    scf.if %[[E]] {
// CHECK-NEXT:      "gpu.memcpy"(%[[R:.*]], %x)
// CHECK-NEXT:    } else {
// CHECK:           scf.for
// CHECK:           "gpu.memcpy"(%[[R]], %{{.*}})
// CHECK-NEXT:    }
func.func @chosen(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = arith.constant 1000 : index
  %e = tensor.extract %c[] : tensor<i1>
  %r = scf.if %e -> (tensor<4xf32>) {
    scf.yield %x : tensor<4xf32>
  } else {
    %s = scf.for %i = %zero to %n step %one iter_args(%p = %x) -> (tensor<4xf32>) {
      %y = tile.exp %p : (tensor<4xf32>) -> tensor<4xf32>
      scf.yield %y : tensor<4xf32>
    }
    scf.yield %s : tensor<4xf32>
  }
  func.return %r : tensor<4xf32>
}
