// RUN: tile-opt %s -p 'lift-rewrite{rule=slide_tiling at=slide},lift-rewrite{rule=join_past_map at="map.1"},lift-rewrite{rule=map_fusion},lift-bind{sizes="v=4"}' | filecheck %s
// RUN: tile-opt %s -p 'lift-rewrite{rule=tile_stencil at=map sizes="v=4"}' | filecheck %s --check-prefix MACRO
// RUN: tile-opt %s -p 'lift-rewrite{rule=reduce_seq everywhere=true},lift-rewrite{rule=map_glb}' -t lift-steps | filecheck %s --check-prefix STEPS
// RUN: tile-opt %s -p 'lift-rewrite{script="%S/Inputs/steps.txt"}' -t lift-steps | filecheck %s --check-prefix SCRIPT
// RUN: tile-opt %s -t lift-rules | filecheck %s --check-prefix RULES
// RUN: tile-opt %s -t 'lift-graph{script="%S/Inputs/steps.txt"}' | filecheck %s --check-prefix GRAPH
// RUN: tile-opt %s -t 'lift-derivation{script="%S/Inputs/steps.txt"}' | filecheck %s --check-prefix DERIVATION
// RUN: not tile-opt %s -t lift-derivation 2>&1 | filecheck %s --check-prefix SCRIPTLESS
// RUN: not tile-opt %s -p 'lift-rewrite{rule=simplify at=slide}' 2>&1 | filecheck %s --check-prefix NONE
// RUN: not tile-opt %s -p 'lift-rewrite{rule=map_glb at="map/map"}' 2>&1 | filecheck %s --check-prefix PLACE
// RUN: not tile-opt %s -p 'lift-rewrite{rule=map_glb at=map.1}' 2>&1 | filecheck %s --check-prefix QUOTED
// RUN: not tile-opt %s -p 'lift-rewrite{rule=map_lcl at=map}' 2>&1 | filecheck %s --check-prefix REFUSED
// RUN: not tile-opt %s -p 'lift-rewrite{rule=map_lc at=map}' 2>&1 | filecheck %s --check-prefix NAME
// RUN: not tile-opt %s -p 'lift-rewrite{at=map}' 2>&1 | filecheck %s --check-prefix NOTHING
// RUN: not tile-opt %s -p 'lift-rewrite{rule=map_glb load="none.py"}' 2>&1 | filecheck %s --check-prefix FILE
// RUN: not tile-opt %s -p 'lift-rewrite{rule=map_glb load="%S/Inputs/no_pattern.py"}' 2>&1 | filecheck %s --check-prefix PATTERN

// CHECK: lift.steps = ["slide_tiling(v=v, u=u) at slide", "join_past_map at map.1", "map_fusion at map.1", "bind(v=4)"]
// CHECK: lift.slide(6, 4)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.slide(3, 1)
// CHECK-NEXT:   lift.map(
// CHECK: lift.join
// MACRO: lift.steps = ["tile_stencil(v=4) at map"]
// MACRO: lift.slide(6, 4)
// STEPS: reduce_seq at map/reduce
// STEPS-NEXT: map_glb(dim=0) at map
// SCRIPT: split_join(n=N / 2) at map
// SCRIPT-NEXT: bind(N=8)
// RULES: slide_tiling at slide
// RULES: tile_stencil at map
// RULES: reduce_seq at map/reduce
// GRAPH: <svg
// GRAPH: split_join(n=N / 2) at map
// GRAPH: class="changed"
// DERIVATION: func.func
// DERIVATION: // split_join(n=N / 2) at map
// DERIVATION-NEXT: // `map(f) = split(n)
// DERIVATION: lift.split(N / 2)
// DERIVATION: // bind(N=8)
// DERIVATION: lift.split(4)
// SCRIPTLESS: tile-opt: -p '' -t 'lift-derivation': lift-derivation requires argument "script"
// NONE: tile-opt: at slide, simplify: none of its patterns is there
// PLACE: tile-opt: there is nothing at map/map; there is map/reduce
// QUOTED: values with other signs than letters, digits and _ - are quoted: at="map.1"
// REFUSED: tile-opt: at map, map_lcl: the pattern is not inside of map_wrg
// NAME: tile-opt: there is no rule map_lc; there is map_lcl
// NOTHING: tile-opt: lift-rewrite takes a rule or a script
// FILE: tile-opt: there is no file none.py
// PATTERN: tile-opt: the rule identity: 'map' is no pattern
func.func @stencil(%input: tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N>> {
  %0 = lift.pad(1, 1, clamp) %input : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N + 2>>
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
