// RUN: tile-opt %s --print-op-generic | filecheck %s
// RUN: tile-opt %s --print-op-generic | tile-opt --print-op-generic | filecheck %s

// A text that compares is in quotes, so that any MLIR parser can skip it. The quotes may be left out.
// CHECK: a = [#tile.constraint<"0 <= i - k < 5">, #tile.constraint<"0 <= i < 5">]
// CHECK: b = [#nest.condition<"1 <= d0 and d1 < 8">, #nest.condition<(d0 mod 2) == 0>]
// CHECK: c = #nest.exprs<d0 + 1, "(d0 < 3 ? d0 : 0)">
// CHECK: d = [#lift.index_map<i -> N - i - 1>, #lift.index_map<"i -> (i < 3 ? i : 0)">]
"builtin.module"() ({
^bb0:
}) {
  a = [#tile.constraint<0 <= i - k < 5>, #tile.constraint<"0 <= i < 5">],
  b = [#nest.condition<1 <= d0 and d1 < 8>, #nest.condition<(d0 mod 2) == 0>],
  c = #nest.exprs<d0 + 1, (d0 < 3 ? d0 : 0)>,
  d = [#lift.index_map<i -> N - 1 - i>, #lift.index_map<i -> (i < 3 ? i : 0)>]
} : () -> ()
