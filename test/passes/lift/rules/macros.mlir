// Written by generate.py, which stands beside this file.
// RUN: tile-opt %s -p 'lift-rewrite{function=simplify rule=simplify},lift-rewrite{function=fuse rule=fuse},lift-rewrite{function=fuse_parts rule=fuse_parts},lift-rewrite{function=tile_stencil rule=tile_stencil sizes="v=4"},lift-rewrite{function=reshape_maps rule=reshape_maps sizes="n=2"},lift-rewrite{function=block_rows rule=block_rows sizes="n=2"},lift-rewrite{function=reuse_from_map rule=reuse_from_map sizes="n=2"},lift-rewrite{function=tile_maps rule=tile_maps sizes="m=4","n=2"},lift-rewrite{function=move_reduce_out rule=move_reduce_out},lift-rewrite{function=interchange rule=interchange},lift-rewrite{function=reduce_outermost rule=reduce_outermost},lift-rewrite{function=register_block_1d rule=register_block_1d sizes="n=2"},lift-rewrite{function=register_block_2d rule=register_block_2d sizes="m=4","n=2"},lift-rewrite{function=reuse_block_2d rule=reuse_block_2d sizes="m=4","n=2"},lift-rewrite{function=reduce_zip_in_parts rule=reduce_zip_in_parts sizes="k=4"},lift-rewrite{function=finish_tiling rule=finish_tiling sizes="k=2"},lift-rewrite{function=tile_matrix_product rule=tile_matrix_product sizes="m=4","n=2","k=2"},lift-rewrite{function=hold_blocks_2d rule=hold_blocks_2d sizes="m=4","n=2","p=2","q=1","k=2"},lift-rewrite{function=block_sums_2d rule=block_sums_2d sizes="m=4","n=2","k=2"},lift-rewrite{function=block_strided_sums_2d rule=block_strided_sums_2d sizes="m=4","n=2","k=2"},lift-rewrite{function=block_stencil_2d rule=block_stencil_2d sizes="v=4","m=2","n=4","k=3"},lift-rewrite{function=block_sums_1d rule=block_sums_1d sizes="n=2"},lift-rewrite{function=reduce_in_parts rule=reduce_in_parts sizes="n=4"}' | filecheck %s

// Cancel identities everywhere.
// CHECK-LABEL: func.func @simplify(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @simplify(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<N>> {tile.name = "y"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.transpose %x : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<M, N>>
  %1 = lift.transpose %0 : (tensor<?x?xf32, #lift.sizes<M, N>>) -> tensor<?x?xf32, #lift.sizes<N, M>>
  %2 = lift.map(%a in %1) : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    lift.yield %a : tensor<?xf32, #lift.sizes<M>>
  }
  %3 = lift.zip %2, %y : (tensor<?x?xf32, #lift.sizes<N, M>>, tensor<?xf32, #lift.sizes<N>>) -> tensor<?xtuple<tensor<?xf32, #lift.sizes<M>>, f32>, #lift.sizes<N>>
  %4 = lift.map(%5 in %3) : (tensor<?xtuple<tensor<?xf32, #lift.sizes<M>>, f32>, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %a_1 = lift.get(0) %5 : (tuple<tensor<?xf32, #lift.sizes<M>>, f32>) -> tensor<?xf32, #lift.sizes<M>>
    %b = lift.get(1) %5 : (tuple<tensor<?xf32, #lift.sizes<M>>, f32>) -> f32
    %6 = arith.constant 1.000000e+00 : f32
    %7 = arith.addf %b, %6 : f32
    lift.yield %7 : f32
  }
  func.return %4 : tensor<?xf32, #lift.sizes<N>>
}

// Fuse maps and reductions everywhere.
// CHECK-LABEL: func.func @fuse(
// CHECK-NEXT: lift.zip
// CHECK-NEXT: arith.constant 0.000000e+00 : f32
// CHECK-NEXT: lift.reduce_seq(
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   lift.get(1)
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: tensor.from_elements
// CHECK-NEXT: func.return
func.func @fuse(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<N>> {tile.name = "y"}) -> (tensor<f32> {tile.name = "out"}) {
  %0 = lift.zip %x, %y : (tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<N>>
  %1 = lift.map(%2 in %0) : (tensor<?xtuple<f32, f32>, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %a = lift.get(0) %2 : (tuple<f32, f32>) -> f32
    %b = lift.get(1) %2 : (tuple<f32, f32>) -> f32
    %3 = arith.addf %a, %b : f32
    lift.yield %3 : f32
  }
  %4 = lift.map(%a_1 in %1) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %5 = arith.constant 1.000000e+00 : f32
    %6 = arith.addf %a_1, %5 : f32
    lift.yield %6 : f32
  }
  %7 = arith.constant 0.000000e+00 : f32
  %8 = lift.reduce(%a_2 from %7, %b_1 in %4) : (f32, tensor<?xf32, #lift.sizes<N>>) -> f32 {
    %9 = arith.addf %a_2, %b_1 : f32
    lift.yield %9 : f32
  }
  %10 = tensor.from_elements %8 : tensor<f32>
  func.return %10 : tensor<f32>
}

// Fuse maps and reductions everywhere, but for a reduction of others' results.
//
// `map(reduce(f, e)) >> reduce(f, e)` stays, so that several work-items can do the map. A map
// before a split goes into the parts.
// CHECK-LABEL: func.func @fuse_parts(
// CHECK-NEXT: lift.split(4)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   lift.reduce_seq(
// CHECK-NEXT:     arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: arith.constant 0.000000e+00 : f32
// CHECK-NEXT: lift.reduce(
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: tensor.from_elements
// CHECK-NEXT: func.return
func.func @fuse_parts(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<f32> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    lift.yield %2 : f32
  }
  %3 = lift.split(4) %0 : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x4xf32, #lift.sizes<N / 4>>
  %4 = lift.map(%5 in %3) : (tensor<?x4xf32, #lift.sizes<N / 4>>) -> tensor<?xf32, #lift.sizes<N / 4>> {
    %6 = arith.constant 0.000000e+00 : f32
    %7 = lift.reduce(%a_1 from %6, %b in %5) : (f32, tensor<4xf32>) -> f32 {
      %8 = arith.addf %a_1, %b : f32
      lift.yield %8 : f32
    }
    lift.yield %7 : f32
  }
  %9 = arith.constant 0.000000e+00 : f32
  %10 = lift.reduce(%a_2 from %9, %b_1 in %4) : (f32, tensor<?xf32, #lift.sizes<N / 4>>) -> f32 {
    %11 = arith.addf %a_2, %b_1 : f32
    lift.yield %11 : f32
  }
  %12 = tensor.from_elements %10 : tensor<f32>
  func.return %12 : tensor<f32>
}

