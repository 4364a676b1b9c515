// Written by generate.py, which stands beside this file.
// RUN: tile-opt %s -p 'lift-rewrite{function=split_join_identity rule=split_join_identity},lift-rewrite{function=join_split_identity rule=join_split_identity},lift-rewrite{function=transpose_transpose_identity rule=transpose_transpose_identity},lift-rewrite{function=scatter_gather_identity rule=scatter_gather_identity},lift-rewrite{function=gather_scatter_identity rule=gather_scatter_identity},lift-rewrite{function=empty_gather rule=empty_gather},lift-rewrite{function=empty_scatter rule=empty_scatter},lift-rewrite{function=as_vector_as_scalar_identity rule=as_vector_as_scalar_identity},lift-rewrite{function=as_scalar_as_vector_identity rule=as_scalar_as_vector_identity},lift-rewrite{function=empty_map rule=empty_map},lift-rewrite{function=empty_pad rule=empty_pad},lift-rewrite{function=empty_slice rule=empty_slice},lift-rewrite{function=slide_to_split rule=slide_to_split},lift-rewrite{function=split_to_slide rule=split_to_slide},lift-rewrite{function=iterate_zero rule=iterate_zero},lift-rewrite{function=iterate_one rule=iterate_one},lift-rewrite{function=iterate_decomposition rule=iterate_decomposition sizes="m=1"},lift-rewrite{function=get_tuple rule=get_tuple},lift-rewrite{function=get_zip rule=get_zip},lift-rewrite{function=zip_duplicate rule=zip_duplicate},lift-rewrite{function=zip_unused rule=zip_unused},lift-rewrite{function=zip_flatten rule=zip_flatten},lift-rewrite{function=add_identity rule=add_identity},lift-rewrite{function=add_identity_inside rule=add_identity_inside},lift-rewrite{function=add_transposed_identity_inside rule=add_transposed_identity_inside},lift-rewrite{function=add_identity_in_reduce rule=add_identity_in_reduce},lift-rewrite{function=add_identity_in_slide rule=add_identity_in_slide},lift-rewrite{function=add_transposed_identity_in_reduce rule=add_transposed_identity_in_reduce sizes="k=0"},lift-rewrite{function=add_transposes rule=add_transposes},lift-rewrite{function=add_split_join rule=add_split_join sizes="n=2"},lift-rewrite{function=add_join_split rule=add_join_split},lift-rewrite{function=add_vectors rule=add_vectors sizes="w=2"},lift-rewrite{function=add_reorder rule=add_reorder sizes="s=4"},lift-rewrite{function=kept_twice rule=kept_twice}' | filecheck %s

// `split(n) >> join = id`.
// CHECK-LABEL: func.func @split_join_identity(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @split_join_identity(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.split(4) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x4xf32, #lift.sizes<N / 4>>
  %1 = lift.join %0 : (tensor<?x4xf32, #lift.sizes<N / 4>>) -> tensor<?xf32, #lift.sizes<N>>
  %2 = lift.map(%a in %1) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %3 = arith.constant 1.000000e+00 : f32
    %4 = arith.addf %a, %3 : f32
    lift.yield %4 : f32
  }
  func.return %2 : tensor<?xf32, #lift.sizes<N>>
}

// `join >> split(n) = id`, for pieces of `n`.
// CHECK-LABEL: func.func @join_split_identity(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @join_split_identity(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.join %x : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?xf32, #lift.sizes<M*N>>
  %1 = lift.split(M) %0 : (tensor<?xf32, #lift.sizes<M*N>>) -> tensor<?x?xf32, #lift.sizes<N, M>>
  %2 = lift.map(%3 in %1) : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %4 = lift.map(%a in %3) : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %5 = arith.constant 1.000000e+00 : f32
      %6 = arith.addf %a, %5 : f32
      lift.yield %6 : f32
    }
    lift.yield %4 : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %2 : tensor<?x?xf32, #lift.sizes<N, M>>
}

