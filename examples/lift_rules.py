"""Rewrite rules of a user's own, for `tile-opt -p 'lift-rewrite{load="…" rule=…}'`."""

# pyright: basic

from tiledialect import lift
from tiledialect.passes.lift import at_input, macro, require, rule, sequence
from tiledialect.passes.lift.rules import patterns as p
from tiledialect.passes.lift.rules.macros import tile_stencil
from tiledialect.passes.lift.rules.opencl import map_lcl, map_wrg
from tiledialect.passes.lift.strategies.combinators import in_function


@rule(p.pad("a", "b", "edge") >> p.pad("c", "d", "edge"))
def pad_pad(x, a, b, c, d, edge):
    """`pad(a, b, clamp) >> pad(c, d, clamp) = pad(a + c, b + d, clamp)`."""
    require(edge.data == lift.clamp, f"the boundary is {edge.data}")
    return x >> lift.pad(a + c, b + d, lift.clamp)


@macro
def tile_for_groups(*, v):
    """`tile_stencil`, a work-group to each tile."""
    return sequence(tile_stencil(v=v), at_input(sequence(map_wrg, in_function(map_lcl))))
