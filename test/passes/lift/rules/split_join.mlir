// Written by generate.py, which stands beside this file.
// RUN: tile-opt %s -p 'lift-rewrite{function=split_join rule=split_join sizes="n=4"},lift-rewrite{function=map_ends rule=map_ends sizes="n=1"},lift-rewrite{function=split_join_map_seq rule=split_join_map_seq sizes="n=4"},lift-rewrite{function=join_split rule=join_split},lift-rewrite{function=split_join_both rule=split_join_both sizes="m=4","n=2"},lift-rewrite{function=tile_transpose rule=tile_transpose sizes="m=2","n=4"},lift-rewrite{function=partial_reduce rule=partial_reduce sizes="n=4"},lift-rewrite{function=reduce_seq_in_parts rule=reduce_seq_in_parts sizes="n=4"},lift-rewrite{function=partial_reduce_strided rule=partial_reduce_strided sizes="n=4"},lift-rewrite{function=reduce_reorder rule=reduce_reorder sizes="s=4"},lift-rewrite{function=reorder_terms rule=reorder_terms sizes="k=4"},lift-rewrite{function=join_of_split rule=join_of_split}' | filecheck %s

// `map(f) = split(n) >> map(map(f)) >> join`, where `n` divides the size of the array.
// CHECK-LABEL: func.func @split_join(
// CHECK-NEXT: lift.split(4)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.join
// CHECK-NEXT: func.return
func.func @split_join(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    lift.yield %2 : f32
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `map(f)` as one of the first `n` elements, one of the last `n`, and one of those between.
//
// `concat(slice(0, n) >> map(f), slice(n, size - n) >> map(f), slice(size - n, size) >> map(f))`
// CHECK-LABEL: func.func @map_ends(
// CHECK-NEXT: lift.slice(0, 1)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.slice(1, N - 1)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.slice(N - 1, N)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.concat
// CHECK-NEXT: func.return
func.func @map_ends(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    lift.yield %2 : f32
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `map_seq(f) = split(n) >> map(map_seq(f)) >> join`, where `n` divides the size.
// CHECK-LABEL: func.func @split_join_map_seq(
// CHECK-NEXT: lift.split(4)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map_seq(
// CHECK-NEXT:     arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.join
// CHECK-NEXT: func.return
func.func @split_join_map_seq(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map_seq(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    lift.yield %2 : f32
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `map(map(f)) = join >> map(f) >> split(m)`, for an array of arrays of size `m`.
// CHECK-LABEL: func.func @join_split(
// CHECK-NEXT: lift.join
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.split(M)
// CHECK-NEXT: func.return
func.func @join_split(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
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

// `map(map(f))` in tiles of `m` x `n`; `m` and `n` divide the sizes.
//
// `map(map(f)) = tile(m, n) >> map(map(map(map(f)))) >> untile`
// CHECK-LABEL: func.func @split_join_both(
// CHECK-NEXT: lift.split(4)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.split(2)
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.transpose
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       lift.map(
// CHECK-NEXT:         arith.constant 1.000000e+00 : f32
// CHECK-NEXT:         arith.addf
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.transpose
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.join
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.join
// CHECK-NEXT: func.return
func.func @split_join_both(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
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

// `transpose >> map(map(f))` in tiles of `m` x `n`, each transposed by itself.
//
// `transpose >> map2(f) = tile(m, n) >> transpose >> map2(transpose >> map2(f)) >> untile`
// CHECK-LABEL: func.func @tile_transpose(
// CHECK-NEXT: lift.split(2)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.split(4)
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.transpose
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.transpose
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       lift.map(
// CHECK-NEXT:         arith.constant 1.000000e+00 : f32
// CHECK-NEXT:         arith.addf
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.transpose
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.join
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.join
// CHECK-NEXT: func.return
func.func @tile_transpose(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?xf32, #lift.sizes<M, N>> {tile.name = "out"}) {
  %0 = lift.transpose %x : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<M, N>>
  %1 = lift.map(%2 in %0) : (tensor<?x?xf32, #lift.sizes<M, N>>) -> tensor<?x?xf32, #lift.sizes<M, N>> {
    %3 = lift.map(%a in %2) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
      %4 = arith.constant 1.000000e+00 : f32
      %5 = arith.addf %a, %4 : f32
      lift.yield %5 : f32
    }
    lift.yield %3 : tensor<?xf32, #lift.sizes<N>>
  }
  func.return %1 : tensor<?x?xf32, #lift.sizes<M, N>>
}

// `reduce(f, e) = split(n) >> map(reduce(f, e)) >> reduce(f, e)`; `n` divides the size.
// CHECK-LABEL: func.func @partial_reduce(
// CHECK-NEXT: arith.constant 0.000000e+00 : f32
// CHECK-NEXT: lift.split(4)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.reduce(
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
func.func @partial_reduce(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<f32> {tile.name = "out"}) {
  %0 = arith.constant 0.000000e+00 : f32
  %1 = lift.reduce(%a from %0, %b in %x) : (f32, tensor<?xf32, #lift.sizes<N>>) -> f32 {
    %2 = arith.addf %a, %b : f32
    lift.yield %2 : f32
  }
  %3 = tensor.from_elements %1 : tensor<f32>
  func.return %3 : tensor<f32>
}

// `reduce_seq(f, e) = split(n) >> reduce_seq((a, part) ⇒ part >> reduce_seq(f, a), e)`.
// CHECK-LABEL: func.func @reduce_seq_in_parts(
// CHECK-NEXT: arith.constant 0.000000e+00 : f32
// CHECK-NEXT: lift.split(4)
// CHECK-NEXT: lift.reduce_seq(
// CHECK-NEXT:   lift.reduce_seq(
// CHECK-NEXT:     arith.subf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: tensor.from_elements
// CHECK-NEXT: func.return
func.func @reduce_seq_in_parts(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<f32> {tile.name = "out"}) {
  %0 = arith.constant 0.000000e+00 : f32
  %1 = lift.reduce_seq(%s from %0, %a in %x) : (f32, tensor<?xf32, #lift.sizes<N>>) -> f32 {
    %2 = arith.subf %a, %s : f32
    lift.yield %2 : f32
  }
  %3 = tensor.from_elements %1 : tensor<f32>
  func.return %3 : tensor<f32>
}

// `reduce(f, e) = split(n) >> transpose >> map(reduce(f, e)) >> reduce(f, e)`.
//
// Each part takes every `n`-th element: `n` divides the size, and `f` is commutative.
// CHECK-LABEL: func.func @partial_reduce_strided(
// CHECK-NEXT: arith.constant 0.000000e+00 : f32
// CHECK-NEXT: lift.split(4)
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.reduce(
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
func.func @partial_reduce_strided(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<f32> {tile.name = "out"}) {
  %0 = arith.constant 0.000000e+00 : f32
  %1 = lift.reduce(%a from %0, %b in %x) : (f32, tensor<?xf32, #lift.sizes<N>>) -> f32 {
    %2 = arith.addf %a, %b : f32
    lift.yield %2 : f32
  }
  %3 = tensor.from_elements %1 : tensor<f32>
  func.return %3 : tensor<f32>
}

// `reduce(f, e) = gather(reorder_stride(s)) >> reduce(f, e)`, for a commutative `f`.
// CHECK-LABEL: func.func @reduce_reorder(
// CHECK-NEXT: arith.constant 0.000000e+00 : f32
// CHECK-NEXT: lift.gather(i -> 4*(i mod ((4*N) floordiv 4)) + (i floordiv ((4*N) floordiv 4)))
// CHECK-NEXT: lift.reduce(
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: tensor.from_elements
// CHECK-NEXT: func.return
func.func @reduce_reorder(%x: tensor<?xf32, #lift.sizes<4*N>> {tile.name = "x"}) -> (tensor<f32> {tile.name = "out"}) {
  %0 = arith.constant 0.000000e+00 : f32
  %1 = lift.reduce(%a from %0, %b in %x) : (f32, tensor<?xf32, #lift.sizes<4*N>>) -> f32 {
    %2 = arith.addf %a, %b : f32
    lift.yield %2 : f32
  }
  %3 = tensor.from_elements %1 : tensor<f32>
  func.return %3 : tensor<f32>
}

// `zip(x, y) >> map(g) >> reduce(f, e)` with the terms in another order, of arrays of size `n`.
//
// Every `n / k`-th term comes next: `zip(x, y)` becomes `zip(r(x), r(y))` where `r` is
// `split(n / k) >> transpose >> join`. `k` divides `n`, and `f` is commutative.
// CHECK-LABEL: func.func @reorder_terms(
// CHECK-NEXT: arith.constant 0.000000e+00 : f32
// CHECK-NEXT: lift.split(N / 4)
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.join
// CHECK-NEXT: lift.split(N / 4)
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.join
// CHECK-NEXT: lift.zip
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   lift.get(1)
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.reduce(
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: tensor.from_elements
// CHECK-NEXT: func.return
func.func @reorder_terms(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<N>> {tile.name = "y"}) -> (tensor<f32> {tile.name = "out"}) {
  %0 = lift.zip %x, %y : (tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<N>>
  %1 = lift.map(%2 in %0) : (tensor<?xtuple<f32, f32>, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %a = lift.get(0) %2 : (tuple<f32, f32>) -> f32
    %b = lift.get(1) %2 : (tuple<f32, f32>) -> f32
    %3 = arith.addf %a, %b : f32
    lift.yield %3 : f32
  }
  %4 = arith.constant 0.000000e+00 : f32
  %5 = lift.reduce(%a_1 from %4, %b_1 in %1) : (f32, tensor<?xf32, #lift.sizes<N>>) -> f32 {
    %6 = arith.addf %a_1, %b_1 : f32
    lift.yield %6 : f32
  }
  %7 = tensor.from_elements %5 : tensor<f32>
  func.return %7 : tensor<f32>
}

// `split(n) >> map(map(f)) >> join = map(f)`, for maps that say nothing of by whom.
// CHECK-LABEL: func.func @join_of_split(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @join_of_split(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.split(2) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x2xf32, #lift.sizes<N / 2>>
  %1 = lift.map(%2 in %0) : (tensor<?x2xf32, #lift.sizes<N / 2>>) -> tensor<?x2xf32, #lift.sizes<N / 2>> {
    %3 = lift.map(%a in %2) : (tensor<2xf32>) -> tensor<2xf32> {
      %4 = arith.constant 1.000000e+00 : f32
      %5 = arith.addf %a, %4 : f32
      lift.yield %5 : f32
    }
    lift.yield %3 : tensor<2xf32>
  }
  %6 = lift.join %1 : (tensor<?x2xf32, #lift.sizes<N / 2>>) -> tensor<?xf32, #lift.sizes<N>>
  func.return %6 : tensor<?xf32, #lift.sizes<N>>
}
