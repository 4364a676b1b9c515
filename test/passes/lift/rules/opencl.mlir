// Written by generate.py, which stands beside this file.
// RUN: tile-opt %s -p 'lift-rewrite{function=map_glb rule=map_glb sizes="dim=0"},lift-rewrite{function=map_wrg rule=map_wrg sizes="dim=1"},lift-rewrite{function=limit_groups rule=limit_groups sizes="groups=2"},lift-rewrite{function=map_lcl rule=map_lcl sizes="dim=0"},lift-rewrite{function=map_warp rule=map_warp},lift-rewrite{function=map_lane rule=map_lane},lift-rewrite{function=map_seq rule=map_seq},lift-rewrite{function=map_seq_unroll rule=map_seq_unroll},lift-rewrite{function=reduce_seq rule=reduce_seq},lift-rewrite{function=reduce_seq_unroll rule=reduce_seq_unroll},lift-rewrite{function=to_global rule=to_global},lift-rewrite{function=to_local rule=to_local},lift-rewrite{function=fetch_ahead rule=fetch_ahead},lift-rewrite{function=to_private rule=to_private},lift-rewrite{function=vectorize rule=vectorize sizes="w=4"},lift-rewrite{function=vectorize_zip rule=vectorize_zip sizes="w=2"},lift-rewrite{function=vectorize_arrays rule=vectorize_arrays sizes="w=4"},lift-rewrite{function=vectorize_function rule=vectorize_function},lift-rewrite{function=vectorize_reduce rule=vectorize_reduce sizes="w=4"},lift-rewrite{function=dot rule=dot},lift-rewrite{function=vectors_past_reduce rule=vectors_past_reduce}' | filecheck %s

// `map(f) = map_glb(dim)(f)`, the elements shared out among all work-items.
// CHECK-LABEL: func.func @map_glb(
// CHECK-NEXT: lift.map_glb(0)(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_glb(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    lift.yield %2 : f32
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `map(f) = map_wrg(dim)(f)`, shared out among work-groups; a map inside is for their items.
// CHECK-LABEL: func.func @map_wrg(
// CHECK-NEXT: lift.map_wrg(1)(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_wrg(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.map(%1 in %x) : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %2 = lift.map(%a in %1) : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %3 = arith.constant 1.000000e+00 : f32
      %4 = arith.addf %a, %3 : f32
      lift.yield %4 : f32
    }
    lift.yield %2 : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %0 : tensor<?x?xf32, #lift.sizes<N, M>>
}

// `map_wrg(f)` or `map_glb(f)` by at most so many groups along its dimension.
//
// Each goes through elements that lie so far apart, and begins once for them all.
// CHECK-LABEL: func.func @limit_groups(
// CHECK-NEXT: lift.map_glb(0)(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @limit_groups(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map_glb(0)(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    lift.yield %2 : f32
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `map(f) = map_lcl(dim)(f)` inside of `map_wrg`, shared out among the group.
// CHECK-LABEL: func.func @map_lcl(
// CHECK-NEXT: lift.map_wrg(0)(
// CHECK-NEXT:   lift.map_lcl(0)(
// CHECK-NEXT:     arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_lcl(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.map_wrg(0)(%1 in %x) : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %2 = lift.map(%a in %1) : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %3 = arith.constant 1.000000e+00 : f32
      %4 = arith.addf %a, %3 : f32
      lift.yield %4 : f32
    }
    lift.yield %2 : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %0 : tensor<?x?xf32, #lift.sizes<N, M>>
}

// `map(f) = map_warp(f)`, shared out among warps; a map inside is for their lanes.
// CHECK-LABEL: func.func @map_warp(
// CHECK-NEXT: lift.map_warp(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_warp(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.map(%1 in %x) : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %2 = lift.map(%a in %1) : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %3 = arith.constant 1.000000e+00 : f32
      %4 = arith.addf %a, %3 : f32
      lift.yield %4 : f32
    }
    lift.yield %2 : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %0 : tensor<?x?xf32, #lift.sizes<N, M>>
}

// `map(f) = map_lane(f)` inside of `map_warp`, shared out among a warp's lanes.
// CHECK-LABEL: func.func @map_lane(
// CHECK-NEXT: lift.map_warp(
// CHECK-NEXT:   lift.map_lane(
// CHECK-NEXT:     arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_lane(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.map_warp(%1 in %x) : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %2 = lift.map(%a in %1) : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %3 = arith.constant 1.000000e+00 : f32
      %4 = arith.addf %a, %3 : f32
      lift.yield %4 : f32
    }
    lift.yield %2 : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %0 : tensor<?x?xf32, #lift.sizes<N, M>>
}

