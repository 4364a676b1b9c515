// Written by generate.py, which stands beside this file.
// RUN: tile-opt %s -p 'lift-rewrite{function=join_past_map rule=join_past_map},lift-rewrite{function=map_past_join rule=map_past_join},lift-rewrite{function=map_past_split rule=map_past_split},lift-rewrite{function=split_past_map rule=split_past_map},lift-rewrite{function=map_past_slide rule=map_past_slide},lift-rewrite{function=slide_past_map rule=slide_past_map},lift-rewrite{function=map_past_transpose rule=map_past_transpose},lift-rewrite{function=transpose_past_map rule=transpose_past_map},lift-rewrite{function=map_past_pad rule=map_past_pad},lift-rewrite{function=pad_past_map rule=pad_past_map},lift-rewrite{function=map_past_slice rule=map_past_slice},lift-rewrite{function=map_past_gather rule=map_past_gather},lift-rewrite{function=gather_past_map rule=gather_past_map},lift-rewrite{function=map_past_scatter rule=map_past_scatter},lift-rewrite{function=scatter_past_map rule=scatter_past_map},lift-rewrite{function=reorder_both_sides rule=reorder_both_sides sizes="s=4"},lift-rewrite{function=concat_past_map rule=concat_past_map},lift-rewrite{function=transpose_map_split rule=transpose_map_split},lift-rewrite{function=split_map_transpose rule=split_map_transpose},lift-rewrite{function=map_split_transpose rule=map_split_transpose},lift-rewrite{function=transpose_split rule=transpose_split},lift-rewrite{function=three_transposes rule=three_transposes},lift-rewrite{function=map_join_transpose rule=map_join_transpose},lift-rewrite{function=join_transpose rule=join_transpose},lift-rewrite{function=map_join_join rule=map_join_join},lift-rewrite{function=join_join rule=join_join},lift-rewrite{function=split_split rule=split_split},lift-rewrite{function=transpose_map_slide rule=transpose_map_slide},lift-rewrite{function=map_slide_transpose rule=map_slide_transpose},lift-rewrite{function=transpose_slide rule=transpose_slide},lift-rewrite{function=gather_transpose rule=gather_transpose},lift-rewrite{function=scatter_transpose rule=scatter_transpose},lift-rewrite{function=transposes_gather rule=transposes_gather},lift-rewrite{function=zip_past_split rule=zip_past_split},lift-rewrite{function=join_past_zip rule=join_past_zip},lift-rewrite{function=slide_past_zip rule=slide_past_zip},lift-rewrite{function=search_linear rule=search_linear},lift-rewrite{function=search_binary rule=search_binary}' | filecheck %s

// `join >> map(f) = map(map(f)) >> join`.
// CHECK-LABEL: func.func @join_past_map(
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
func.func @join_past_map(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<M*N>> {tile.name = "out"}) {
  %0 = lift.join %x : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?xf32, #lift.sizes<M*N>>
  %1 = lift.map(%a in %0) : (tensor<?xf32, #lift.sizes<M*N>>) -> tensor<?xf32, #lift.sizes<M*N>> {
    %2 = arith.constant 1.000000e+00 : f32
    %3 = arith.addf %a, %2 : f32
    lift.yield %3 : f32
  }
  func.return %1 : tensor<?xf32, #lift.sizes<M*N>>
}

// `map(map(f)) >> join = join >> map(f)`.
// CHECK-LABEL: func.func @map_past_join(
// CHECK-NEXT: lift.join
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_past_join(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<M*N>> {tile.name = "out"}) {
  %0 = lift.map(%1 in %x) : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %2 = lift.map(%a in %1) : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %3 = arith.constant 1.000000e+00 : f32
      %4 = arith.addf %a, %3 : f32
      lift.yield %4 : f32
    }
    lift.yield %2 : tensor<?xf32, #lift.sizes<M>>
  }
  %5 = lift.join %0 : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?xf32, #lift.sizes<M*N>>
  func.return %5 : tensor<?xf32, #lift.sizes<M*N>>
}

// `map(f) >> split(n) = split(n) >> map(map(f))`.
// CHECK-LABEL: func.func @map_past_split(
// CHECK-NEXT: lift.split(4)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_past_split(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?x4xf32, #lift.sizes<N / 4>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    lift.yield %2 : f32
  }
  %3 = lift.split(4) %0 : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x4xf32, #lift.sizes<N / 4>>
  func.return %3 : tensor<?x4xf32, #lift.sizes<N / 4>>
}

