// Written by generate.py, which stands beside this file.
// RUN: tile-opt %s -p 'lift-rewrite{function=map_map_interchange rule=map_map_interchange},lift-rewrite{function=transpose_both_sides rule=transpose_both_sides},lift-rewrite{function=map_map_transpose_zip_outside rule=map_map_transpose_zip_outside},lift-rewrite{function=map_map_transpose_zip_inside rule=map_map_transpose_zip_inside},lift-rewrite{function=map_reduce_interchange rule=map_reduce_interchange},lift-rewrite{function=map_reduce_interchange_zip rule=map_reduce_interchange_zip},lift-rewrite{function=map_reduce_partial_reduce rule=map_reduce_partial_reduce},lift-rewrite{function=reduce_map_interchange rule=reduce_map_interchange},lift-rewrite{function=map_zip_reduce_interchange rule=map_zip_reduce_interchange}' | filecheck %s

// `x >> map(a ⇒ y >> map(b ⇒ f(a, b))) = y >> map(b ⇒ x >> map(a ⇒ f(a, b))) >> transpose`.
// CHECK-LABEL: func.func @map_map_interchange(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: func.return
func.func @map_map_interchange(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<M>> {tile.name = "y"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %1 = lift.map(%b in %y) : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %2 = arith.addf %a, %b : f32
      lift.yield %2 : f32
    }
    lift.yield %1 : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %0 : tensor<?x?xf32, #lift.sizes<N, M>>
}