// `map(f) = map_seq(f)`, one element after the other; a map inside may be shared out.
// CHECK-LABEL: func.func @map_seq(
// CHECK-NEXT: lift.map_seq(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_seq(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    lift.yield %2 : f32
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `map_seq(f) = map_seq_unroll(f)`, for an array whose size is a number.
// CHECK-LABEL: func.func @map_seq_unroll(
// CHECK-NEXT: lift.map_glb(0)(
// CHECK-NEXT:   lift.map_seq_unroll(
// CHECK-NEXT:     arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_seq_unroll(%x: tensor<?x4xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?x4xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map_glb(0)(%1 in %x) : (tensor<?x4xf32, #lift.sizes<N>>) -> tensor<?x4xf32, #lift.sizes<N>> {
    %2 = lift.map_seq(%a in %1) : (tensor<4xf32>) -> tensor<4xf32> {
      %3 = arith.constant 1.000000e+00 : f32
      %4 = arith.addf %a, %3 : f32
      lift.yield %4 : f32
    }
    lift.yield %2 : tensor<4xf32>
  }
  func.return %0 : tensor<?x4xf32, #lift.sizes<N>>
}

// `reduce(f, e) = reduce_seq(f, e)`, done by one work-item in order.
// CHECK-LABEL: func.func @reduce_seq(
// CHECK-NEXT: arith.constant 0.000000e+00 : f32
// CHECK-NEXT: lift.reduce_seq(
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: tensor.from_elements
// CHECK-NEXT: func.return
func.func @reduce_seq(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<f32> {tile.name = "out"}) {
  %0 = arith.constant 0.000000e+00 : f32
  %1 = lift.reduce(%a from %0, %b in %x) : (f32, tensor<?xf32, #lift.sizes<N>>) -> f32 {
    %2 = arith.addf %a, %b : f32
    lift.yield %2 : f32
  }
  %3 = tensor.from_elements %1 : tensor<f32>
  func.return %3 : tensor<f32>
}