// `split(n) >> map(map(f)) = map(f) >> split(n)`.
// CHECK-LABEL: func.func @split_past_map(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.split(4)
// CHECK-NEXT: func.return
func.func @split_past_map(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?x4xf32, #lift.sizes<N / 4>> {tile.name = "out"}) {
  %0 = lift.split(4) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x4xf32, #lift.sizes<N / 4>>
  %1 = lift.map(%2 in %0) : (tensor<?x4xf32, #lift.sizes<N / 4>>) -> tensor<?x4xf32, #lift.sizes<N / 4>> {
    %3 = lift.map(%a in %2) : (tensor<4xf32>) -> tensor<4xf32> {
      %4 = arith.constant 1.000000e+00 : f32
      %5 = arith.addf %a, %4 : f32
      lift.yield %5 : f32
    }
    lift.yield %3 : tensor<4xf32>
  }
  func.return %1 : tensor<?x4xf32, #lift.sizes<N / 4>>
}

// `map(f) >> slide(n, s) = slide(n, s) >> map(map(f))`.
// CHECK-LABEL: func.func @map_past_slide(
// CHECK-NEXT: lift.slide(3, 1)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_past_slide(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?x3xf32, #lift.sizes<N - 2>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    lift.yield %2 : f32
  }
  %3 = lift.slide(3, 1) %0 : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x3xf32, #lift.sizes<N - 2>>
  func.return %3 : tensor<?x3xf32, #lift.sizes<N - 2>>
}

// `slide(n, s) >> map(map(f)) = map(f) >> slide(n, s)`.
// CHECK-LABEL: func.func @slide_past_map(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.slide(4, 2)
// CHECK-NEXT: func.return
func.func @slide_past_map(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?x4xf32, #lift.sizes<(N - 2) / 2>> {tile.name = "out"}) {
  %0 = lift.slide(4, 2) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x4xf32, #lift.sizes<(N - 2) / 2>>
  %1 = lift.map(%2 in %0) : (tensor<?x4xf32, #lift.sizes<(N - 2) / 2>>) -> tensor<?x4xf32, #lift.sizes<(N - 2) / 2>> {
    %3 = lift.map(%a in %2) : (tensor<4xf32>) -> tensor<4xf32> {
      %4 = arith.constant 1.000000e+00 : f32
      %5 = arith.addf %a, %4 : f32
      lift.yield %5 : f32
    }
    lift.yield %3 : tensor<4xf32>
  }
  func.return %1 : tensor<?x4xf32, #lift.sizes<(N - 2) / 2>>
}

// `map(map(f)) >> transpose = transpose >> map(map(f))`.
// CHECK-LABEL: func.func @map_past_transpose(
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_past_transpose(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?xf32, #lift.sizes<M, N>> {tile.name = "out"}) {
  %0 = lift.map(%1 in %x) : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %2 = lift.map(%a in %1) : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %3 = arith.constant 1.000000e+00 : f32
      %4 = arith.addf %a, %3 : f32
      lift.yield %4 : f32
    }
    lift.yield %2 : tensor<?xf32, #lift.sizes<M>>
  }
  %5 = lift.transpose %0 : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<M, N>>
  func.return %5 : tensor<?x?xf32, #lift.sizes<M, N>>
}

// `transpose >> map(map(f)) = map(map(f)) >> transpose`.
// CHECK-LABEL: func.func @transpose_past_map(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: func.return
func.func @transpose_past_map(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?xf32, #lift.sizes<M, N>> {tile.name = "out"}) {
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

// `map(f) >> pad(l, r, b) = pad(l, r, b) >> map(f)`.
// CHECK-LABEL: func.func @map_past_pad(
// CHECK-NEXT: lift.pad(1, 2, clamp)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_past_pad(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N + 3>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    lift.yield %2 : f32
  }
  %3 = lift.pad(1, 2, clamp) %0 : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N + 3>>
  func.return %3 : tensor<?xf32, #lift.sizes<N + 3>>
}

// `pad(l, r, b) >> map(f) = map(f) >> pad(l, r, b)`.
// CHECK-LABEL: func.func @pad_past_map(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.pad(2, 1, clamp)
// CHECK-NEXT: func.return
func.func @pad_past_map(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N + 3>> {tile.name = "out"}) {
  %0 = lift.pad(2, 1, clamp) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N + 3>>
  %1 = lift.map(%a in %0) : (tensor<?xf32, #lift.sizes<N + 3>>) -> tensor<?xf32, #lift.sizes<N + 3>> {
    %2 = arith.constant 1.000000e+00 : f32
    %3 = arith.addf %a, %2 : f32
    lift.yield %3 : f32
  }
  func.return %1 : tensor<?xf32, #lift.sizes<N + 3>>
}