// `slide(n, s) >> map(f) = slide(u, v) >> map(slide(n, s) >> map(f)) >> join`.
//
// `u - v == n - s`; by `slide_tiling`, `join_past_map` and `map_fusion`.
// CHECK-LABEL: func.func @tile_stencil(
// CHECK-NEXT: lift.pad(1, 1, clamp)
// CHECK-NEXT: lift.slide(6, 4)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.slide(3, 1)
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     lift.reduce(
// CHECK-NEXT:       arith.addf
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.join
// CHECK-NEXT: func.return
func.func @tile_stencil(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.pad(1, 1, clamp) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N + 2>>
  %1 = lift.slide(3, 1) %0 : (tensor<?xf32, #lift.sizes<N + 2>>) -> tensor<?x3xf32, #lift.sizes<N>>
  %2 = lift.map(%3 in %1) : (tensor<?x3xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %4 = arith.constant 0.000000e+00 : f32
    %5 = lift.reduce(%a from %4, %b in %3) : (f32, tensor<3xf32>) -> f32 {
      %6 = arith.addf %a, %b : f32
      lift.yield %6 : f32
    }
    lift.yield %5 : f32
  }
  func.return %2 : tensor<?xf32, #lift.sizes<N>>
}

// `map(map(f)) = join >> split(n) >> map(map(f)) >> join >> split(m)`, for arrays of size `m`.
//
// By `join_split` and `split_join`; `n` divides the number of all elements.
// CHECK-LABEL: func.func @reshape_maps(
// CHECK-NEXT: lift.join
// CHECK-NEXT: lift.split(2)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.join
// CHECK-NEXT: lift.split(M)
// CHECK-NEXT: func.return
func.func @reshape_maps(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
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

// `map(map(f)) = split(n) >> map(transpose >> map(map(f)) >> transpose) >> join`.
//
// Of `n` rows at a time, which divides the size, the elements of a column come together, as for a
// work-item: windows of theirs share elements. By `split_join` and the exchange of the maps.
// CHECK-LABEL: func.func @block_rows(
// CHECK-NEXT: lift.split(2)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       arith.constant 1.000000e+00 : f32
// CHECK-NEXT:       arith.addf
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.join
// CHECK-NEXT: func.return
func.func @block_rows(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
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

// `x >> map(a ⇒ y >> map(b ⇒ f(a, b)))`: `n` elements of `y` serve all of `x` at a time.
//
// It is `y >> split(n) >> map(bs ⇒ x >> map(a ⇒ bs >> map(b ⇒ f(a, b))))`, then transposed and
// joined; by `split_join`, `map_fission` and `map_map_interchange`.
// CHECK-LABEL: func.func @reuse_from_map(
// CHECK-NEXT: lift.split(2)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       lift.size(0) : () -> index
// CHECK-NEXT:       lift.at
// CHECK-NEXT:       arith.mulf
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.join
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @reuse_from_map(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}, %y: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "y"}) -> (tensor<?x?xf32, #lift.sizes<N, N>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x?xf32, #lift.sizes<N, N>> {
    %1 = lift.map(%b in %y) : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?xf32, #lift.sizes<N>> {
      %2 = lift.size(0) : () -> index
      %3 = lift.at %b, %2 : (tensor<?xf32, #lift.sizes<M>>, index) -> f32
      %4 = arith.mulf %3, %a : f32
      lift.yield %4 : f32
    }
    lift.yield %1 : tensor<?xf32, #lift.sizes<N>>
  }
  func.return %0 : tensor<?x?xf32, #lift.sizes<N, N>>
}

// `x >> map(a ⇒ y >> map(b ⇒ f(a, b)))` in tiles of `m` x `n`, which divide the sizes.
//
// It is `split(m) >> map(as ⇒ y >> split(n) >> map(bs ⇒ as >> map(a ⇒ bs >> map(b ⇒ f(a, b)))))`,
// then joined; by `split_join`, `map_fission` and `map_map_interchange`.
// CHECK-LABEL: func.func @tile_maps(
// CHECK-NEXT: lift.split(4)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.split(2)
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       lift.map(
// CHECK-NEXT:         arith.addf
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.join
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.join
// CHECK-NEXT: func.return
func.func @tile_maps(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<M>> {tile.name = "y"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %1 = lift.map(%b in %y) : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %2 = arith.addf %a, %b : f32
      lift.yield %2 : f32
    }
    lift.yield %1 : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %0 : tensor<?x?xf32, #lift.sizes<N, M>>
}

// `map(g >> reduce(f, e))` as a map of `g` and a reduction of arrays.
//
// By `map_fission` and `map_reduce_interchange`, or by the latter alone.
// CHECK-LABEL: func.func @move_reduce_out(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.gather(i -> M - i - 1)
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.generate(
// CHECK-NEXT:   arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.reduce(
// CHECK-NEXT:   lift.zip
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.get(0)
// CHECK-NEXT:     lift.get(1)
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @move_reduce_out(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = lift.gather(i -> M - i - 1) %a : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>>
    %2 = arith.constant 0.000000e+00 : f32
    %3 = lift.reduce(%a_1 from %2, %b in %1) : (f32, tensor<?xf32, #lift.sizes<M>>) -> f32 {
      %4 = arith.addf %a_1, %b : f32
      lift.yield %4 : f32
    }
    lift.yield %3 : f32
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// A map and the map or reduction that its function ends with, exchanged.
// CHECK-LABEL: func.func @interchange(
// CHECK-NEXT: lift.generate(
// CHECK-NEXT:   arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.reduce(
// CHECK-NEXT:   lift.zip
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.get(0)
// CHECK-NEXT:     lift.get(1)
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @interchange(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map(%1 in %x) : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?xf32, #lift.sizes<N>> {
    %2 = arith.constant 0.000000e+00 : f32
    %3 = lift.reduce(%a from %2, %b in %1) : (f32, tensor<?xf32, #lift.sizes<M>>) -> f32 {
      %4 = arith.addf %a, %b : f32
      lift.yield %4 : f32
    }
    lift.yield %3 : f32
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `map(a ⇒ y >> map(b ⇒ zip(a, b) >> reduce(f, e)))` as a reduction of matrices.
//
// Each step adds the products of one column of both to all elements: register blocking in two
// dimensions, where the matrix is private. By `map_zip_reduce_interchange`, twice.
// CHECK-LABEL: func.func @reduce_outermost(
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.generate(
// CHECK-NEXT:   lift.generate(
// CHECK-NEXT:     arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.zip
// CHECK-NEXT: lift.reduce_seq(
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   lift.zip
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.get(0)
// CHECK-NEXT:     lift.get(1)
// CHECK-NEXT:     lift.get(1)
// CHECK-NEXT:     lift.zip
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       lift.get(0)
// CHECK-NEXT:       lift.get(1)
// CHECK-NEXT:       arith.mulf
// CHECK-NEXT:       arith.addf
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @reduce_outermost(%x: tensor<?x?xf32, #lift.sizes<N, K>> {tile.name = "x"}, %y: tensor<?x?xf32, #lift.sizes<M, K>> {tile.name = "y"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?x?xf32, #lift.sizes<N, K>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %1 = lift.map(%b in %y) : (tensor<?x?xf32, #lift.sizes<M, K>>) -> tensor<?xf32, #lift.sizes<M>> {
      %2 = lift.zip %a, %b : (tensor<?xf32, #lift.sizes<K>>, tensor<?xf32, #lift.sizes<K>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<K>>
      %3 = arith.constant 0.000000e+00 : f32
      %4 = lift.reduce_seq(%s from %3, %t in %2) : (f32, tensor<?xtuple<f32, f32>, #lift.sizes<K>>) -> f32 {
        %5 = lift.get(0) %t : (tuple<f32, f32>) -> f32
        %6 = lift.get(1) %t : (tuple<f32, f32>) -> f32
        %7 = arith.mulf %5, %6 : f32
        %8 = arith.addf %s, %7 : f32
        lift.yield %8 : f32
      }
      lift.yield %4 : f32
    }
    lift.yield %1 : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %0 : tensor<?x?xf32, #lift.sizes<N, M>>
}

// `map(a ⇒ y >> map(b ⇒ zip(a, b) >> reduce(f, e)))`, `n` elements to a work-item.
//
// By `split_join`, `map_map_interchange` and `map_zip_reduce_interchange`; `n` divides the size.
// CHECK-LABEL: func.func @register_block_1d(
// CHECK-NEXT: lift.split(2)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.transpose
// CHECK-NEXT:     lift.generate(
// CHECK-NEXT:       arith.constant 0.000000e+00 : f32
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.zip
// CHECK-NEXT:     lift.reduce_seq(
// CHECK-NEXT:       lift.get(0)
// CHECK-NEXT:       lift.zip
// CHECK-NEXT:       lift.map(
// CHECK-NEXT:         lift.get(0)
// CHECK-NEXT:         lift.get(1)
// CHECK-NEXT:         lift.get(1)
// CHECK-NEXT:         arith.mulf
// CHECK-NEXT:         arith.addf
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.join
// CHECK-NEXT: func.return
func.func @register_block_1d(%x: tensor<?x?xf32, #lift.sizes<N, K>> {tile.name = "x"}, %y: tensor<?x?xf32, #lift.sizes<M, K>> {tile.name = "y"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?x?xf32, #lift.sizes<N, K>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %1 = lift.map(%b in %y) : (tensor<?x?xf32, #lift.sizes<M, K>>) -> tensor<?xf32, #lift.sizes<M>> {
      %2 = lift.zip %a, %b : (tensor<?xf32, #lift.sizes<K>>, tensor<?xf32, #lift.sizes<K>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<K>>
      %3 = arith.constant 0.000000e+00 : f32
      %4 = lift.reduce_seq(%s from %3, %t in %2) : (f32, tensor<?xtuple<f32, f32>, #lift.sizes<K>>) -> f32 {
        %5 = lift.get(0) %t : (tuple<f32, f32>) -> f32
        %6 = lift.get(1) %t : (tuple<f32, f32>) -> f32
        %7 = arith.mulf %5, %6 : f32
        %8 = arith.addf %s, %7 : f32
        lift.yield %8 : f32
      }
      lift.yield %4 : f32
    }
    lift.yield %1 : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %0 : tensor<?x?xf32, #lift.sizes<N, M>>
}

// `map(a ⇒ y >> map(b ⇒ zip(a, b) >> reduce(f, e)))`, `m` x `n` elements to a work-item.
//
// By `tile_maps` and `reduce_outermost`; `m` and `n` divide the sizes.
// CHECK-LABEL: func.func @register_block_2d(
// CHECK-NEXT: lift.split(4)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.split(2)
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.transpose
// CHECK-NEXT:     lift.transpose
// CHECK-NEXT:     lift.generate(
// CHECK-NEXT:       lift.generate(
// CHECK-NEXT:         arith.constant 0.000000e+00 : f32
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.zip
// CHECK-NEXT:     lift.reduce_seq(
// CHECK-NEXT:       lift.get(0)
// CHECK-NEXT:       lift.zip
// CHECK-NEXT:       lift.map(
// CHECK-NEXT:         lift.get(0)
// CHECK-NEXT:         lift.get(1)
// CHECK-NEXT:         lift.get(1)
// CHECK-NEXT:         lift.zip
// CHECK-NEXT:         lift.map(
// CHECK-NEXT:           lift.get(0)
// CHECK-NEXT:           lift.get(1)
// CHECK-NEXT:           arith.mulf
// CHECK-NEXT:           arith.addf
// CHECK-NEXT:           lift.yield
// CHECK-NEXT:         }
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.join
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.join
// CHECK-NEXT: func.return
func.func @register_block_2d(%x: tensor<?x?xf32, #lift.sizes<N, K>> {tile.name = "x"}, %y: tensor<?x?xf32, #lift.sizes<M, K>> {tile.name = "y"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?x?xf32, #lift.sizes<N, K>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %1 = lift.map(%b in %y) : (tensor<?x?xf32, #lift.sizes<M, K>>) -> tensor<?xf32, #lift.sizes<M>> {
      %2 = lift.zip %a, %b : (tensor<?xf32, #lift.sizes<K>>, tensor<?xf32, #lift.sizes<K>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<K>>
      %3 = arith.constant 0.000000e+00 : f32
      %4 = lift.reduce_seq(%s from %3, %t in %2) : (f32, tensor<?xtuple<f32, f32>, #lift.sizes<K>>) -> f32 {
        %5 = lift.get(0) %t : (tuple<f32, f32>) -> f32
        %6 = lift.get(1) %t : (tuple<f32, f32>) -> f32
        %7 = arith.mulf %5, %6 : f32
        %8 = arith.addf %s, %7 : f32
        lift.yield %8 : f32
      }
      lift.yield %4 : f32
    }
    lift.yield %1 : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %0 : tensor<?x?xf32, #lift.sizes<N, M>>
}

// `x >> map(a ⇒ y >> map(b ⇒ zip(a, b) >> reduce(f, e)))` in panels of `n` elements of `y`.
//
// A panel serves all of `x`, in blocks of `m` x `n` elements to a work-item. By `reuse_from_map`,
// `split_join` and `reduce_outermost`; `m` and `n` divide the sizes.
// CHECK-LABEL: func.func @reuse_block_2d(
// CHECK-NEXT: lift.split(2)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.split(4)
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.transpose
// CHECK-NEXT:     lift.transpose
// CHECK-NEXT:     lift.generate(
// CHECK-NEXT:       lift.generate(
// CHECK-NEXT:         arith.constant 0.000000e+00 : f32
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.zip
// CHECK-NEXT:     lift.reduce_seq(
// CHECK-NEXT:       lift.get(0)
// CHECK-NEXT:       lift.zip
// CHECK-NEXT:       lift.map(
// CHECK-NEXT:         lift.get(0)
// CHECK-NEXT:         lift.get(1)
// CHECK-NEXT:         lift.get(1)
// CHECK-NEXT:         lift.zip
// CHECK-NEXT:         lift.map(
// CHECK-NEXT:           lift.get(0)
// CHECK-NEXT:           lift.get(1)
// CHECK-NEXT:           arith.mulf
// CHECK-NEXT:           arith.addf
// CHECK-NEXT:           lift.yield
// CHECK-NEXT:         }
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.join
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.join
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @reuse_block_2d(%x: tensor<?x?xf32, #lift.sizes<N, K>> {tile.name = "x"}, %y: tensor<?x?xf32, #lift.sizes<M, K>> {tile.name = "y"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?x?xf32, #lift.sizes<N, K>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %1 = lift.map(%b in %y) : (tensor<?x?xf32, #lift.sizes<M, K>>) -> tensor<?xf32, #lift.sizes<M>> {
      %2 = lift.zip %a, %b : (tensor<?xf32, #lift.sizes<K>>, tensor<?xf32, #lift.sizes<K>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<K>>
      %3 = arith.constant 0.000000e+00 : f32
      %4 = lift.reduce_seq(%s from %3, %t in %2) : (f32, tensor<?xtuple<f32, f32>, #lift.sizes<K>>) -> f32 {
        %5 = lift.get(0) %t : (tuple<f32, f32>) -> f32
        %6 = lift.get(1) %t : (tuple<f32, f32>) -> f32
        %7 = arith.mulf %5, %6 : f32
        %8 = arith.addf %s, %7 : f32
        lift.yield %8 : f32
      }
      lift.yield %4 : f32
    }
    lift.yield %1 : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %0 : tensor<?x?xf32, #lift.sizes<N, M>>
}

// `zip(x, y) >> reduce_seq(f, e)` in parts of `k`, which divides the size.
//
// `zip(x >> split(k), y >> split(k)) >> reduce_seq((s, (x, y)) ⇒ zip(x, y) >> reduce_seq(f, s))`
// CHECK-LABEL: func.func @reduce_zip_in_parts(
// CHECK-NEXT: arith.constant 0.000000e+00 : f32
// CHECK-NEXT: lift.split(4)
// CHECK-NEXT: lift.split(4)
// CHECK-NEXT: lift.zip
// CHECK-NEXT: lift.reduce_seq(
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   lift.get(1)
// CHECK-NEXT:   lift.zip
// CHECK-NEXT:   lift.reduce_seq(
// CHECK-NEXT:     lift.get(0)
// CHECK-NEXT:     lift.get(1)
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: tensor.from_elements
// CHECK-NEXT: func.return
func.func @reduce_zip_in_parts(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<N>> {tile.name = "y"}) -> (tensor<f32> {tile.name = "out"}) {
  %0 = lift.zip %x, %y : (tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<N>>
  %1 = arith.constant 0.000000e+00 : f32
  %2 = lift.reduce_seq(%s from %1, %t in %0) : (f32, tensor<?xtuple<f32, f32>, #lift.sizes<N>>) -> f32 {
    %3 = lift.get(0) %t : (tuple<f32, f32>) -> f32
    %4 = lift.get(1) %t : (tuple<f32, f32>) -> f32
    %5 = arith.addf %3, %4 : f32
    %6 = arith.addf %s, %5 : f32
    lift.yield %6 : f32
  }
  %7 = tensor.from_elements %2 : tensor<f32>
  func.return %7 : tensor<f32>
}

// `x >> map(a ⇒ y >> map(b ⇒ zip(a, b) >> reduce_seq(f, e)))`, of a tile, in parts of `k`.
//
// The tile is a reduction of matrices, in parts of `k` columns of both. By `reduce_outermost` and
// `reduce_zip_in_parts`; `k` divides the size.
// CHECK-LABEL: func.func @finish_tiling(
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.generate(
// CHECK-NEXT:   lift.generate(
// CHECK-NEXT:     arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.split(2)
// CHECK-NEXT: lift.split(2)
// CHECK-NEXT: lift.zip
// CHECK-NEXT: lift.reduce_seq(
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   lift.get(1)
// CHECK-NEXT:   lift.zip
// CHECK-NEXT:   lift.reduce_seq(
// CHECK-NEXT:     lift.get(0)
// CHECK-NEXT:     lift.zip
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       lift.get(0)
// CHECK-NEXT:       lift.get(1)
// CHECK-NEXT:       lift.get(1)
// CHECK-NEXT:       lift.zip
// CHECK-NEXT:       lift.map(
// CHECK-NEXT:         lift.get(0)
// CHECK-NEXT:         lift.get(1)
// CHECK-NEXT:         arith.mulf
// CHECK-NEXT:         arith.addf
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @finish_tiling(%x: tensor<?x?xf32, #lift.sizes<N, K>> {tile.name = "x"}, %y: tensor<?x?xf32, #lift.sizes<M, K>> {tile.name = "y"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?x?xf32, #lift.sizes<N, K>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %1 = lift.map(%b in %y) : (tensor<?x?xf32, #lift.sizes<M, K>>) -> tensor<?xf32, #lift.sizes<M>> {
      %2 = lift.zip %a, %b : (tensor<?xf32, #lift.sizes<K>>, tensor<?xf32, #lift.sizes<K>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<K>>
      %3 = arith.constant 0.000000e+00 : f32
      %4 = lift.reduce_seq(%s from %3, %t in %2) : (f32, tensor<?xtuple<f32, f32>, #lift.sizes<K>>) -> f32 {
        %5 = lift.get(0) %t : (tuple<f32, f32>) -> f32
        %6 = lift.get(1) %t : (tuple<f32, f32>) -> f32
        %7 = arith.mulf %5, %6 : f32
        %8 = arith.addf %s, %7 : f32
        lift.yield %8 : f32
      }
      lift.yield %4 : f32
    }
    lift.yield %1 : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %0 : tensor<?x?xf32, #lift.sizes<N, M>>
}

// `x >> map(a ⇒ y >> map(b ⇒ zip(a, b) >> reduce_seq(f, e)))` in tiles of `m` x `n` x `k`.
//
// Each tile of the result is a reduction of matrices, in parts of `k`. By `tile_maps` and
// `finish_tiling`; `m`, `n` and `k` divide the sizes.
// CHECK-LABEL: func.func @tile_matrix_product(
// CHECK-NEXT: lift.split(4)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.split(2)
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.transpose
// CHECK-NEXT:     lift.transpose
// CHECK-NEXT:     lift.generate(
// CHECK-NEXT:       lift.generate(
// CHECK-NEXT:         arith.constant 0.000000e+00 : f32
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.split(2)
// CHECK-NEXT:     lift.split(2)
// CHECK-NEXT:     lift.zip
// CHECK-NEXT:     lift.reduce_seq(
// CHECK-NEXT:       lift.get(0)
// CHECK-NEXT:       lift.get(1)
// CHECK-NEXT:       lift.zip
// CHECK-NEXT:       lift.reduce_seq(
// CHECK-NEXT:         lift.get(0)
// CHECK-NEXT:         lift.zip
// CHECK-NEXT:         lift.map(
// CHECK-NEXT:           lift.get(0)
// CHECK-NEXT:           lift.get(1)
// CHECK-NEXT:           lift.get(1)
// CHECK-NEXT:           lift.zip
// CHECK-NEXT:           lift.map(
// CHECK-NEXT:             lift.get(0)
// CHECK-NEXT:             lift.get(1)
// CHECK-NEXT:             arith.mulf
// CHECK-NEXT:             arith.addf
// CHECK-NEXT:             lift.yield
// CHECK-NEXT:           }
// CHECK-NEXT:           lift.yield
// CHECK-NEXT:         }
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.join
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.join
// CHECK-NEXT: func.return
func.func @tile_matrix_product(%x: tensor<?x?xf32, #lift.sizes<N, K>> {tile.name = "x"}, %y: tensor<?x?xf32, #lift.sizes<M, K>> {tile.name = "y"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?x?xf32, #lift.sizes<N, K>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %1 = lift.map(%b in %y) : (tensor<?x?xf32, #lift.sizes<M, K>>) -> tensor<?xf32, #lift.sizes<M>> {
      %2 = lift.zip %a, %b : (tensor<?xf32, #lift.sizes<K>>, tensor<?xf32, #lift.sizes<K>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<K>>
      %3 = arith.constant 0.000000e+00 : f32
      %4 = lift.reduce_seq(%s from %3, %t in %2) : (f32, tensor<?xtuple<f32, f32>, #lift.sizes<K>>) -> f32 {
        %5 = lift.get(0) %t : (tuple<f32, f32>) -> f32
        %6 = lift.get(1) %t : (tuple<f32, f32>) -> f32
        %7 = arith.mulf %5, %6 : f32
        %8 = arith.addf %s, %7 : f32
        lift.yield %8 : f32
      }
      lift.yield %4 : f32
    }
    lift.yield %1 : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %0 : tensor<?x?xf32, #lift.sizes<N, M>>
}

// `x >> map(a ⇒ y >> map(b ⇒ zip(a, b) >> reduce_seq(f, e)))` in tiles of `m` x `n`.
//
// Each tile is a reduction over parts of `k` columns of both, whose accumulator is of blocks of
// `p` x `q`: work-items can hold these while they share the parts. By `tile_maps`,
// `reduce_outermost`, `reduce_zip_in_parts` and `map_fission`; the sizes divide one another.
// CHECK-LABEL: func.func @hold_blocks_2d(
// CHECK-NEXT: lift.split(4)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.split(2)
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.split(2)
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       lift.transpose
// CHECK-NEXT:       lift.split(2)
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.transpose
// CHECK-NEXT:     lift.split(1)
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       lift.transpose
// CHECK-NEXT:       lift.split(2)
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.transpose
// CHECK-NEXT:     lift.generate(
// CHECK-NEXT:       lift.generate(
// CHECK-NEXT:         lift.generate(
// CHECK-NEXT:           lift.generate(
// CHECK-NEXT:             arith.constant 0.000000e+00 : f32
// CHECK-NEXT:             lift.yield
// CHECK-NEXT:           }
// CHECK-NEXT:           lift.yield
// CHECK-NEXT:         }
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.zip
// CHECK-NEXT:     lift.reduce_seq(
// CHECK-NEXT:       lift.get(0)
// CHECK-NEXT:       lift.zip
// CHECK-NEXT:       lift.map(
// CHECK-NEXT:         lift.get(0)
// CHECK-NEXT:         lift.get(1)
// CHECK-NEXT:         lift.get(1)
// CHECK-NEXT:         lift.zip
// CHECK-NEXT:         lift.map(
// CHECK-NEXT:           lift.get(0)
// CHECK-NEXT:           lift.get(1)
// CHECK-NEXT:           lift.zip
// CHECK-NEXT:           lift.reduce_seq(
// CHECK-NEXT:             lift.get(0)
// CHECK-NEXT:             lift.zip
// CHECK-NEXT:             lift.map(
// CHECK-NEXT:               lift.get(0)
// CHECK-NEXT:               lift.get(1)
// CHECK-NEXT:               lift.get(1)
// CHECK-NEXT:               lift.zip
// CHECK-NEXT:               lift.map(
// CHECK-NEXT:                 lift.get(0)
// CHECK-NEXT:                 lift.get(1)
// CHECK-NEXT:                 arith.mulf
// CHECK-NEXT:                 arith.addf
// CHECK-NEXT:                 lift.yield
// CHECK-NEXT:               }
// CHECK-NEXT:               lift.yield
// CHECK-NEXT:             }
// CHECK-NEXT:             lift.yield
// CHECK-NEXT:           }
// CHECK-NEXT:           lift.yield
// CHECK-NEXT:         }
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       lift.transpose
// CHECK-NEXT:       lift.map(
// CHECK-NEXT:         lift.join
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.join
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.join
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.join
// CHECK-NEXT: func.return
func.func @hold_blocks_2d(%x: tensor<?x?xf32, #lift.sizes<N, K>> {tile.name = "x"}, %y: tensor<?x?xf32, #lift.sizes<M, K>> {tile.name = "y"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?x?xf32, #lift.sizes<N, K>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %1 = lift.map(%b in %y) : (tensor<?x?xf32, #lift.sizes<M, K>>) -> tensor<?xf32, #lift.sizes<M>> {
      %2 = lift.zip %a, %b : (tensor<?xf32, #lift.sizes<K>>, tensor<?xf32, #lift.sizes<K>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<K>>
      %3 = arith.constant 0.000000e+00 : f32
      %4 = lift.reduce_seq(%s from %3, %t in %2) : (f32, tensor<?xtuple<f32, f32>, #lift.sizes<K>>) -> f32 {
        %5 = lift.get(0) %t : (tuple<f32, f32>) -> f32
        %6 = lift.get(1) %t : (tuple<f32, f32>) -> f32
        %7 = arith.mulf %5, %6 : f32
        %8 = arith.addf %s, %7 : f32
        lift.yield %8 : f32
      }
      lift.yield %4 : f32
    }
    lift.yield %1 : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %0 : tensor<?x?xf32, #lift.sizes<N, M>>
}

// `map(g >> map(a ⇒ zip(h(a), y) >> reduce_seq(f, e)))` in blocks of `m` x `n` sums.
//
// Each block is a reduction of matrices, in parts of `k` terms, as of windows whose weights are
// `y`. By `split_join`, `map_fission`, `transpose_both_sides` and `finish_tiling`; `m` and `n`
// divide the sizes, and `k` the number of terms.
// CHECK-LABEL: func.func @block_sums_2d(
// CHECK-NEXT: lift.split(4)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.split(2)
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       lift.transpose
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.transpose
// CHECK-NEXT:     lift.generate(
// CHECK-NEXT:       lift.generate(
// CHECK-NEXT:         arith.constant 0.000000e+00 : f32
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.split(2)
// CHECK-NEXT:     lift.split(2)
// CHECK-NEXT:     lift.zip
// CHECK-NEXT:     lift.reduce_seq(
// CHECK-NEXT:       lift.get(0)
// CHECK-NEXT:       lift.get(1)
// CHECK-NEXT:       lift.zip
// CHECK-NEXT:       lift.reduce_seq(
// CHECK-NEXT:         lift.get(0)
// CHECK-NEXT:         lift.zip
// CHECK-NEXT:         lift.map(
// CHECK-NEXT:           lift.get(0)
// CHECK-NEXT:           lift.get(1)
// CHECK-NEXT:           lift.get(1)
// CHECK-NEXT:           lift.zip
// CHECK-NEXT:           lift.map(
// CHECK-NEXT:             lift.get(0)
// CHECK-NEXT:             lift.get(1)
// CHECK-NEXT:             arith.mulf
// CHECK-NEXT:             arith.addf
// CHECK-NEXT:             lift.yield
// CHECK-NEXT:           }
// CHECK-NEXT:           lift.yield
// CHECK-NEXT:         }
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.join
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.join
// CHECK-NEXT: func.return
func.func @block_sums_2d(%x: tensor<?x?x?xf32, #lift.sizes<N, M, K>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<K>> {tile.name = "y"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.map(%rows in %x) : (tensor<?x?x?xf32, #lift.sizes<N, M, K>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %1 = lift.map(%a in %rows) : (tensor<?x?xf32, #lift.sizes<M, K>>) -> tensor<?xf32, #lift.sizes<M>> {
      %2 = lift.zip %a, %y : (tensor<?xf32, #lift.sizes<K>>, tensor<?xf32, #lift.sizes<K>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<K>>
      %3 = arith.constant 0.000000e+00 : f32
      %4 = lift.reduce_seq(%s from %3, %t in %2) : (f32, tensor<?xtuple<f32, f32>, #lift.sizes<K>>) -> f32 {
        %5 = lift.get(0) %t : (tuple<f32, f32>) -> f32
        %6 = lift.get(1) %t : (tuple<f32, f32>) -> f32
        %7 = arith.mulf %5, %6 : f32
        %8 = arith.addf %s, %7 : f32
        lift.yield %8 : f32
      }
      lift.yield %4 : f32
    }
    lift.yield %1 : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %0 : tensor<?x?xf32, #lift.sizes<N, M>>
}

// `map2(a ⇒ zip(h(a), y) >> map(g) >> reduce(f, e))` in blocks of `m` x `n` sums.
//
// Each part has `k` terms at equal distances, as columns of windows, which the sums of a block
// share. By `reorder_terms`, `fuse_parts` and `block_sums_2d`; `k` divides the number of terms.
// CHECK-LABEL: func.func @block_strided_sums_2d(
// CHECK-NEXT: lift.split(4)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.split(2)
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       lift.map(
// CHECK-NEXT:         lift.split(K / 2)
// CHECK-NEXT:         lift.transpose
// CHECK-NEXT:         lift.join
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.transpose
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.transpose
// CHECK-NEXT:     lift.split(K / 2)
// CHECK-NEXT:     lift.transpose
// CHECK-NEXT:     lift.join
// CHECK-NEXT:     lift.generate(
// CHECK-NEXT:       lift.generate(
// CHECK-NEXT:         arith.constant 0.000000e+00 : f32
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.split(2)
// CHECK-NEXT:     lift.split(2)
// CHECK-NEXT:     lift.zip
// CHECK-NEXT:     lift.reduce_seq(
// CHECK-NEXT:       lift.get(0)
// CHECK-NEXT:       lift.get(1)
// CHECK-NEXT:       lift.zip
// CHECK-NEXT:       lift.reduce_seq(
// CHECK-NEXT:         lift.get(0)
// CHECK-NEXT:         lift.zip
// CHECK-NEXT:         lift.map(
// CHECK-NEXT:           lift.get(0)
// CHECK-NEXT:           lift.get(1)
// CHECK-NEXT:           lift.get(1)
// CHECK-NEXT:           lift.zip
// CHECK-NEXT:           lift.map(
// CHECK-NEXT:             lift.get(0)
// CHECK-NEXT:             lift.get(1)
// CHECK-NEXT:             arith.addf
// CHECK-NEXT:             arith.addf
// CHECK-NEXT:             lift.yield
// CHECK-NEXT:           }
// CHECK-NEXT:           lift.yield
// CHECK-NEXT:         }
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.join
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.join
// CHECK-NEXT: func.return
func.func @block_strided_sums_2d(%x: tensor<?x?x?xf32, #lift.sizes<N, M, K>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<K>> {tile.name = "y"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.map(%1 in %x) : (tensor<?x?x?xf32, #lift.sizes<N, M, K>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %2 = lift.map(%a in %1) : (tensor<?x?xf32, #lift.sizes<M, K>>) -> tensor<?xf32, #lift.sizes<M>> {
      %3 = lift.zip %a, %y : (tensor<?xf32, #lift.sizes<K>>, tensor<?xf32, #lift.sizes<K>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<K>>
      %4 = lift.map(%5 in %3) : (tensor<?xtuple<f32, f32>, #lift.sizes<K>>) -> tensor<?xf32, #lift.sizes<K>> {
        %a_1 = lift.get(0) %5 : (tuple<f32, f32>) -> f32
        %b = lift.get(1) %5 : (tuple<f32, f32>) -> f32
        %6 = arith.addf %a_1, %b : f32
        lift.yield %6 : f32
      }
      %7 = arith.constant 0.000000e+00 : f32
      %8 = lift.reduce(%a_2 from %7, %b_1 in %4) : (f32, tensor<?xf32, #lift.sizes<K>>) -> f32 {
        %9 = arith.addf %a_2, %b_1 : f32
        lift.yield %9 : f32
      }
      lift.yield %8 : f32
    }
    lift.yield %2 : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %0 : tensor<?x?xf32, #lift.sizes<N, M>>
}

// `slide2(d, s) >> map2(a ⇒ zip(h(a), y) >> map(g) >> reduce(f, e))` in tiles of `v` x `v`.
//
// Each tile is in blocks of `m` x `n` sums, in parts of `k` terms. By `tile_stencil_2d`,
// `fuse_parts` and `block_sums_2d`; the sizes divide one another.
// CHECK-LABEL: func.func @block_stencil_2d(
// CHECK-NEXT: lift.pad(1, 1, clamp)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.pad(1, 1, clamp)
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.slide(6, 4)
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.slide(6, 4)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       lift.slide(3, 1)
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.slide(3, 1)
// CHECK-NEXT:     lift.split(2)
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       lift.map(
// CHECK-NEXT:         lift.transpose
// CHECK-NEXT:         lift.split(4)
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.transpose
// CHECK-NEXT:       lift.map(
// CHECK-NEXT:         lift.map(
// CHECK-NEXT:           lift.map(
// CHECK-NEXT:             lift.join
// CHECK-NEXT:             lift.yield
// CHECK-NEXT:           }
// CHECK-NEXT:           lift.transpose
// CHECK-NEXT:           lift.yield
// CHECK-NEXT:         }
// CHECK-NEXT:         lift.transpose
// CHECK-NEXT:         lift.join
// CHECK-NEXT:         lift.generate(
// CHECK-NEXT:           lift.generate(
// CHECK-NEXT:             arith.constant 0.000000e+00 : f32
// CHECK-NEXT:             lift.yield
// CHECK-NEXT:           }
// CHECK-NEXT:           lift.yield
// CHECK-NEXT:         }
// CHECK-NEXT:         lift.split(3)
// CHECK-NEXT:         lift.split(3)
// CHECK-NEXT:         lift.zip
// CHECK-NEXT:         lift.reduce_seq(
// CHECK-NEXT:           lift.get(0)
// CHECK-NEXT:           lift.get(1)
// CHECK-NEXT:           lift.zip
// CHECK-NEXT:           lift.reduce_seq(
// CHECK-NEXT:             lift.get(0)
// CHECK-NEXT:             lift.zip
// CHECK-NEXT:             lift.map(
// CHECK-NEXT:               lift.get(0)
// CHECK-NEXT:               lift.get(1)
// CHECK-NEXT:               lift.get(1)
// CHECK-NEXT:               lift.zip
// CHECK-NEXT:               lift.map(
// CHECK-NEXT:                 lift.get(0)
// CHECK-NEXT:                 lift.get(1)
// CHECK-NEXT:                 arith.addf
// CHECK-NEXT:                 arith.addf
// CHECK-NEXT:                 lift.yield
// CHECK-NEXT:               }
// CHECK-NEXT:               lift.yield
// CHECK-NEXT:             }
// CHECK-NEXT:             lift.yield
// CHECK-NEXT:           }
// CHECK-NEXT:           lift.yield
// CHECK-NEXT:         }
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.transpose
// CHECK-NEXT:       lift.map(
// CHECK-NEXT:         lift.join
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.join
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.join
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.join
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @block_stencil_2d(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}, %y: tensor<3x3xf32> {tile.name = "y"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.pad(1, 1, clamp) %x : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N + 2, M>>
  %1 = lift.map(%2 in %0) : (tensor<?x?xf32, #lift.sizes<N + 2, M>>) -> tensor<?x?xf32, #lift.sizes<N + 2, M + 2>> {
    %3 = lift.pad(1, 1, clamp) %2 : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M + 2>>
    lift.yield %3 : tensor<?xf32, #lift.sizes<M + 2>>
  }
  %4 = lift.map(%5 in %1) : (tensor<?x?xf32, #lift.sizes<N + 2, M + 2>>) -> tensor<?x?x3xf32, #lift.sizes<N + 2, M>> {
    %6 = lift.slide(3, 1) %5 : (tensor<?xf32, #lift.sizes<M + 2>>) -> tensor<?x3xf32, #lift.sizes<M>>
    lift.yield %6 : tensor<?x3xf32, #lift.sizes<M>>
  }
  %7 = lift.slide(3, 1) %4 : (tensor<?x?x3xf32, #lift.sizes<N + 2, M>>) -> tensor<?x3x?x3xf32, #lift.sizes<N, M>>
  %8 = lift.map(%9 in %7) : (tensor<?x3x?x3xf32, #lift.sizes<N, M>>) -> tensor<?x?x3x3xf32, #lift.sizes<N, M>> {
    %10 = lift.transpose %9 : (tensor<3x?x3xf32, #lift.sizes<M>>) -> tensor<?x3x3xf32, #lift.sizes<M>>
    lift.yield %10 : tensor<?x3x3xf32, #lift.sizes<M>>
  }
  %11 = lift.map(%12 in %8) : (tensor<?x?x3x3xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %13 = lift.map(%w in %12) : (tensor<?x3x3xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %14 = lift.join %w : (tensor<3x3xf32>) -> tensor<9xf32>
      %15 = lift.join %y : (tensor<3x3xf32>) -> tensor<9xf32>
      %16 = lift.zip %14, %15 : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xtuple<f32, f32>>
      %17 = lift.map(%18 in %16) : (tensor<9xtuple<f32, f32>>) -> tensor<9xf32> {
        %a = lift.get(0) %18 : (tuple<f32, f32>) -> f32
        %b = lift.get(1) %18 : (tuple<f32, f32>) -> f32
        %19 = arith.addf %a, %b : f32
        lift.yield %19 : f32
      }
      %20 = arith.constant 0.000000e+00 : f32
      %21 = lift.reduce(%a_1 from %20, %b_1 in %17) : (f32, tensor<9xf32>) -> f32 {
        %22 = arith.addf %a_1, %b_1 : f32
        lift.yield %22 : f32
      }
      lift.yield %21 : f32
    }
    lift.yield %13 : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %11 : tensor<?x?xf32, #lift.sizes<N, M>>
}

// `reduce(f, e) = split(n) >> reduce((s, y) ⇒ zip(s, y) >> map(f), [e, …]) >> reduce(f, e)`.
//
// It is done to all reductions of numbers in a value: `n` sums at a time, so that none waits for
// the one before. By `partial_reduce_strided` and `map_reduce_interchange`; `n` divides the sizes.
// CHECK-LABEL: func.func @block_sums_1d(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   lift.split(2)
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.generate(
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.reduce(
// CHECK-NEXT:     lift.zip
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       lift.get(0)
// CHECK-NEXT:       lift.get(1)
// CHECK-NEXT:       arith.addf
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.reduce(
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.let(
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       arith.addf
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     lift.split(2)
// CHECK-NEXT:     lift.transpose
// CHECK-NEXT:     lift.generate(
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.transpose
// CHECK-NEXT:     lift.reduce(
// CHECK-NEXT:       lift.zip
// CHECK-NEXT:       lift.map(
// CHECK-NEXT:         lift.get(0)
// CHECK-NEXT:         lift.get(1)
// CHECK-NEXT:         arith.addf
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.reduce(
// CHECK-NEXT:       arith.addf
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @block_sums_1d(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 0.000000e+00 : f32
    %2 = lift.reduce(%a_1 from %1, %b in %a) : (f32, tensor<?xf32, #lift.sizes<M>>) -> f32 {
      %3 = arith.addf %a_1, %b : f32
      lift.yield %3 : f32
    }
    %4 = lift.let(%s be %2) : (f32) -> f32 {
      %5 = lift.map(%b_1 in %a) : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
        %6 = arith.addf %b_1, %s : f32
        lift.yield %6 : f32
      }
      %7 = arith.constant 0.000000e+00 : f32
      %8 = lift.reduce(%a_2 from %7, %b_2 in %5) : (f32, tensor<?xf32, #lift.sizes<M>>) -> f32 {
        %9 = arith.addf %a_2, %b_2 : f32
        lift.yield %9 : f32
      }
      lift.yield %8 : f32
    }
    lift.yield %4 : f32
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `reduce(f, e) = split(n) >> map(reduce_seq(f, e)) >> reduce_seq(f, e)`; `n` divides the size.
//
// By `partial_reduce` and `reduce_seq`, with the producer fused.
// CHECK-LABEL: func.func @reduce_in_parts(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: arith.constant 0.000000e+00 : f32
// CHECK-NEXT: lift.split(4)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.reduce_seq(
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.reduce_seq(
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: tensor.from_elements
// CHECK-NEXT: func.return
func.func @reduce_in_parts(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<f32> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    lift.yield %2 : f32
  }
  %3 = arith.constant 0.000000e+00 : f32
  %4 = lift.reduce(%a_1 from %3, %b in %0) : (f32, tensor<?xf32, #lift.sizes<N>>) -> f32 {
    %5 = arith.addf %a_1, %b : f32
    lift.yield %5 : f32
  }
  %6 = tensor.from_elements %4 : tensor<f32>
  func.return %6 : tensor<f32>
}