// `reduce_seq(f, e) = reduce_seq_unroll(f, e)`, for an array whose size is a number.
// CHECK-LABEL: func.func @reduce_seq_unroll(
// CHECK-NEXT: lift.map_glb(0)(
// CHECK-NEXT:   arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   lift.reduce_seq_unroll(
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @reduce_seq_unroll(%x: tensor<?x3xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map_glb(0)(%1 in %x) : (tensor<?x3xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %2 = arith.constant 0.000000e+00 : f32
    %3 = lift.reduce_seq(%a from %2, %b in %1) : (f32, tensor<3xf32>) -> f32 {
      %4 = arith.addf %a, %b : f32
      lift.yield %4 : f32
    }
    lift.yield %3 : f32
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `f = to_global(f)`: the result of a pattern is kept in global memory.
// CHECK-LABEL: func.func @to_global(
// CHECK-NEXT: lift.map_glb(0)(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.to_global
// CHECK-NEXT: func.return
func.func @to_global(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map_glb(0)(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    lift.yield %2 : f32
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `f = to_local(f)` inside of `map_wrg`: the result of a pattern is kept in local memory.
// CHECK-LABEL: func.func @to_local(
// CHECK-NEXT: lift.map_wrg(0)(
// CHECK-NEXT:   lift.map_lcl(0)(
// CHECK-NEXT:     arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.to_local
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @to_local(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.map_wrg(0)(%1 in %x) : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %2 = lift.map_lcl(0)(%a in %1) : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %3 = arith.constant 1.000000e+00 : f32
      %4 = arith.addf %a, %3 : f32
      lift.yield %4 : f32
    }
    lift.yield %2 : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %0 : tensor<?x?xf32, #lift.sizes<N, M>>
}

// `to_local(x)` in a step of `reduce_seq`, fetched while the step before computes.
//
// The group has two copies of it, which steps take in turns. `x` is no result of the step before.
// CHECK-LABEL: func.func @fetch_ahead(
// CHECK-NEXT: lift.map_wrg(0)(
// CHECK-NEXT:   arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   lift.reduce_seq(
// CHECK-NEXT:     lift.map_lcl(0)(
// CHECK-NEXT:       arith.constant 1.000000e+00 : f32
// CHECK-NEXT:       arith.addf
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.to_local {{.*}} {lift.ahead} :
// CHECK-NEXT:     lift.size(0) : () -> index
// CHECK-NEXT:     lift.at
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @fetch_ahead(%x: tensor<?x8x4xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map_wrg(0)(%1 in %x) : (tensor<?x8x4xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %2 = arith.constant 0.000000e+00 : f32
    %3 = lift.reduce_seq(%s from %2, %row in %1) : (f32, tensor<8x4xf32>) -> f32 {
      %4 = lift.map_lcl(0)(%a in %row) : (tensor<4xf32>) -> tensor<4xf32> {
        %5 = arith.constant 1.000000e+00 : f32
        %6 = arith.addf %a, %5 : f32
        lift.yield %6 : f32
      }
      %7 = lift.to_local %4 : (tensor<4xf32>) -> tensor<4xf32>
      %8 = lift.size(0) : () -> index
      %9 = lift.at %7, %8 : (tensor<4xf32>, index) -> f32
      %10 = arith.addf %s, %9 : f32
      lift.yield %10 : f32
    }
    lift.yield %3 : f32
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `f = to_private(f)` for one work-item: the result of a pattern is kept in private memory.
//
// That of a reduction may be shared out among those of a group, each of which holds its elements.
// CHECK-LABEL: func.func @to_private(
// CHECK-NEXT: lift.map_glb(0)(
// CHECK-NEXT:   arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   lift.reduce_seq(
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.to_private
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @to_private(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map_glb(0)(%1 in %x) : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?xf32, #lift.sizes<N>> {
    %2 = arith.constant 0.000000e+00 : f32
    %3 = lift.reduce_seq(%a from %2, %b in %1) : (f32, tensor<?xf32, #lift.sizes<M>>) -> f32 {
      %4 = arith.addf %a, %b : f32
      lift.yield %4 : f32
    }
    lift.yield %3 : f32
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `map(f) = as_vector(w) >> map(map_vec(f)) >> as_scalar`, for a function of a number.
// CHECK-LABEL: func.func @vectorize(
// CHECK-NEXT: lift.as_vector(4)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map_vec(
// CHECK-NEXT:     arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.as_scalar
// CHECK-NEXT: func.return
func.func @vectorize(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    lift.yield %2 : f32
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `zip(x, y) >> map(f) = zip(x >> as_vector(w), …) >> map(f of vectors) >> as_scalar`.
// CHECK-LABEL: func.func @vectorize_zip(
// CHECK-NEXT: lift.as_vector(2)
// CHECK-NEXT: lift.as_vector(2)
// CHECK-NEXT: lift.zip
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   lift.get(1)
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.as_scalar
// CHECK-NEXT: func.return
func.func @vectorize_zip(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<N>> {tile.name = "y"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.zip %x, %y : (tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<N>>
  %1 = lift.map(%2 in %0) : (tensor<?xtuple<f32, f32>, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %a = lift.get(0) %2 : (tuple<f32, f32>) -> f32
    %b = lift.get(1) %2 : (tuple<f32, f32>) -> f32
    %3 = arith.addf %a, %b : f32
    lift.yield %3 : f32
  }
  func.return %1 : tensor<?xf32, #lift.sizes<N>>
}

// `map(f) = map(f of vectors) >> as_scalar`, for a function of arrays of numbers.
//
// `x >> transpose >> map(as_vector(w)) >> transpose >> map(f of vectors) >> as_scalar`, for arrays
// with an axis. Each vector has the numbers at the same place of `w` elements, as of windows.
// CHECK-LABEL: func.func @vectorize_arrays(
// CHECK-NEXT: lift.pad(1, 1, clamp)
// CHECK-NEXT: lift.slide(3, 1)
// CHECK-NEXT: lift.zip
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.as_vector(4)
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.get(1)
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.as_vector(4)
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.zip
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   lift.get(1)
// CHECK-NEXT:   lift.size(0) : () -> index
// CHECK-NEXT:   lift.at
// CHECK-NEXT:   lift.size(2) : () -> index
// CHECK-NEXT:   lift.at
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.size(1) : () -> index
// CHECK-NEXT:   lift.at
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   vector.broadcast
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.as_scalar
// CHECK-NEXT: func.return
func.func @vectorize_arrays(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}, %y: tensor<?x2xf32, #lift.sizes<N>> {tile.name = "y"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.pad(1, 1, clamp) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N + 2>>
  %1 = lift.slide(3, 1) %0 : (tensor<?xf32, #lift.sizes<N + 2>>) -> tensor<?x3xf32, #lift.sizes<N>>
  %2 = lift.zip %1, %y : (tensor<?x3xf32, #lift.sizes<N>>, tensor<?x2xf32, #lift.sizes<N>>) -> tensor<?xtuple<tensor<3xf32>, tensor<2xf32>>, #lift.sizes<N>>
  %3 = lift.map(%4 in %2) : (tensor<?xtuple<tensor<3xf32>, tensor<2xf32>>, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %a = lift.get(0) %4 : (tuple<tensor<3xf32>, tensor<2xf32>>) -> tensor<3xf32>
    %b = lift.get(1) %4 : (tuple<tensor<3xf32>, tensor<2xf32>>) -> tensor<2xf32>
    %5 = lift.size(0) : () -> index
    %6 = lift.at %a, %5 : (tensor<3xf32>, index) -> f32
    %7 = lift.size(2) : () -> index
    %8 = lift.at %a, %7 : (tensor<3xf32>, index) -> f32
    %9 = arith.addf %6, %8 : f32
    %10 = lift.size(1) : () -> index
    %11 = lift.at %b, %10 : (tensor<2xf32>, index) -> f32
    %12 = arith.constant 1.000000e+00 : f32
    %13 = arith.addf %11, %12 : f32
    %14 = arith.addf %9, %13 : f32
    lift.yield %14 : f32
  }
  func.return %3 : tensor<?xf32, #lift.sizes<N>>
}

// `map(map_vec(f)) = map(f of vectors)`, where the ops of `f` are done to whole vectors.
// CHECK-LABEL: func.func @vectorize_function(
// CHECK-NEXT: lift.as_vector(4)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   vector.broadcast
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.as_scalar
// CHECK-NEXT: func.return
func.func @vectorize_function(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.as_vector(4) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xvector<4xf32>, #lift.sizes<N / 4>>
  %1 = lift.map(%2 in %0) : (tensor<?xvector<4xf32>, #lift.sizes<N / 4>>) -> tensor<?xvector<4xf32>, #lift.sizes<N / 4>> {
    %3 = lift.map_vec(%a in %2) : (vector<4xf32>) -> vector<4xf32> {
      %4 = arith.constant 1.000000e+00 : f32
      %5 = arith.addf %a, %4 : f32
      lift.yield %5 : f32
    }
    lift.yield %3 : vector<4xf32>
  }
  %6 = lift.as_scalar %1 : (tensor<?xvector<4xf32>, #lift.sizes<N / 4>>) -> tensor<?xf32, #lift.sizes<N>>
  func.return %6 : tensor<?xf32, #lift.sizes<N>>
}

// `reduce(f, e)` as one of vectors of `w`, and one of the numbers in its result.
//
// `as_vector(w) >> split(n / w) >> map(reduce(f of vectors)) >> as_scalar >> reduce(f, e)`; `w`
// divides the size `n`, and `f` is commutative.
// CHECK-LABEL: func.func @vectorize_reduce(
// CHECK-NEXT: arith.constant 0.000000e+00 : f32
// CHECK-NEXT: lift.as_vector(4)
// CHECK-NEXT: lift.split(N / 4)
// CHECK-NEXT: vector.broadcast
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.reduce(
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.as_scalar
// CHECK-NEXT: lift.reduce(
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: tensor.from_elements
// CHECK-NEXT: func.return
func.func @vectorize_reduce(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<f32> {tile.name = "out"}) {
  %0 = arith.constant 0.000000e+00 : f32
  %1 = lift.reduce(%a from %0, %b in %x) : (f32, tensor<?xf32, #lift.sizes<N>>) -> f32 {
    %2 = arith.addf %a, %b : f32
    lift.yield %2 : f32
  }
  %3 = tensor.from_elements %1 : tensor<f32>
  func.return %3 : tensor<f32>
}

// `zip(x, y) >> map(a * b of vectors) >> as_scalar >> reduce(g, e)` by products of vectors.
//
// It is `zip(x, y) >> map((a, b) ⇒ dot(a, b)) >> reduce(g, e)`, for a `g` that adds.
// CHECK-LABEL: func.func @dot(
// CHECK-NEXT: lift.as_vector(4)
// CHECK-NEXT: lift.as_vector(4)
// CHECK-NEXT: arith.constant 0.000000e+00 : f32
// CHECK-NEXT: arith.constant 0 : i32
// CHECK-NEXT: arith.sitofp
// CHECK-NEXT: lift.as_scalar
// CHECK-NEXT: lift.split(4)
// CHECK-NEXT: lift.as_scalar
// CHECK-NEXT: lift.split(4)
// CHECK-NEXT: lift.zip
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   lift.get(1)
// CHECK-NEXT:   lift.zip
// CHECK-NEXT:   lift.reduce_seq_unroll(
// CHECK-NEXT:     lift.get(0)
// CHECK-NEXT:     lift.get(1)
// CHECK-NEXT:     arith.mulf
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.reduce(
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: tensor.from_elements
// CHECK-NEXT: func.return
func.func @dot(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<N>> {tile.name = "y"}) -> (tensor<f32> {tile.name = "out"}) {
  %0 = lift.as_vector(4) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xvector<4xf32>, #lift.sizes<N / 4>>
  %1 = lift.as_vector(4) %y : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xvector<4xf32>, #lift.sizes<N / 4>>
  %2 = lift.zip %0, %1 : (tensor<?xvector<4xf32>, #lift.sizes<N / 4>>, tensor<?xvector<4xf32>, #lift.sizes<N / 4>>) -> tensor<?xtuple<vector<4xf32>, vector<4xf32>>, #lift.sizes<N / 4>>
  %3 = lift.map(%4 in %2) : (tensor<?xtuple<vector<4xf32>, vector<4xf32>>, #lift.sizes<N / 4>>) -> tensor<?xvector<4xf32>, #lift.sizes<N / 4>> {
    %a = lift.get(0) %4 : (tuple<vector<4xf32>, vector<4xf32>>) -> vector<4xf32>
    %b = lift.get(1) %4 : (tuple<vector<4xf32>, vector<4xf32>>) -> vector<4xf32>
    %5 = arith.mulf %a, %b : vector<4xf32>
    lift.yield %5 : vector<4xf32>
  }
  %6 = lift.as_scalar %3 : (tensor<?xvector<4xf32>, #lift.sizes<N / 4>>) -> tensor<?xf32, #lift.sizes<N>>
  %7 = arith.constant 0.000000e+00 : f32
  %8 = lift.reduce(%a_1 from %7, %b_1 in %6) : (f32, tensor<?xf32, #lift.sizes<N>>) -> f32 {
    %9 = arith.addf %a_1, %b_1 : f32
    lift.yield %9 : f32
  }
  %10 = tensor.from_elements %8 : tensor<f32>
  func.return %10 : tensor<f32>
}

// `reduce((s, y) ⇒ zip(s >> as_vector(w), y) >> map(f) >> as_scalar, e)`, all in vectors.
//
// It is `reduce((s, y) ⇒ zip(s, y) >> map(f), e >> as_vector(w)) >> as_scalar`.
// CHECK-LABEL: func.func @vectors_past_reduce(
// CHECK-NEXT: lift.as_vector(2)
// CHECK-NEXT: lift.reduce_seq(
// CHECK-NEXT:   lift.as_vector(2)
// CHECK-NEXT:   lift.zip
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.get(0)
// CHECK-NEXT:     lift.get(1)
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.as_scalar
// CHECK-NEXT: func.return
func.func @vectors_past_reduce(%x: tensor<?x4xf32, #lift.sizes<N>> {tile.name = "x"}, %y: tensor<4xf32> {tile.name = "y"}) -> (tensor<4xf32> {tile.name = "out"}) {
  %0 = lift.reduce(%s from %y, %a in %x) : (tensor<4xf32>, tensor<?x4xf32, #lift.sizes<N>>) -> tensor<4xf32> {
    %1 = lift.as_vector(2) %s : (tensor<4xf32>) -> tensor<2xvector<2xf32>>
    %2 = lift.as_vector(2) %a : (tensor<4xf32>) -> tensor<2xvector<2xf32>>
    %3 = lift.zip %1, %2 : (tensor<2xvector<2xf32>>, tensor<2xvector<2xf32>>) -> tensor<2xtuple<vector<2xf32>, vector<2xf32>>>
    %4 = lift.map(%5 in %3) : (tensor<2xtuple<vector<2xf32>, vector<2xf32>>>) -> tensor<2xvector<2xf32>> {
      %a_1 = lift.get(0) %5 : (tuple<vector<2xf32>, vector<2xf32>>) -> vector<2xf32>
      %b = lift.get(1) %5 : (tuple<vector<2xf32>, vector<2xf32>>) -> vector<2xf32>
      %6 = arith.addf %a_1, %b : vector<2xf32>
      lift.yield %6 : vector<2xf32>
    }
    %7 = lift.as_scalar %4 : (tensor<2xvector<2xf32>>) -> tensor<4xf32>
    lift.yield %7 : tensor<4xf32>
  }
  func.return %0 : tensor<4xf32>
}