// `map(f) >> slice(a, b) = slice(a, b) >> map(f)`.
// CHECK-LABEL: func.func @map_past_slice(
// CHECK-NEXT: lift.slice(1, 3)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_past_slice(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<2x?xf32, #lift.sizes<M>> {tile.name = "out"}) {
  %0 = lift.map(%1 in %x) : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %2 = lift.map(%a in %1) : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %3 = arith.constant 1.000000e+00 : f32
      %4 = arith.addf %a, %3 : f32
      lift.yield %4 : f32
    }
    lift.yield %2 : tensor<?xf32, #lift.sizes<M>>
  }
  %5 = lift.slice(1, 3) %0 : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<2x?xf32, #lift.sizes<M>>
  func.return %5 : tensor<2x?xf32, #lift.sizes<M>>
}

// `map(f) >> gather(i) = gather(i) >> map(f)`.
// CHECK-LABEL: func.func @map_past_gather(
// CHECK-NEXT: lift.gather(i -> N - i - 1)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_past_gather(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    lift.yield %2 : f32
  }
  %3 = lift.gather(i -> N - i - 1) %0 : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>>
  func.return %3 : tensor<?xf32, #lift.sizes<N>>
}

// `gather(i) >> map(f) = map(f) >> gather(i)`.
// CHECK-LABEL: func.func @gather_past_map(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.gather(i -> N - i - 1)
// CHECK-NEXT: func.return
func.func @gather_past_map(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.gather(i -> N - i - 1) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>>
  %1 = lift.map(%a in %0) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %2 = arith.constant 1.000000e+00 : f32
    %3 = arith.addf %a, %2 : f32
    lift.yield %3 : f32
  }
  func.return %1 : tensor<?xf32, #lift.sizes<N>>
}

// `map(f) >> scatter(i) = scatter(i) >> map(f)`.
// CHECK-LABEL: func.func @map_past_scatter(
// CHECK-NEXT: lift.scatter(i -> N - i - 1)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_past_scatter(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    lift.yield %2 : f32
  }
  %3 = lift.scatter(i -> N - i - 1) %0 : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>>
  func.return %3 : tensor<?xf32, #lift.sizes<N>>
}

// `scatter(i) >> map(f) = map(f) >> scatter(i)`.
// CHECK-LABEL: func.func @scatter_past_map(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.scatter(i -> N - i - 1)
// CHECK-NEXT: func.return
func.func @scatter_past_map(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.scatter(i -> N - i - 1) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>>
  %1 = lift.map(%a in %0) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %2 = arith.constant 1.000000e+00 : f32
    %3 = arith.addf %a, %2 : f32
    lift.yield %3 : f32
  }
  func.return %1 : tensor<?xf32, #lift.sizes<N>>
}

// `map(f) = gather(i) >> map(f) >> scatter(i)`, where `i` takes every `s`-th element first.
// CHECK-LABEL: func.func @reorder_both_sides(
// CHECK-NEXT: lift.gather(i -> 4*(i mod ((4*N) floordiv 4)) + (i floordiv ((4*N) floordiv 4)))
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.scatter(i -> 4*(i mod ((4*N) floordiv 4)) + (i floordiv ((4*N) floordiv 4)))
// CHECK-NEXT: func.return
func.func @reorder_both_sides(%x: tensor<?xf32, #lift.sizes<4*N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<4*N>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<4*N>>) -> tensor<?xf32, #lift.sizes<4*N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    lift.yield %2 : f32
  }
  func.return %0 : tensor<?xf32, #lift.sizes<4*N>>
}

