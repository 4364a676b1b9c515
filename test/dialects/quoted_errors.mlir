// RUN: not tile-opt %s 2>&1 | filecheck %s

// CHECK: expected the end of the text in quotes
"builtin.module"() ({
^bb0:
}) {a = #tile.constraint<"0 <= i < 5 < 6">} : () -> ()