// `map(map(f)) = transpose >> map(map(f)) >> transpose`.
// CHECK-LABEL: func.func @transpose_both_sides(
// CHECK-NEXT: lift.transpose
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
func.func @transpose_both_sides(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
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

// `zip(x, y) >> map((a, b) ⇒ a >> map(c ⇒ f(b, c)))` with the two maps exchanged.
//
// It is `x >> transpose >> map(a ⇒ zip(a, y) >> map((c, b) ⇒ f(b, c))) >> transpose`.
// CHECK-LABEL: func.func @map_map_transpose_zip_outside(
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.zip
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.get(0)
// CHECK-NEXT:     lift.get(1)
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: func.return
func.func @map_map_transpose_zip_outside(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<N>> {tile.name = "y"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.zip %x, %y : (tensor<?x?xf32, #lift.sizes<N, M>>, tensor<?xf32, #lift.sizes<N>>) -> tensor<?xtuple<tensor<?xf32, #lift.sizes<M>>, f32>, #lift.sizes<N>>
  %1 = lift.map(%2 in %0) : (tensor<?xtuple<tensor<?xf32, #lift.sizes<M>>, f32>, #lift.sizes<N>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %a = lift.get(0) %2 : (tuple<tensor<?xf32, #lift.sizes<M>>, f32>) -> tensor<?xf32, #lift.sizes<M>>
    %b = lift.get(1) %2 : (tuple<tensor<?xf32, #lift.sizes<M>>, f32>) -> f32
    %3 = lift.map(%c in %a) : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %4 = arith.addf %c, %b : f32
      lift.yield %4 : f32
    }
    lift.yield %3 : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %1 : tensor<?x?xf32, #lift.sizes<N, M>>
}

// `x >> map(a ⇒ zip(g(a), y) >> map(f))` with the two maps exchanged.
//
// It is `zip(x >> map(g) >> transpose, y) >> map((a, b) ⇒ a >> map(c ⇒ f(c, b))) >> transpose`.
// CHECK-LABEL: func.func @map_map_transpose_zip_inside(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.zip
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   lift.get(1)
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: func.return
func.func @map_map_transpose_zip_inside(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<M>> {tile.name = "y"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %1 = lift.map(%a_1 in %a) : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %2 = arith.constant 1.000000e+00 : f32
      %3 = arith.addf %a_1, %2 : f32
      lift.yield %3 : f32
    }
    %4 = lift.zip %1, %y : (tensor<?xf32, #lift.sizes<M>>, tensor<?xf32, #lift.sizes<M>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<M>>
    %5 = lift.map(%6 in %4) : (tensor<?xtuple<f32, f32>, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %a_2 = lift.get(0) %6 : (tuple<f32, f32>) -> f32
      %b = lift.get(1) %6 : (tuple<f32, f32>) -> f32
      %7 = arith.addf %a_2, %b : f32
      lift.yield %7 : f32
    }
    lift.yield %5 : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %0 : tensor<?x?xf32, #lift.sizes<N, M>>
}

// `map(reduce(f, e)) = transpose >> reduce((s, y) ⇒ zip(s, y) >> map(f), [e, …])`.
//
// The initial value of the reduction may depend on the outer element.
// CHECK-LABEL: func.func @map_reduce_interchange(
// CHECK-NEXT: lift.generate(
// CHECK-NEXT:   arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.reduce_seq(
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
func.func @map_reduce_interchange(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = lift.size(0) : () -> index
    %2 = lift.at %a, %1 : (tensor<?xf32, #lift.sizes<M>>, index) -> f32
    %3 = arith.constant 0.000000e+00 : f32
    %4 = lift.reduce_seq(%a_1 from %3, %b in %a) : (f32, tensor<?xf32, #lift.sizes<M>>) -> f32 {
      %5 = arith.addf %a_1, %b : f32
      lift.yield %5 : f32
    }
    lift.yield %4 : f32
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `zip(d, y) >> map((s, a) ⇒ a >> reduce(f, s))` as a reduction of arrays that starts from `d`.
//
// It is `y >> transpose >> reduce((s, a) ⇒ zip(s, a) >> map(f), d)`.
// CHECK-LABEL: func.func @map_reduce_interchange_zip(
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.reduce_seq(
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
func.func @map_reduce_interchange_zip(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}, %y: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "y"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.zip %x, %y : (tensor<?xf32, #lift.sizes<N>>, tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?xtuple<f32, tensor<?xf32, #lift.sizes<M>>>, #lift.sizes<N>>
  %1 = lift.map(%2 in %0) : (tensor<?xtuple<f32, tensor<?xf32, #lift.sizes<M>>>, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %s = lift.get(0) %2 : (tuple<f32, tensor<?xf32, #lift.sizes<M>>>) -> f32
    %a = lift.get(1) %2 : (tuple<f32, tensor<?xf32, #lift.sizes<M>>>) -> tensor<?xf32, #lift.sizes<M>>
    %3 = lift.reduce_seq(%a_1 from %s, %b in %a) : (f32, tensor<?xf32, #lift.sizes<M>>) -> f32 {
      %4 = arith.addf %a_1, %b : f32
      lift.yield %4 : f32
    }
    lift.yield %3 : f32
  }
  func.return %1 : tensor<?xf32, #lift.sizes<N>>
}

// `map(map(reduce(f, e)) >> reduce(f, e))` as a reduction of arrays, a part of each at a time.
//
// It is `transpose >> reduce_seq((s, y) ⇒ zip(s, y) >> map((s, a) ⇒ a >> reduce(f, s)), [e, …])`.
// CHECK-LABEL: func.func @map_reduce_partial_reduce(
// CHECK-NEXT: lift.generate(
// CHECK-NEXT:   arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.reduce_seq(
// CHECK-NEXT:   lift.zip
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.get(0)
// CHECK-NEXT:     lift.get(1)
// CHECK-NEXT:     lift.reduce(
// CHECK-NEXT:       arith.addf
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_reduce_partial_reduce(%x: tensor<?x?x?xf32, #lift.sizes<N, M, K>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
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

// `reduce((s, y) ⇒ zip(s, y) >> map(f), e)` as reductions of numbers.
//
// It is `zip(e, x >> transpose) >> map((s, y) ⇒ y >> reduce(f, s))`.
// CHECK-LABEL: func.func @reduce_map_interchange(
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.zip
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   lift.get(1)
// CHECK-NEXT:   lift.reduce_seq(
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @reduce_map_interchange(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<M>> {tile.name = "y"}) -> (tensor<?xf32, #lift.sizes<M>> {tile.name = "out"}) {
  %0 = lift.reduce_seq(%s from %y, %a in %x) : (tensor<?xf32, #lift.sizes<M>>, tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?xf32, #lift.sizes<M>> {
    %1 = lift.zip %s, %a : (tensor<?xf32, #lift.sizes<M>>, tensor<?xf32, #lift.sizes<M>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<M>>
    %2 = lift.map(%3 in %1) : (tensor<?xtuple<f32, f32>, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %a_1 = lift.get(0) %3 : (tuple<f32, f32>) -> f32
      %b = lift.get(1) %3 : (tuple<f32, f32>) -> f32
      %4 = arith.addf %a_1, %b : f32
      lift.yield %4 : f32
    }
    lift.yield %2 : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %0 : tensor<?xf32, #lift.sizes<M>>
}

// `x >> map(a ⇒ zip(a, y) >> reduce(f, e))` as a reduction of arrays.
//
// It is `zip(x >> transpose, y) >> reduce((s, (c, q)) ⇒ zip(s, c) >> map((s, p) ⇒ f(s, (p, q))),
// [e, …])`. The initial value of the reduction may depend on `a`.
// CHECK-LABEL: func.func @map_zip_reduce_interchange(
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.generate(
// CHECK-NEXT:   arith.constant 0.000000e+00 : f32
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
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_zip_reduce_interchange(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<M>> {tile.name = "y"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = lift.zip %a, %y : (tensor<?xf32, #lift.sizes<M>>, tensor<?xf32, #lift.sizes<M>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<M>>
    %2 = lift.size(1) : () -> index
    %3 = lift.at %a, %2 : (tensor<?xf32, #lift.sizes<M>>, index) -> f32
    %4 = arith.constant 0.000000e+00 : f32
    %5 = lift.reduce_seq(%s from %4, %t in %1) : (f32, tensor<?xtuple<f32, f32>, #lift.sizes<M>>) -> f32 {
      %6 = lift.get(0) %t : (tuple<f32, f32>) -> f32
      %7 = lift.get(1) %t : (tuple<f32, f32>) -> f32
      %8 = arith.addf %6, %7 : f32
      %9 = arith.addf %s, %8 : f32
      lift.yield %9 : f32
    }
    lift.yield %5 : f32
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}