// `concat(x, y) >> map(f) = concat(x >> map(f), y >> map(f))`.
// CHECK-LABEL: func.func @concat_past_map(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.concat
// CHECK-NEXT: func.return
func.func @concat_past_map(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<M>> {tile.name = "y"}) -> (tensor<?xf32, #lift.sizes<M + N>> {tile.name = "out"}) {
  %0 = lift.concat %x, %y : (tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M + N>>
  %1 = lift.map(%a in %0) : (tensor<?xf32, #lift.sizes<M + N>>) -> tensor<?xf32, #lift.sizes<M + N>> {
    %2 = arith.constant 1.000000e+00 : f32
    %3 = arith.addf %a, %2 : f32
    lift.yield %3 : f32
  }
  func.return %1 : tensor<?xf32, #lift.sizes<M + N>>
}

// `transpose >> map(split(n)) = split(n) >> map(transpose) >> transpose`.
// CHECK-LABEL: func.func @transpose_map_split(
// CHECK-NEXT: lift.split(4)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: func.return
func.func @transpose_map_split(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?x4xf32, #lift.sizes<M, N / 4>> {tile.name = "out"}) {
  %0 = lift.transpose %x : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<M, N>>
  %1 = lift.map(%2 in %0) : (tensor<?x?xf32, #lift.sizes<M, N>>) -> tensor<?x?x4xf32, #lift.sizes<M, N / 4>> {
    %3 = lift.split(4) %2 : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x4xf32, #lift.sizes<N / 4>>
    lift.yield %3 : tensor<?x4xf32, #lift.sizes<N / 4>>
  }
  func.return %1 : tensor<?x?x4xf32, #lift.sizes<M, N / 4>>
}

// `split(n) >> map(transpose) = transpose >> map(split(n)) >> transpose`.
// CHECK-LABEL: func.func @split_map_transpose(
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.split(4)
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: func.return
func.func @split_map_transpose(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?x4xf32, #lift.sizes<N / 4, M>> {tile.name = "out"}) {
  %0 = lift.split(4) %x : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x4x?xf32, #lift.sizes<N / 4, M>>
  %1 = lift.map(%2 in %0) : (tensor<?x4x?xf32, #lift.sizes<N / 4, M>>) -> tensor<?x?x4xf32, #lift.sizes<N / 4, M>> {
    %3 = lift.transpose %2 : (tensor<4x?xf32, #lift.sizes<M>>) -> tensor<?x4xf32, #lift.sizes<M>>
    lift.yield %3 : tensor<?x4xf32, #lift.sizes<M>>
  }
  func.return %1 : tensor<?x?x4xf32, #lift.sizes<N / 4, M>>
}

// `map(split(n)) >> transpose = transpose >> split(n) >> map(transpose)`.
// CHECK-LABEL: func.func @map_split_transpose(
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.split(2)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_split_transpose(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?x2xf32, #lift.sizes<M / 2, N>> {tile.name = "out"}) {
  %0 = lift.map(%1 in %x) : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?x2xf32, #lift.sizes<N, M / 2>> {
    %2 = lift.split(2) %1 : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?x2xf32, #lift.sizes<M / 2>>
    lift.yield %2 : tensor<?x2xf32, #lift.sizes<M / 2>>
  }
  %3 = lift.transpose %0 : (tensor<?x?x2xf32, #lift.sizes<N, M / 2>>) -> tensor<?x?x2xf32, #lift.sizes<M / 2, N>>
  func.return %3 : tensor<?x?x2xf32, #lift.sizes<M / 2, N>>
}

// `transpose >> split(n) = map(split(n)) >> transpose >> map(transpose)`.
// CHECK-LABEL: func.func @transpose_split(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.split(2)
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @transpose_split(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x2x?xf32, #lift.sizes<M / 2, N>> {tile.name = "out"}) {
  %0 = lift.transpose %x : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<M, N>>
  %1 = lift.split(2) %0 : (tensor<?x?xf32, #lift.sizes<M, N>>) -> tensor<?x2x?xf32, #lift.sizes<M / 2, N>>
  func.return %1 : tensor<?x2x?xf32, #lift.sizes<M / 2, N>>
}

// `map(transpose) >> transpose >> map(transpose)` exchanges the first and the third axis.
//
// It is `transpose >> map(transpose) >> transpose`.
// CHECK-LABEL: func.func @three_transposes(
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: func.return
func.func @three_transposes(%x: tensor<?x?x?xf32, #lift.sizes<N, M, K>> {tile.name = "x"}) -> (tensor<?x?x?xf32, #lift.sizes<K, M, N>> {tile.name = "out"}) {
  %0 = lift.map(%1 in %x) : (tensor<?x?x?xf32, #lift.sizes<N, M, K>>) -> tensor<?x?x?xf32, #lift.sizes<N, K, M>> {
    %2 = lift.transpose %1 : (tensor<?x?xf32, #lift.sizes<M, K>>) -> tensor<?x?xf32, #lift.sizes<K, M>>
    lift.yield %2 : tensor<?x?xf32, #lift.sizes<K, M>>
  }
  %3 = lift.transpose %0 : (tensor<?x?x?xf32, #lift.sizes<N, K, M>>) -> tensor<?x?x?xf32, #lift.sizes<K, N, M>>
  %4 = lift.map(%5 in %3) : (tensor<?x?x?xf32, #lift.sizes<K, N, M>>) -> tensor<?x?x?xf32, #lift.sizes<K, M, N>> {
    %6 = lift.transpose %5 : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<M, N>>
    lift.yield %6 : tensor<?x?xf32, #lift.sizes<M, N>>
  }
  func.return %4 : tensor<?x?x?xf32, #lift.sizes<K, M, N>>
}

// `map(join) >> transpose = transpose >> map(transpose) >> join`.
// CHECK-LABEL: func.func @map_join_transpose(
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.join
// CHECK-NEXT: func.return
func.func @map_join_transpose(%x: tensor<?x?x?xf32, #lift.sizes<N, M, K>> {tile.name = "x"}) -> (tensor<?x?xf32, #lift.sizes<K*M, N>> {tile.name = "out"}) {
  %0 = lift.map(%1 in %x) : (tensor<?x?x?xf32, #lift.sizes<N, M, K>>) -> tensor<?x?xf32, #lift.sizes<N, K*M>> {
    %2 = lift.join %1 : (tensor<?x?xf32, #lift.sizes<M, K>>) -> tensor<?xf32, #lift.sizes<K*M>>
    lift.yield %2 : tensor<?xf32, #lift.sizes<K*M>>
  }
  %3 = lift.transpose %0 : (tensor<?x?xf32, #lift.sizes<N, K*M>>) -> tensor<?x?xf32, #lift.sizes<K*M, N>>
  func.return %3 : tensor<?x?xf32, #lift.sizes<K*M, N>>
}

// `join >> transpose = map(transpose) >> transpose >> map(join)`.
// CHECK-LABEL: func.func @join_transpose(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.join
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @join_transpose(%x: tensor<?x?x?xf32, #lift.sizes<N, M, K>> {tile.name = "x"}) -> (tensor<?x?xf32, #lift.sizes<K, M*N>> {tile.name = "out"}) {
  %0 = lift.join %x : (tensor<?x?x?xf32, #lift.sizes<N, M, K>>) -> tensor<?x?xf32, #lift.sizes<M*N, K>>
  %1 = lift.transpose %0 : (tensor<?x?xf32, #lift.sizes<M*N, K>>) -> tensor<?x?xf32, #lift.sizes<K, M*N>>
  func.return %1 : tensor<?x?xf32, #lift.sizes<K, M*N>>
}

// `map(join) >> join = join >> join`.
// CHECK-LABEL: func.func @map_join_join(
// CHECK-NEXT: lift.join
// CHECK-NEXT: lift.join
// CHECK-NEXT: func.return
func.func @map_join_join(%x: tensor<?x?x?xf32, #lift.sizes<N, M, K>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<K*M*N>> {tile.name = "out"}) {
  %0 = lift.map(%1 in %x) : (tensor<?x?x?xf32, #lift.sizes<N, M, K>>) -> tensor<?x?xf32, #lift.sizes<N, K*M>> {
    %2 = lift.join %1 : (tensor<?x?xf32, #lift.sizes<M, K>>) -> tensor<?xf32, #lift.sizes<K*M>>
    lift.yield %2 : tensor<?xf32, #lift.sizes<K*M>>
  }
  %3 = lift.join %0 : (tensor<?x?xf32, #lift.sizes<N, K*M>>) -> tensor<?xf32, #lift.sizes<K*M*N>>
  func.return %3 : tensor<?xf32, #lift.sizes<K*M*N>>
}

// `join >> join = map(join) >> join`.
// CHECK-LABEL: func.func @join_join(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.join
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.join
// CHECK-NEXT: func.return
func.func @join_join(%x: tensor<?x?x?xf32, #lift.sizes<N, M, K>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<K*M*N>> {tile.name = "out"}) {
  %0 = lift.join %x : (tensor<?x?x?xf32, #lift.sizes<N, M, K>>) -> tensor<?x?xf32, #lift.sizes<M*N, K>>
  %1 = lift.join %0 : (tensor<?x?xf32, #lift.sizes<M*N, K>>) -> tensor<?xf32, #lift.sizes<K*M*N>>
  func.return %1 : tensor<?xf32, #lift.sizes<K*M*N>>
}

// `split(n) >> split(m) = split(n * m) >> map(split(n))`.
// CHECK-LABEL: func.func @split_split(
// CHECK-NEXT: lift.split(4)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.split(2)
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @split_split(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?x2x2xf32, #lift.sizes<N / 4>> {tile.name = "out"}) {
  %0 = lift.split(2) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x2xf32, #lift.sizes<N / 2>>
  %1 = lift.split(2) %0 : (tensor<?x2xf32, #lift.sizes<N / 2>>) -> tensor<?x2x2xf32, #lift.sizes<N / 4>>
  func.return %1 : tensor<?x2x2xf32, #lift.sizes<N / 4>>
}

// `transpose >> map(slide(n, s)) = slide(n, s) >> map(transpose) >> transpose`.
// CHECK-LABEL: func.func @transpose_map_slide(
// CHECK-NEXT: lift.slide(3, 1)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: func.return
func.func @transpose_map_slide(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?x3xf32, #lift.sizes<M, N - 2>> {tile.name = "out"}) {
  %0 = lift.transpose %x : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<M, N>>
  %1 = lift.map(%2 in %0) : (tensor<?x?xf32, #lift.sizes<M, N>>) -> tensor<?x?x3xf32, #lift.sizes<M, N - 2>> {
    %3 = lift.slide(3, 1) %2 : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x3xf32, #lift.sizes<N - 2>>
    lift.yield %3 : tensor<?x3xf32, #lift.sizes<N - 2>>
  }
  func.return %1 : tensor<?x?x3xf32, #lift.sizes<M, N - 2>>
}

// `map(slide(n, s)) >> transpose = transpose >> slide(n, s) >> map(transpose)`.
// CHECK-LABEL: func.func @map_slide_transpose(
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.slide(4, 2)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_slide_transpose(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?x4xf32, #lift.sizes<(M - 2) / 2, N>> {tile.name = "out"}) {
  %0 = lift.map(%1 in %x) : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?x4xf32, #lift.sizes<N, (M - 2) / 2>> {
    %2 = lift.slide(4, 2) %1 : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?x4xf32, #lift.sizes<(M - 2) / 2>>
    lift.yield %2 : tensor<?x4xf32, #lift.sizes<(M - 2) / 2>>
  }
  %3 = lift.transpose %0 : (tensor<?x?x4xf32, #lift.sizes<N, (M - 2) / 2>>) -> tensor<?x?x4xf32, #lift.sizes<(M - 2) / 2, N>>
  func.return %3 : tensor<?x?x4xf32, #lift.sizes<(M - 2) / 2, N>>
}

// `transpose >> slide(n, s) = map(slide(n, s)) >> transpose >> map(transpose)`.
// CHECK-LABEL: func.func @transpose_slide(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.slide(3, 1)
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @transpose_slide(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x3x?xf32, #lift.sizes<M - 2, N>> {tile.name = "out"}) {
  %0 = lift.transpose %x : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<M, N>>
  %1 = lift.slide(3, 1) %0 : (tensor<?x?xf32, #lift.sizes<M, N>>) -> tensor<?x3x?xf32, #lift.sizes<M - 2, N>>
  func.return %1 : tensor<?x3x?xf32, #lift.sizes<M - 2, N>>
}

// `gather(i) >> transpose = transpose >> map(gather(i))`.
// CHECK-LABEL: func.func @gather_transpose(
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.gather(i -> N - i - 1)
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @gather_transpose(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?xf32, #lift.sizes<M, N>> {tile.name = "out"}) {
  %0 = lift.gather(i -> N - i - 1) %x : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N, M>>
  %1 = lift.transpose %0 : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<M, N>>
  func.return %1 : tensor<?x?xf32, #lift.sizes<M, N>>
}

// `scatter(i) >> transpose = transpose >> map(scatter(i))`.
// CHECK-LABEL: func.func @scatter_transpose(
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.scatter(i -> N - i - 1)
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @scatter_transpose(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?xf32, #lift.sizes<M, N>> {tile.name = "out"}) {
  %0 = lift.scatter(i -> N - i - 1) %x : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N, M>>
  %1 = lift.transpose %0 : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<M, N>>
  func.return %1 : tensor<?x?xf32, #lift.sizes<M, N>>
}

// `transpose >> map(transpose >> gather(i))`: the gather comes first.
//
// It is `map(map(gather(i))) >> transpose >> map(transpose)`.
// CHECK-LABEL: func.func @transposes_gather(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.gather(i -> K - i - 1)
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @transposes_gather(%x: tensor<?x?x?xf32, #lift.sizes<N, M, K>> {tile.name = "x"}) -> (tensor<?x?x?xf32, #lift.sizes<M, K, N>> {tile.name = "out"}) {
  %0 = lift.transpose %x : (tensor<?x?x?xf32, #lift.sizes<N, M, K>>) -> tensor<?x?x?xf32, #lift.sizes<M, N, K>>
  %1 = lift.map(%2 in %0) : (tensor<?x?x?xf32, #lift.sizes<M, N, K>>) -> tensor<?x?x?xf32, #lift.sizes<M, K, N>> {
    %3 = lift.transpose %2 : (tensor<?x?xf32, #lift.sizes<N, K>>) -> tensor<?x?xf32, #lift.sizes<K, N>>
    %4 = lift.gather(i -> K - i - 1) %3 : (tensor<?x?xf32, #lift.sizes<K, N>>) -> tensor<?x?xf32, #lift.sizes<K, N>>
    lift.yield %4 : tensor<?x?xf32, #lift.sizes<K, N>>
  }
  func.return %1 : tensor<?x?x?xf32, #lift.sizes<M, K, N>>
}

// `zip(x, y) >> split(n) = zip(x >> split(n), y >> split(n)) >> map(zip)`.
// CHECK-LABEL: func.func @zip_past_split(
// CHECK-NEXT: lift.split(4)
// CHECK-NEXT: lift.split(4)
// CHECK-NEXT: lift.zip
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   lift.get(1)
// CHECK-NEXT:   lift.zip
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.get(0)
// CHECK-NEXT:     lift.get(1)
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @zip_past_split(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<N>> {tile.name = "y"}) -> (tensor<?x4xf32, #lift.sizes<N / 4>> {tile.name = "out"}) {
  %0 = lift.zip %x, %y : (tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<N>>
  %1 = lift.split(4) %0 : (tensor<?xtuple<f32, f32>, #lift.sizes<N>>) -> tensor<?x4xtuple<f32, f32>, #lift.sizes<N / 4>>
  %2 = lift.map(%3 in %1) : (tensor<?x4xtuple<f32, f32>, #lift.sizes<N / 4>>) -> tensor<?x4xf32, #lift.sizes<N / 4>> {
    %4 = lift.map(%5 in %3) : (tensor<4xtuple<f32, f32>>) -> tensor<4xf32> {
      %a = lift.get(0) %5 : (tuple<f32, f32>) -> f32
      %b = lift.get(1) %5 : (tuple<f32, f32>) -> f32
      %6 = arith.addf %a, %b : f32
      lift.yield %6 : f32
    }
    lift.yield %4 : tensor<4xf32>
  }
  func.return %2 : tensor<?x4xf32, #lift.sizes<N / 4>>
}

// `zip(x >> join, y >> join) = zip(x, y) >> map(zip) >> join`, for pieces of the same size.
// CHECK-LABEL: func.func @join_past_zip(
// CHECK-NEXT: lift.zip
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   lift.get(1)
// CHECK-NEXT:   lift.zip
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.join
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   lift.get(1)
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @join_past_zip(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}, %y: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "y"}) -> (tensor<?xf32, #lift.sizes<M*N>> {tile.name = "out"}) {
  %0 = lift.join %x : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?xf32, #lift.sizes<M*N>>
  %1 = lift.join %y : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?xf32, #lift.sizes<M*N>>
  %2 = lift.zip %0, %1 : (tensor<?xf32, #lift.sizes<M*N>>, tensor<?xf32, #lift.sizes<M*N>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<M*N>>
  %3 = lift.map(%4 in %2) : (tensor<?xtuple<f32, f32>, #lift.sizes<M*N>>) -> tensor<?xf32, #lift.sizes<M*N>> {
    %a = lift.get(0) %4 : (tuple<f32, f32>) -> f32
    %b = lift.get(1) %4 : (tuple<f32, f32>) -> f32
    %5 = arith.addf %a, %b : f32
    lift.yield %5 : f32
  }
  func.return %3 : tensor<?xf32, #lift.sizes<M*N>>
}

// `zip(x >> slide(n, s), y >> slide(n, s)) = zip(x, y) >> slide(n, s) >> map(unzip)`.
// CHECK-LABEL: func.func @slide_past_zip(
// CHECK-NEXT: lift.zip
// CHECK-NEXT: lift.slide(3, 1)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.get(0)
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.get(1)
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.tuple
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   lift.get(1)
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
func.func @slide_past_zip(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<N>> {tile.name = "y"}) -> (tensor<?x3xf32, #lift.sizes<N - 2>> {tile.name = "out"}) {
  %0 = lift.slide(3, 1) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x3xf32, #lift.sizes<N - 2>>
  %1 = lift.slide(3, 1) %y : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x3xf32, #lift.sizes<N - 2>>
  %2 = lift.zip %0, %1 : (tensor<?x3xf32, #lift.sizes<N - 2>>, tensor<?x3xf32, #lift.sizes<N - 2>>) -> tensor<?xtuple<tensor<3xf32>, tensor<3xf32>>, #lift.sizes<N - 2>>
  %3 = lift.map(%4 in %2) : (tensor<?xtuple<tensor<3xf32>, tensor<3xf32>>, #lift.sizes<N - 2>>) -> tensor<?x3xf32, #lift.sizes<N - 2>> {
    %a = lift.get(0) %4 : (tuple<tensor<3xf32>, tensor<3xf32>>) -> tensor<3xf32>
    %b = lift.get(1) %4 : (tuple<tensor<3xf32>, tensor<3xf32>>) -> tensor<3xf32>
    %5 = lift.zip %a, %b : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xtuple<f32, f32>>
    %6 = lift.map(%7 in %5) : (tensor<3xtuple<f32, f32>>) -> tensor<3xf32> {
      %a_1 = lift.get(0) %7 : (tuple<f32, f32>) -> f32
      %b_1 = lift.get(1) %7 : (tuple<f32, f32>) -> f32
      %8 = arith.addf %a_1, %b_1 : f32
      lift.yield %8 : f32
    }
    lift.yield %6 : tensor<3xf32>
  }
  func.return %3 : tensor<?x3xf32, #lift.sizes<N - 2>>
}

// `search(f, binary) = search(f, linear)`, if the function gives 0 for one element at most.
// CHECK-LABEL: func.func @search_linear(
// CHECK-NEXT: lift.size(0) : () -> index
// CHECK-NEXT: lift.at
// CHECK-NEXT: arith.constant -1.000000e+00 : f32
// CHECK-NEXT: lift.search(linear)(
// CHECK-NEXT:   arith.constant 7.000000e+00 : f32
// CHECK-NEXT:   arith.subf
// CHECK-NEXT:   arith.fptosi
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: tensor.from_elements
// CHECK-NEXT: func.return
func.func @search_linear(%x: tensor<6x?xf32, #lift.sizes<K>> {tile.name = "x"}) -> (tensor<f32> {tile.name = "out"}) {
  %0 = lift.size(0) : () -> index
  %1 = lift.at %x, %0 : (tensor<6x?xf32, #lift.sizes<K>>, index) -> tensor<?xf32, #lift.sizes<K>>
  %2 = arith.constant -1.000000e+00 : f32
  %3 = lift.search(binary)(%a in %1 else %2) : (tensor<?xf32, #lift.sizes<K>>, f32) -> f32 {
    %4 = arith.constant 7.000000e+00 : f32
    %5 = arith.subf %4, %a : f32
    %6 = arith.fptosi %5 : f32 to i32
    lift.yield %6 : i32
  }
  %7 = tensor.from_elements %3 : tensor<f32>
  func.return %7 : tensor<f32>
}

// `search(f, linear) = search(f, binary)`, if the function gives 0 for one element at most.
// CHECK-LABEL: func.func @search_binary(
// CHECK-NEXT: lift.size(0) : () -> index
// CHECK-NEXT: lift.at
// CHECK-NEXT: arith.constant -1.000000e+00 : f32
// CHECK-NEXT: lift.search(binary)(
// CHECK-NEXT:   arith.constant 7.000000e+00 : f32
// CHECK-NEXT:   arith.subf
// CHECK-NEXT:   arith.fptosi
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: tensor.from_elements
// CHECK-NEXT: func.return
func.func @search_binary(%x: tensor<6x?xf32, #lift.sizes<K>> {tile.name = "x"}) -> (tensor<f32> {tile.name = "out"}) {
  %0 = lift.size(0) : () -> index
  %1 = lift.at %x, %0 : (tensor<6x?xf32, #lift.sizes<K>>, index) -> tensor<?xf32, #lift.sizes<K>>
  %2 = arith.constant -1.000000e+00 : f32
  %3 = lift.search(linear)(%a in %1 else %2) : (tensor<?xf32, #lift.sizes<K>>, f32) -> f32 {
    %4 = arith.constant 7.000000e+00 : f32
    %5 = arith.subf %4, %a : f32
    %6 = arith.fptosi %5 : f32 to i32
    lift.yield %6 : i32
  }
  %7 = tensor.from_elements %3 : tensor<f32>
  func.return %7 : tensor<f32>
}
