// Written by generate.py, which stands beside this file.
// RUN: tile-opt %s -p 'lift-rewrite{function=map_fusion rule=map_fusion},lift-rewrite{function=map_fission rule=map_fission},lift-rewrite{function=map_fission_zip rule=map_fission_zip},lift-rewrite{function=map_fission_in_zip rule=map_fission_in_zip},lift-rewrite{function=map_fission_with_zip rule=map_fission_with_zip},lift-rewrite{function=map_reduce_fission rule=map_reduce_fission},lift-rewrite{function=map_fusion_with_zip rule=map_fusion_with_zip},lift-rewrite{function=map_fusion_in_zip rule=map_fusion_in_zip},lift-rewrite{function=tuple_map rule=tuple_map},lift-rewrite{function=tuple_fission rule=tuple_fission},lift-rewrite{function=reduce_fusion rule=reduce_fusion},lift-rewrite{function=reduce_map_fusion rule=reduce_map_fusion},lift-rewrite{function=reduce_seq_map_fusion rule=reduce_seq_map_fusion},lift-rewrite{function=reduce_map_fission rule=reduce_map_fission},lift-rewrite{function=extract_from_map rule=extract_from_map},lift-rewrite{function=let_inlining rule=let_inlining}' | filecheck %s

// `map(g) >> map(f) = map(g >> f)`, for two maps by the same.
// CHECK-LABEL: func.func @map_fusion(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_fusion(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    lift.yield %2 : f32
  }
  %3 = lift.map(%a_1 in %0) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %4 = arith.constant 1.000000e+00 : f32
    %5 = arith.addf %a_1, %4 : f32
    lift.yield %5 : f32
  }
  func.return %3 : tensor<?xf32, #lift.sizes<N>>
}