// `transpose >> transpose = id`.
// CHECK-LABEL: func.func @transpose_transpose_identity(
// CHECK-NEXT: func.return
func.func @transpose_transpose_identity(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.transpose %x : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<M, N>>
  %1 = lift.transpose %0 : (tensor<?x?xf32, #lift.sizes<M, N>>) -> tensor<?x?xf32, #lift.sizes<N, M>>
  func.return %1 : tensor<?x?xf32, #lift.sizes<N, M>>
}

// `scatter(i) >> gather(i) = id`.
// CHECK-LABEL: func.func @scatter_gather_identity(
// CHECK-NEXT: func.return
func.func @scatter_gather_identity(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.scatter(i -> N - i - 1) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>>
  %1 = lift.gather(i -> N - i - 1) %0 : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>>
  func.return %1 : tensor<?xf32, #lift.sizes<N>>
}

// `gather(i) >> scatter(i) = id`, as the map of a scatter is a permutation.
// CHECK-LABEL: func.func @gather_scatter_identity(
// CHECK-NEXT: func.return
func.func @gather_scatter_identity(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.gather(i -> N - i - 1) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>>
  %1 = lift.scatter(i -> N - i - 1) %0 : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>>
  func.return %1 : tensor<?xf32, #lift.sizes<N>>
}

// `gather(i ⇒ i) = id`.
// CHECK-LABEL: func.func @empty_gather(
// CHECK-NEXT: func.return
func.func @empty_gather(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.gather(i -> i) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>>
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `scatter(i ⇒ i) = id`.
// CHECK-LABEL: func.func @empty_scatter(
// CHECK-NEXT: func.return
func.func @empty_scatter(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.scatter(i -> i) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>>
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `as_vector(n) >> as_scalar = id`.
// CHECK-LABEL: func.func @as_vector_as_scalar_identity(
// CHECK-NEXT: func.return
func.func @as_vector_as_scalar_identity(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.as_vector(4) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xvector<4xf32>, #lift.sizes<N / 4>>
  %1 = lift.as_scalar %0 : (tensor<?xvector<4xf32>, #lift.sizes<N / 4>>) -> tensor<?xf32, #lift.sizes<N>>
  func.return %1 : tensor<?xf32, #lift.sizes<N>>
}

// `as_scalar >> as_vector(n) = id`, for vectors of `n`.
// CHECK-LABEL: func.func @as_scalar_as_vector_identity(
// CHECK-NEXT: lift.as_vector(2)
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
func.func @as_scalar_as_vector_identity(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.as_vector(2) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xvector<2xf32>, #lift.sizes<N / 2>>
  %1 = lift.as_scalar %0 : (tensor<?xvector<2xf32>, #lift.sizes<N / 2>>) -> tensor<?xf32, #lift.sizes<N>>
  %2 = lift.as_vector(2) %1 : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xvector<2xf32>, #lift.sizes<N / 2>>
  %3 = lift.map(%4 in %2) : (tensor<?xvector<2xf32>, #lift.sizes<N / 2>>) -> tensor<?xvector<2xf32>, #lift.sizes<N / 2>> {
    %5 = lift.map_vec(%a in %4) : (vector<2xf32>) -> vector<2xf32> {
      %6 = arith.constant 1.000000e+00 : f32
      %7 = arith.addf %a, %6 : f32
      lift.yield %7 : f32
    }
    lift.yield %5 : vector<2xf32>
  }
  %8 = lift.as_scalar %3 : (tensor<?xvector<2xf32>, #lift.sizes<N / 2>>) -> tensor<?xf32, #lift.sizes<N>>
  func.return %8 : tensor<?xf32, #lift.sizes<N>>
}

// `map(id) = id`, for a map by whomever.
// CHECK-LABEL: func.func @empty_map(
// CHECK-NEXT: func.return
func.func @empty_map(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    lift.yield %a : f32
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `pad(0, 0) = id`.
// CHECK-LABEL: func.func @empty_pad(
// CHECK-NEXT: func.return
func.func @empty_pad(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.pad(0, 0, clamp) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>>
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `slice(0, n) = id`, for an array of `n` elements.
// CHECK-LABEL: func.func @empty_slice(
// CHECK-NEXT: func.return
func.func @empty_slice(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.slice(0, N) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>>
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `slide(n, n) = split(n)`.
// CHECK-LABEL: func.func @slide_to_split(
// CHECK-NEXT: lift.split(4)
// CHECK-NEXT: func.return
func.func @slide_to_split(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?x4xf32, #lift.sizes<N / 4>> {tile.name = "out"}) {
  %0 = lift.slide(4, 4) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x4xf32, #lift.sizes<N / 4>>
  func.return %0 : tensor<?x4xf32, #lift.sizes<N / 4>>
}

// `split(n) = slide(n, n)`.
// CHECK-LABEL: func.func @split_to_slide(
// CHECK-NEXT: lift.slide(4, 4)
// CHECK-NEXT: func.return
func.func @split_to_slide(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?x4xf32, #lift.sizes<N / 4>> {tile.name = "out"}) {
  %0 = lift.split(4) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x4xf32, #lift.sizes<N / 4>>
  func.return %0 : tensor<?x4xf32, #lift.sizes<N / 4>>
}

// `iterate(0, f) = id`.
// CHECK-LABEL: func.func @iterate_zero(
// CHECK-NEXT: func.return
func.func @iterate_zero(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.iterate(0)(%1 : tensor<?xf32, #lift.sizes<N>> from %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %2 = lift.map(%a in %1) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
      %3 = arith.constant 1.000000e+00 : f32
      %4 = arith.addf %a, %3 : f32
      lift.yield %4 : f32
    }
    lift.yield %2 : tensor<?xf32, #lift.sizes<N>>
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `iterate(1, f) = f`.
// CHECK-LABEL: func.func @iterate_one(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @iterate_one(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.iterate(1)(%1 : tensor<?xf32, #lift.sizes<N>> from %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %2 = lift.map(%a in %1) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
      %3 = arith.constant 1.000000e+00 : f32
      %4 = arith.addf %a, %3 : f32
      lift.yield %4 : f32
    }
    lift.yield %2 : tensor<?xf32, #lift.sizes<N>>
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `iterate(n, f) = iterate(m, f) >> iterate(n - m, f)`, for a function that keeps the type.
// CHECK-LABEL: func.func @iterate_decomposition(
// CHECK-NEXT: lift.iterate(1)(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     arith.constant 3.000000e+00 : f32
// CHECK-NEXT:     arith.subf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.iterate(2)(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     arith.constant 3.000000e+00 : f32
// CHECK-NEXT:     arith.subf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @iterate_decomposition(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.iterate(3)(%1 : tensor<?xf32, #lift.sizes<N>> from %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %2 = lift.map(%a in %1) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
      %3 = arith.constant 3.000000e+00 : f32
      %4 = arith.subf %3, %a : f32
      lift.yield %4 : f32
    }
    lift.yield %2 : tensor<?xf32, #lift.sizes<N>>
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `(…, x, …) >> get(k) = x`.
// CHECK-LABEL: func.func @get_tuple(
// CHECK-NEXT: func.return
func.func @get_tuple(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<N>> {tile.name = "y"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.tuple %x, %y : (tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>) -> tuple<tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>>
  %1 = lift.get(0) %0 : (tuple<tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>>) -> tensor<?xf32, #lift.sizes<N>>
  func.return %1 : tensor<?xf32, #lift.sizes<N>>
}

// `zip(…, x, …) >> map(get(k)) = x`.
// CHECK-LABEL: func.func @get_zip(
// CHECK-NEXT: func.return
func.func @get_zip(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<N>> {tile.name = "y"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.zip %x, %y : (tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<N>>
  %1 = lift.map(%2 in %0) : (tensor<?xtuple<f32, f32>, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %3 = lift.get(1) %2 : (tuple<f32, f32>) -> f32
    lift.yield %3 : f32
  }
  func.return %1 : tensor<?xf32, #lift.sizes<N>>
}

// `zip(x, y, x) >> map(f) = zip(x, y) >> map((a, b) ⇒ f(a, b, a))`.
// CHECK-LABEL: func.func @zip_duplicate(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.mulf
// CHECK-NEXT:   arith.subf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @zip_duplicate(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<N>> {tile.name = "y"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.zip %x, %x, %x : (tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>) -> tensor<?xtuple<f32, f32, f32>, #lift.sizes<N>>
  %1 = lift.map(%2 in %0) : (tensor<?xtuple<f32, f32, f32>, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %a = lift.get(0) %2 : (tuple<f32, f32, f32>) -> f32
    %b = lift.get(1) %2 : (tuple<f32, f32, f32>) -> f32
    %c = lift.get(2) %2 : (tuple<f32, f32, f32>) -> f32
    %3 = arith.mulf %a, %b : f32
    %4 = arith.subf %3, %c : f32
    lift.yield %4 : f32
  }
  func.return %1 : tensor<?xf32, #lift.sizes<N>>
}

// `zip(x, y) >> map((a, b) ⇒ f(a)) = x >> map(f)`.
// CHECK-LABEL: func.func @zip_unused(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @zip_unused(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<N>> {tile.name = "y"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.zip %x, %y : (tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<N>>
  %1 = lift.map(%2 in %0) : (tensor<?xtuple<f32, f32>, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %a = lift.get(0) %2 : (tuple<f32, f32>) -> f32
    %b = lift.get(1) %2 : (tuple<f32, f32>) -> f32
    %3 = arith.constant 1.000000e+00 : f32
    %4 = arith.addf %b, %3 : f32
    lift.yield %4 : f32
  }
  func.return %1 : tensor<?xf32, #lift.sizes<N>>
}

// `zip(zip(x, y), z) >> map(f) = zip(x, y, z) >> map((a, b, c) ⇒ f((a, b), c))`.
// CHECK-LABEL: func.func @zip_flatten(
// CHECK-NEXT: lift.zip
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   lift.get(1)
// CHECK-NEXT:   lift.get(2)
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   arith.subf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @zip_flatten(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<N>> {tile.name = "y"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.zip %x, %y : (tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<N>>
  %1 = lift.zip %0, %y : (tensor<?xtuple<f32, f32>, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>) -> tensor<?xtuple<tuple<f32, f32>, f32>, #lift.sizes<N>>
  %2 = lift.map(%3 in %1) : (tensor<?xtuple<tuple<f32, f32>, f32>, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %p = lift.get(0) %3 : (tuple<tuple<f32, f32>, f32>) -> tuple<f32, f32>
    %b = lift.get(1) %3 : (tuple<tuple<f32, f32>, f32>) -> f32
    %4 = lift.get(0) %p : (tuple<f32, f32>) -> f32
    %5 = lift.get(1) %p : (tuple<f32, f32>) -> f32
    %6 = arith.addf %4, %5 : f32
    %7 = arith.subf %6, %b : f32
    lift.yield %7 : f32
  }
  func.return %2 : tensor<?xf32, #lift.sizes<N>>
}

// `x = x >> map(id)`, a copy.
// CHECK-LABEL: func.func @add_identity(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @add_identity(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    lift.yield %2 : f32
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `map(f) = map(a ⇒ f(a >> map(id)))`, a copy of every element, where these are arrays.
// CHECK-LABEL: func.func @add_identity_inside(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   lift.reduce(
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @add_identity_inside(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
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

// `map(f) = map(a ⇒ f(a >> transpose >> map(map(id)) >> transpose))`, for matrices.
//
// The copy of every element has its columns for rows.
// CHECK-LABEL: func.func @add_transposed_identity_inside(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     lift.reduce(
// CHECK-NEXT:       arith.addf
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   lift.reduce(
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @add_transposed_identity_inside(%x: tensor<?x?x?xf32, #lift.sizes<N, M, K>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map(%1 in %x) : (tensor<?x?x?xf32, #lift.sizes<N, M, K>>) -> tensor<?xf32, #lift.sizes<N>> {
    %2 = lift.map(%3 in %1) : (tensor<?x?xf32, #lift.sizes<M, K>>) -> tensor<?xf32, #lift.sizes<M>> {
      %4 = arith.constant 0.000000e+00 : f32
      %5 = lift.reduce(%a from %4, %b in %3) : (f32, tensor<?xf32, #lift.sizes<K>>) -> f32 {
        %6 = arith.addf %a, %b : f32
        lift.yield %6 : f32
      }
      lift.yield %5 : f32
    }
    %7 = arith.constant 0.000000e+00 : f32
    %8 = lift.reduce(%a_1 from %7, %b_1 in %2) : (f32, tensor<?xf32, #lift.sizes<M>>) -> f32 {
      %9 = arith.addf %a_1, %b_1 : f32
      lift.yield %9 : f32
    }
    lift.yield %8 : f32
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `reduce(f, e) = reduce((s, a) ⇒ f(s, a >> map(id)), e)`, where the elements are arrays.
// CHECK-LABEL: func.func @add_identity_in_reduce(
// CHECK-NEXT: lift.reduce_seq(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
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
func.func @add_identity_in_reduce(%x: tensor<?x4xf32, #lift.sizes<N>> {tile.name = "x"}, %y: tensor<4xf32> {tile.name = "y"}) -> (tensor<4xf32> {tile.name = "out"}) {
  %0 = lift.reduce_seq(%s from %y, %a in %x) : (tensor<4xf32>, tensor<?x4xf32, #lift.sizes<N>>) -> tensor<4xf32> {
    %1 = lift.zip %s, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xtuple<f32, f32>>
    %2 = lift.map(%3 in %1) : (tensor<4xtuple<f32, f32>>) -> tensor<4xf32> {
      %a_1 = lift.get(0) %3 : (tuple<f32, f32>) -> f32
      %b = lift.get(1) %3 : (tuple<f32, f32>) -> f32
      %4 = arith.addf %a_1, %b : f32
      lift.yield %4 : f32
    }
    lift.yield %2 : tensor<4xf32>
  }
  func.return %0 : tensor<4xf32>
}

// `map_seq_slide(f, n, s) = map(a ⇒ a >> map(id)) >> map_seq_slide(f, n, s)`, for arrays.
//
// Every element is copied when it is new in a window.
// CHECK-LABEL: func.func @add_identity_in_slide(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map_seq_slide(3, 1)(
// CHECK-NEXT:   lift.join
// CHECK-NEXT:   arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   lift.reduce(
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @add_identity_in_slide(%x: tensor<?x4xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N - 2>> {tile.name = "out"}) {
  %0 = lift.map_seq_slide(3, 1)(%1 in %x) : (tensor<?x4xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N - 2>> {
    %2 = lift.join %1 : (tensor<3x4xf32>) -> tensor<12xf32>
    %3 = arith.constant 0.000000e+00 : f32
    %4 = lift.reduce(%a from %3, %b in %2) : (f32, tensor<12xf32>) -> f32 {
      %5 = arith.addf %a, %b : f32
      lift.yield %5 : f32
    }
    lift.yield %4 : f32
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N - 2>>
}

// `zip(x, y) >> reduce(f, e)`, where the elements of array `k`, matrices, are copied.
//
// For `k = 1` it is `zip(x, y) >> reduce((s, (a, b)) ⇒ f(s, (a, b >> transpose >> map(map(id)) >>
// transpose)), e)`: the copies have their columns for rows.
// CHECK-LABEL: func.func @add_transposed_identity_in_reduce(
// CHECK-NEXT: arith.constant 0.000000e+00 : f32
// CHECK-NEXT: lift.zip
// CHECK-NEXT: lift.reduce_seq(
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.get(1)
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     lift.reduce(
// CHECK-NEXT:       arith.addf
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   lift.reduce(
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   arith.mulf
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: tensor.from_elements
// CHECK-NEXT: func.return
func.func @add_transposed_identity_in_reduce(%x: tensor<?x?x?xf32, #lift.sizes<N, M, K>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<N>> {tile.name = "y"}) -> (tensor<f32> {tile.name = "out"}) {
  %0 = lift.zip %x, %y : (tensor<?x?x?xf32, #lift.sizes<N, M, K>>, tensor<?xf32, #lift.sizes<N>>) -> tensor<?xtuple<tensor<?x?xf32, #lift.sizes<M, K>>, f32>, #lift.sizes<N>>
  %1 = arith.constant 0.000000e+00 : f32
  %2 = lift.reduce_seq(%s from %1, %t in %0) : (f32, tensor<?xtuple<tensor<?x?xf32, #lift.sizes<M, K>>, f32>, #lift.sizes<N>>) -> f32 {
    %3 = lift.get(1) %t : (tuple<tensor<?x?xf32, #lift.sizes<M, K>>, f32>) -> f32
    %4 = lift.get(0) %t : (tuple<tensor<?x?xf32, #lift.sizes<M, K>>, f32>) -> tensor<?x?xf32, #lift.sizes<M, K>>
    %5 = lift.map(%6 in %4) : (tensor<?x?xf32, #lift.sizes<M, K>>) -> tensor<?xf32, #lift.sizes<M>> {
      %7 = arith.constant 0.000000e+00 : f32
      %8 = lift.reduce(%a from %7, %b in %6) : (f32, tensor<?xf32, #lift.sizes<K>>) -> f32 {
        %9 = arith.addf %a, %b : f32
        lift.yield %9 : f32
      }
      lift.yield %8 : f32
    }
    %10 = arith.constant 0.000000e+00 : f32
    %11 = lift.reduce(%a_1 from %10, %b_1 in %5) : (f32, tensor<?xf32, #lift.sizes<M>>) -> f32 {
      %12 = arith.addf %a_1, %b_1 : f32
      lift.yield %12 : f32
    }
    %13 = arith.mulf %3, %11 : f32
    %14 = arith.addf %s, %13 : f32
    lift.yield %14 : f32
  }
  %15 = tensor.from_elements %2 : tensor<f32>
  func.return %15 : tensor<f32>
}

// `x = x >> transpose >> transpose`, for an array of arrays.
// CHECK-LABEL: func.func @add_transposes(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: func.return
func.func @add_transposes(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
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

// `x = x >> split(n) >> join`, where `n` divides the size.
// CHECK-LABEL: func.func @add_split_join(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.split(2)
// CHECK-NEXT: lift.join
// CHECK-NEXT: func.return
func.func @add_split_join(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    lift.yield %2 : f32
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `x = x >> join >> split(n)`, for an array of arrays of size `n`.
// CHECK-LABEL: func.func @add_join_split(
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
func.func @add_join_split(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
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

// `x = x >> as_vector(w) >> as_scalar`, where `w` divides the size.
// CHECK-LABEL: func.func @add_vectors(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.as_vector(2)
// CHECK-NEXT: lift.as_scalar
// CHECK-NEXT: func.return
func.func @add_vectors(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    lift.yield %2 : f32
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `x = x >> gather(i) >> scatter(i)`, where `i` takes every `s`-th element first.
// CHECK-LABEL: func.func @add_reorder(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.gather(i -> 4*(i mod ((4*N) floordiv 4)) + (i floordiv ((4*N) floordiv 4)))
// CHECK-NEXT: lift.scatter(i -> 4*(i mod ((4*N) floordiv 4)) + (i floordiv ((4*N) floordiv 4)))
// CHECK-NEXT: func.return
func.func @add_reorder(%x: tensor<?xf32, #lift.sizes<4*N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<4*N>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<4*N>>) -> tensor<?xf32, #lift.sizes<4*N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    lift.yield %2 : f32
  }
  func.return %0 : tensor<?xf32, #lift.sizes<4*N>>
}

// `to_local >> to_local = to_local`, and so for each memory.
// CHECK-LABEL: func.func @kept_twice(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.to_global
// CHECK-NEXT: func.return
func.func @kept_twice(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    lift.yield %2 : f32
  }
  %3 = lift.to_global %0 : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>>
  %4 = lift.to_global %3 : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>>
  func.return %4 : tensor<?xf32, #lift.sizes<N>>
}
