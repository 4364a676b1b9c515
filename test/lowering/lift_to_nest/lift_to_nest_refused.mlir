// RUN: tile-opt %s -p lift-to-nest --split-input-file --verify-diagnostics | filecheck %s

// CHECK: map_lcl and map_glb share out the same work-items: use one
func.func @both(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %r = lift.map_glb(0)(%row in %x) : (tensor<8x4xf32>) -> tensor<8x4xf32> {
    %s = lift.map_lcl(0)(%e in %row) : (tensor<4xf32>) -> tensor<4xf32> {
      %y = arith.addf %e, %e : f32
      lift.yield %y : f32
    }
    lift.yield %s : tensor<4xf32>
  }
  func.return %r : tensor<8x4xf32>
}

// -----

// CHECK: map_lcl stands in a map that shares out local.x already
func.func @twice(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %r = lift.map_lcl(0)(%row in %x) : (tensor<8x4xf32>) -> tensor<8x4xf32> {
    %s = lift.map_lcl(0)(%e in %row) : (tensor<4xf32>) -> tensor<4xf32> {
      %y = arith.addf %e, %e : f32
      lift.yield %y : f32
    }
    lift.yield %s : tensor<4xf32>
  }
  func.return %r : tensor<8x4xf32>
}

// -----

// CHECK: map_warp and map_lcl(0) share out the same work-items: use one
func.func @warps(%x: tensor<2x32xf32>) -> tensor<2x32xf32> {
  %r = lift.map_warp(%part in %x) : (tensor<2x32xf32>) -> tensor<2x32xf32> {
    %s = lift.map_lcl(0)(%e in %part) : (tensor<32xf32>) -> tensor<32xf32> {
      %y = arith.addf %e, %e : f32
      lift.yield %y : f32
    }
    lift.yield %s : tensor<32xf32>
  }
  func.return %r : tensor<2x32xf32>
}

// -----

// CHECK: kept is kept in the memory of a kernel, so that M must be a number
func.func @open(%x: tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
  %r = lift.map_glb(0)(%row in %x) : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %kept = lift.map_seq(%e in %row) : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %y = arith.addf %e, %e : f32
      lift.yield %y : f32
    }
    %p = lift.to_private %kept : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>>
    %s = lift.map_seq(%e in %p) : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %y = arith.addf %e, %e : f32
      lift.yield %y : f32
    }
    lift.yield %s : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %r : tensor<?x?xf32, #lift.sizes<N, M>>
}

// -----

// CHECK: a loop of N steps is unrolled: N must be a number
func.func @unrolled(%x: tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
  %r = lift.map_seq_unroll(%e in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %y = arith.addf %e, %e : f32
    lift.yield %y : f32
  }
  func.return %r : tensor<?xf32, #lift.sizes<N>>
}

// -----

// CHECK: tile.contraction cannot be part of a kernel of patterns
func.func @contraction(%x: tensor<8x4xf32>) -> tensor<8xf32> {
  %r = lift.map_glb(0)(%row in %x) : (tensor<8x4xf32>) -> tensor<8xf32> {
    %s = tile.contraction add(%row[i]) -> [] : (tensor<4xf32>) -> tensor<f32>
    %e = tensor.extract %s[] : tensor<f32>
    lift.yield %e : f32
  }
  func.return %r : tensor<8xf32>
}

// -----

// CHECK: iterate(T) around kernels needs a count that is a number
func.func @often(%x: tensor<?xf32, #lift.sizes<T>>) -> tensor<?xf32, #lift.sizes<T>> {
  %r = lift.iterate(T)(%v : tensor<?xf32, #lift.sizes<T>> from %x) : (tensor<?xf32, #lift.sizes<T>>) -> tensor<?xf32, #lift.sizes<T>> {
    %s = lift.map_glb(0)(%e in %v) : (tensor<?xf32, #lift.sizes<T>>) -> tensor<?xf32, #lift.sizes<T>> {
      %y = arith.addf %e, %e : f32
      lift.yield %y : f32
    }
    lift.yield %s : tensor<?xf32, #lift.sizes<T>>
  }
  func.return %r : tensor<?xf32, #lift.sizes<T>>
}

// -----

// CHECK: other work-groups read the result of map_glb in the same kernel, and cannot wait for it
func.func @groups(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = lift.map_glb(1)(%row in %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %s = lift.map_glb(0)(%e in %row) : (tensor<8xf32>) -> tensor<8xf32> {
      %y = arith.addf %e, %e : f32
      lift.yield %y : f32
    }
    %b = lift.gather(i -> 7 - i) %s : (tensor<8xf32>) -> tensor<8xf32>
    %t = lift.map_glb(0)(%e in %b) : (tensor<8xf32>) -> tensor<8xf32> {
      %y = arith.mulf %e, %e : f32
      lift.yield %y : f32
    }
    lift.yield %t : tensor<8xf32>
  }
  func.return %r : tensor<4x8xf32>
}

// -----

// CHECK: other work-items read the result of map_lcl, which is in private memory
func.func @private(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = lift.map_wrg(0)(%row in %x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    %s = lift.map_lcl(0)(%e in %row) : (tensor<8xf32>) -> tensor<8xf32> {
      %y = arith.addf %e, %e : f32
      lift.yield %y : f32
    }
    %p = lift.to_private %s : (tensor<8xf32>) -> tensor<8xf32>
    %b = lift.gather(i -> 7 - i) %p : (tensor<8xf32>) -> tensor<8xf32>
    %t = lift.map_lcl(0)(%e in %b) : (tensor<8xf32>) -> tensor<8xf32> {
      %y = arith.mulf %e, %e : f32
      lift.yield %y : f32
    }
    lift.yield %t : tensor<8xf32>
  }
  func.return %r : tensor<4x8xf32>
}

// -----

// CHECK: r of number is f32, but kernels take and give arrays of numbers: a number is an array without axes
func.func @number(%x: tensor<8xf32>) -> f32 {
  %z = arith.constant 0.0 : f32
  %r = lift.reduce_seq(%a from %z, %e in %x) : (f32, tensor<8xf32>) -> f32 {
    %y = arith.addf %a, %e : f32
    lift.yield %y : f32
  }
  func.return %r : f32
}

// -----

// CHECK: is tensor<8xtuple<f32, f32>>, but kernels take and give arrays of numbers
func.func @pairs(%x: tensor<8xf32>) -> tensor<8xtuple<f32, f32>> {
  %r = lift.zip %x, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xtuple<f32, f32>>
  func.return %r : tensor<8xtuple<f32, f32>>
}

// -----

// What is only declared is left alone.
// CHECK: func.func private @elsewhere(tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>>
func.func private @elsewhere(%x: tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>>