// `map(g >> h) = map(g) >> map(h)`, where `h` is the last op, or the `last` ops.
// CHECK-LABEL: func.func @map_fission(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   math.absf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_fission(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    %3 = math.absf %2 : f32
    lift.yield %3 : f32
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `map(e ⇒ h(e, g(e))) = zip(x, x >> map(g)) >> map(h)`, where `h` is the `last` ops.
// CHECK-LABEL: func.func @map_fission_zip(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.zip
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.get(1)
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.zip
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.get(0)
// CHECK-NEXT:     lift.get(1)
// CHECK-NEXT:     lift.get(0)
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_fission_zip(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %1 = lift.map(%a_1 in %a) : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %2 = arith.constant 1.000000e+00 : f32
      %3 = arith.addf %a_1, %2 : f32
      lift.yield %3 : f32
    }
    %4 = lift.zip %a, %1 : (tensor<?xf32, #lift.sizes<M>>, tensor<?xf32, #lift.sizes<M>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<M>>
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

// `map(e ⇒ h(zip(…, g(e), …))) = map(g) >> map(y ⇒ h(zip(…, y, …)))`.
// CHECK-LABEL: func.func @map_fission_in_zip(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
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
// CHECK-NEXT: func.return
func.func @map_fission_in_zip(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<M>> {tile.name = "y"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %1 = lift.map(%a_1 in %a) : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %2 = arith.constant 1.000000e+00 : f32
      %3 = arith.addf %a_1, %2 : f32
      lift.yield %3 : f32
    }
    %4 = lift.zip %y, %1 : (tensor<?xf32, #lift.sizes<M>>, tensor<?xf32, #lift.sizes<M>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<M>>
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

// `zip(…, y, …) >> map((…, e, …) ⇒ h(…, g(e), …)) = zip(…, y >> map(g), …) >> map(h)`.
// CHECK-LABEL: func.func @map_fission_with_zip(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   math.absf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.zip
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.get(1)
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_fission_with_zip(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<N>> {tile.name = "y"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.zip %x, %y : (tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<N>>
  %1 = lift.map(%2 in %0) : (tensor<?xtuple<f32, f32>, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %a = lift.get(0) %2 : (tuple<f32, f32>) -> f32
    %b = lift.get(1) %2 : (tuple<f32, f32>) -> f32
    %3 = math.absf %b : f32
    %4 = arith.addf %a, %3 : f32
    lift.yield %4 : f32
  }
  func.return %1 : tensor<?xf32, #lift.sizes<N>>
}

// `x >> map(a ⇒ y >> map(b ⇒ h(b, r(a, b))))`, where `r` ends with a reduction, as two maps.
//
// The first has the results of all reductions: `x >> map(a ⇒ y >> map(b ⇒ r(a, b))) >> map(s ⇒
// zip(y, s) >> map((b, t) ⇒ h(b, t)))`. Where `h` or `y` depends on `a`, there is a zip with `x`.
// CHECK-LABEL: func.func @map_reduce_fission(
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.zip
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.get(0)
// CHECK-NEXT:     lift.zip
// CHECK-NEXT:     arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     lift.reduce_seq(
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
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.zip
// CHECK-NEXT:   lift.zip
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.get(0)
// CHECK-NEXT:     lift.get(1)
// CHECK-NEXT:     lift.get(1)
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_reduce_fission(%x: tensor<?x?xf32, #lift.sizes<N, K>> {tile.name = "x"}, %y: tensor<?x?xf32, #lift.sizes<M, K>> {tile.name = "y"}, %z: tensor<?xf32, #lift.sizes<M>> {tile.name = "z"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?x?xf32, #lift.sizes<N, K>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %1 = lift.zip %y, %z : (tensor<?x?xf32, #lift.sizes<M, K>>, tensor<?xf32, #lift.sizes<M>>) -> tensor<?xtuple<tensor<?xf32, #lift.sizes<K>>, f32>, #lift.sizes<M>>
    %2 = lift.map(%3 in %1) : (tensor<?xtuple<tensor<?xf32, #lift.sizes<K>>, f32>, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %b = lift.get(0) %3 : (tuple<tensor<?xf32, #lift.sizes<K>>, f32>) -> tensor<?xf32, #lift.sizes<K>>
      %c = lift.get(1) %3 : (tuple<tensor<?xf32, #lift.sizes<K>>, f32>) -> f32
      %4 = lift.zip %a, %b : (tensor<?xf32, #lift.sizes<K>>, tensor<?xf32, #lift.sizes<K>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<K>>
      %5 = arith.constant 0.000000e+00 : f32
      %6 = lift.reduce_seq(%s from %5, %t in %4) : (f32, tensor<?xtuple<f32, f32>, #lift.sizes<K>>) -> f32 {
        %7 = lift.get(0) %t : (tuple<f32, f32>) -> f32
        %8 = lift.get(1) %t : (tuple<f32, f32>) -> f32
        %9 = arith.mulf %7, %8 : f32
        %10 = arith.addf %s, %9 : f32
        lift.yield %10 : f32
      }
      %11 = arith.addf %6, %c : f32
      lift.yield %11 : f32
    }
    lift.yield %2 : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %0 : tensor<?x?xf32, #lift.sizes<N, M>>
}

// `zip(…, y >> map(g), …) >> map(f) = zip(…, y, …) >> map((…, e, …) ⇒ f(…, g(e), …))`.
// CHECK-LABEL: func.func @map_fusion_with_zip(
// CHECK-NEXT: lift.zip
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.get(1)
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_fusion_with_zip(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<N>> {tile.name = "y"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map(%a in %y) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    lift.yield %2 : f32
  }
  %3 = lift.zip %x, %0 : (tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<N>>
  %4 = lift.map(%5 in %3) : (tensor<?xtuple<f32, f32>, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %a_1 = lift.get(0) %5 : (tuple<f32, f32>) -> f32
    %b = lift.get(1) %5 : (tuple<f32, f32>) -> f32
    %6 = arith.addf %a_1, %b : f32
    lift.yield %6 : f32
  }
  func.return %4 : tensor<?xf32, #lift.sizes<N>>
}

// `zip(x >> map(f), y >> map(g), …) = zip(x, y, …) >> map((a, b, …) ⇒ (f(a), g(b), …))`.
// CHECK-LABEL: func.func @map_fusion_in_zip(
// CHECK-NEXT: lift.zip
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.get(1)
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.tuple
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map_seq(
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   lift.get(1)
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_fusion_in_zip(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<N>> {tile.name = "y"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    lift.yield %2 : f32
  }
  %3 = lift.map(%a_1 in %y) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %4 = arith.constant 1.000000e+00 : f32
    %5 = arith.addf %a_1, %4 : f32
    lift.yield %5 : f32
  }
  %6 = lift.zip %0, %3 : (tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<N>>
  %7 = lift.map_seq(%8 in %6) : (tensor<?xtuple<f32, f32>, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %a_2 = lift.get(0) %8 : (tuple<f32, f32>) -> f32
    %b = lift.get(1) %8 : (tuple<f32, f32>) -> f32
    %9 = arith.addf %a_2, %b : f32
    lift.yield %9 : f32
  }
  func.return %7 : tensor<?xf32, #lift.sizes<N>>
}

// `(x >> map(f), y >> map(g), …) = unzip(zip(x, y, …) >> map((a, b, …) ⇒ (f(a), g(b), …)))`.
// CHECK-LABEL: func.func @tuple_map(
// CHECK-NEXT: lift.zip
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.get(1)
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.tuple
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.get(1)
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.tuple
// CHECK-NEXT: lift.let(
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
func.func @tuple_map(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<N>> {tile.name = "y"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    lift.yield %2 : f32
  }
  %3 = lift.map(%a_1 in %y) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %4 = arith.constant 1.000000e+00 : f32
    %5 = arith.addf %a_1, %4 : f32
    lift.yield %5 : f32
  }
  %6 = lift.tuple %0, %3 : (tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>) -> tuple<tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>>
  %7 = lift.let(%t be %6) : (tuple<tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>>) -> tensor<?xf32, #lift.sizes<N>> {
    %8 = lift.get(0) %t : (tuple<tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>>) -> tensor<?xf32, #lift.sizes<N>>
    %9 = lift.get(1) %t : (tuple<tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>>) -> tensor<?xf32, #lift.sizes<N>>
    %10 = lift.zip %8, %9 : (tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<N>>
    %11 = lift.map(%12 in %10) : (tensor<?xtuple<f32, f32>, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
      %a_2 = lift.get(0) %12 : (tuple<f32, f32>) -> f32
      %b = lift.get(1) %12 : (tuple<f32, f32>) -> f32
      %13 = arith.addf %a_2, %b : f32
      lift.yield %13 : f32
    }
    lift.yield %11 : tensor<?xf32, #lift.sizes<N>>
  }
  func.return %7 : tensor<?xf32, #lift.sizes<N>>
}

// `(f(x), g(y), …) = (x, y, …) >> let((a, b, …) ⇒ (f(a), g(b), …))`, for patterns `f`, `g`.
// CHECK-LABEL: func.func @tuple_fission(
// CHECK-NEXT: lift.tuple
// CHECK-NEXT: lift.let(
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.get(1)
// CHECK-NEXT:   lift.gather(i -> N - i - 1)
// CHECK-NEXT:   lift.tuple
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.let(
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
func.func @tuple_fission(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<N>> {tile.name = "y"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    lift.yield %2 : f32
  }
  %3 = lift.gather(i -> N - i - 1) %y : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>>
  %4 = lift.tuple %0, %3 : (tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>) -> tuple<tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>>
  %5 = lift.let(%t be %4) : (tuple<tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>>) -> tensor<?xf32, #lift.sizes<N>> {
    %6 = lift.get(0) %t : (tuple<tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>>) -> tensor<?xf32, #lift.sizes<N>>
    %7 = lift.get(1) %t : (tuple<tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>>) -> tensor<?xf32, #lift.sizes<N>>
    %8 = lift.zip %6, %7 : (tensor<?xf32, #lift.sizes<N>>, tensor<?xf32, #lift.sizes<N>>) -> tensor<?xtuple<f32, f32>, #lift.sizes<N>>
    %9 = lift.map(%10 in %8) : (tensor<?xtuple<f32, f32>, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
      %a_1 = lift.get(0) %10 : (tuple<f32, f32>) -> f32
      %b = lift.get(1) %10 : (tuple<f32, f32>) -> f32
      %11 = arith.addf %a_1, %b : f32
      lift.yield %11 : f32
    }
    lift.yield %9 : tensor<?xf32, #lift.sizes<N>>
  }
  func.return %5 : tensor<?xf32, #lift.sizes<N>>
}

// `(x >> reduce(f, d), y >> reduce(g, e)) = zip(x, y) >> reduce((f, g), (d, e))`, of any.
// CHECK-LABEL: func.func @reduce_fusion(
// CHECK-NEXT: arith.constant 0.000000e+00 : f32
// CHECK-NEXT: arith.constant 0.000000e+00 : f32
// CHECK-NEXT: lift.tuple
// CHECK-NEXT: lift.zip
// CHECK-NEXT: lift.reduce(
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.get(1)
// CHECK-NEXT:   lift.get(1)
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.tuple
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.let(
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   lift.get(1)
// CHECK-NEXT:   arith.subf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: tensor.from_elements
// CHECK-NEXT: func.return
func.func @reduce_fusion(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<N>> {tile.name = "y"}) -> (tensor<f32> {tile.name = "out"}) {
  %0 = arith.constant 0.000000e+00 : f32
  %1 = lift.reduce(%a from %0, %b in %x) : (f32, tensor<?xf32, #lift.sizes<N>>) -> f32 {
    %2 = arith.addf %a, %b : f32
    lift.yield %2 : f32
  }
  %3 = arith.constant 0.000000e+00 : f32
  %4 = lift.reduce(%a_1 from %3, %b_1 in %y) : (f32, tensor<?xf32, #lift.sizes<N>>) -> f32 {
    %5 = arith.addf %a_1, %b_1 : f32
    lift.yield %5 : f32
  }
  %6 = lift.tuple %1, %4 : (f32, f32) -> tuple<f32, f32>
  %7 = lift.let(%t be %6) : (tuple<f32, f32>) -> f32 {
    %8 = lift.get(0) %t : (tuple<f32, f32>) -> f32
    %9 = lift.get(1) %t : (tuple<f32, f32>) -> f32
    %10 = arith.subf %8, %9 : f32
    lift.yield %10 : f32
  }
  %11 = tensor.from_elements %7 : tensor<f32>
  func.return %11 : tensor<f32>
}

// `map(g) >> reduce(f, e) = reduce_seq((a, b) ⇒ f(a, g(b)), e)`.
// CHECK-LABEL: func.func @reduce_map_fusion(
// CHECK-NEXT: arith.constant 0.000000e+00 : f32
// CHECK-NEXT: lift.reduce_seq(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: tensor.from_elements
// CHECK-NEXT: func.return
func.func @reduce_map_fusion(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<f32> {tile.name = "out"}) {
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

// `map(g) >> reduce_seq(f, e) = reduce_seq((a, b) ⇒ f(a, g(b)), e)`, also for `map_seq`.
// CHECK-LABEL: func.func @reduce_seq_map_fusion(
// CHECK-NEXT: arith.constant 0.000000e+00 : f32
// CHECK-NEXT: lift.reduce_seq(
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: tensor.from_elements
// CHECK-NEXT: func.return
func.func @reduce_seq_map_fusion(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<f32> {tile.name = "out"}) {
  %0 = lift.map_seq(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 1.000000e+00 : f32
    %2 = arith.addf %a, %1 : f32
    lift.yield %2 : f32
  }
  %3 = arith.constant 0.000000e+00 : f32
  %4 = lift.reduce_seq(%a_1 from %3, %b in %0) : (f32, tensor<?xf32, #lift.sizes<N>>) -> f32 {
    %5 = arith.addf %a_1, %b : f32
    lift.yield %5 : f32
  }
  %6 = tensor.from_elements %4 : tensor<f32>
  func.return %6 : tensor<f32>
}

// `reduce_seq((a, b) ⇒ h(a, g(b)), e) = map(g) >> reduce_seq(h, e)`.
// CHECK-LABEL: func.func @reduce_map_fission(
// CHECK-NEXT: arith.constant 0.000000e+00 : f32
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   math.absf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.reduce_seq(
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: tensor.from_elements
// CHECK-NEXT: func.return
func.func @reduce_map_fission(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<f32> {tile.name = "out"}) {
  %0 = arith.constant 0.000000e+00 : f32
  %1 = lift.reduce_seq(%s from %0, %a in %x) : (f32, tensor<?xf32, #lift.sizes<N>>) -> f32 {
    %2 = math.absf %a : f32
    %3 = arith.addf %s, %2 : f32
    lift.yield %3 : f32
  }
  %4 = tensor.from_elements %1 : tensor<f32>
  func.return %4 : tensor<f32>
}

// `map(e ⇒ h(e, y)) = y >> let(z ⇒ map(e ⇒ h(e, z)))`, where `y` is not made of `e`.
// CHECK-LABEL: func.func @extract_from_map(
// CHECK-NEXT: arith.constant 0.000000e+00 : f32
// CHECK-NEXT: lift.reduce(
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.let(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @extract_from_map(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}, %y: tensor<?xf32, #lift.sizes<N>> {tile.name = "y"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.map(%a in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
    %1 = arith.constant 0.000000e+00 : f32
    %2 = lift.reduce(%a_1 from %1, %b in %y) : (f32, tensor<?xf32, #lift.sizes<N>>) -> f32 {
      %3 = arith.addf %a_1, %b : f32
      lift.yield %3 : f32
    }
    %4 = arith.addf %a, %2 : f32
    lift.yield %4 : f32
  }
  func.return %0 : tensor<?xf32, #lift.sizes<N>>
}

// `x >> let(f) = f(x)`.
// CHECK-LABEL: func.func @let_inlining(
// CHECK-NEXT: arith.constant 0.000000e+00 : f32
// CHECK-NEXT: lift.reduce(
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   arith.addf
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @let_inlining(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = arith.constant 0.000000e+00 : f32
  %1 = lift.reduce(%a from %0, %b in %x) : (f32, tensor<?xf32, #lift.sizes<N>>) -> f32 {
    %2 = arith.addf %a, %b : f32
    lift.yield %2 : f32
  }
  %3 = lift.let(%s be %1) : (f32) -> tensor<?xf32, #lift.sizes<N>> {
    %4 = lift.map(%a_1 in %x) : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
      %5 = arith.addf %a_1, %s : f32
      lift.yield %5 : f32
    }
    lift.yield %4 : tensor<?xf32, #lift.sizes<N>>
  }
  func.return %3 : tensor<?xf32, #lift.sizes<N>>
}
