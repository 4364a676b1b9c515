"""Vectors of the innermost patterns of a program."""

from __future__ import annotations

from contextlib import suppress

from xdsl.ir import Operation

from tiledialect.dialects.lift import layout, maps, reductions
from tiledialect.passes.lift.rules.collections import RULES
from tiledialect.passes.lift.rules.places import reachable
from tiledialect.passes.lift.rules.refusal import NotApplicable
from tiledialect.passes.lift.rules.rule import Rewriting
from tiledialect.passes.lift.strategies.combinators import at_results, choice
from tiledialect.passes.lift.strategies.mapping import computes

VECTORIZED = (
    (maps.MapOp, ("vectorize_zip", "vectorize_arrays")),
    (reductions.ReduceOp, ("vectorize_reduce",)),
)
"""Rules that give a pattern vectors, of which the first that applies does."""


def vectorize(rewriting: Rewriting, width: int) -> None:
    """Give the innermost maps and reductions of numbers vectors."""
    live = reachable(rewriting.function)
    inner = [op for op in live if _is_innermost(op)]
    for kind, names in VECTORIZED:
        rule = choice(*(RULES[name](w=width) for name in names))
        for op in inner:
            if isinstance(op, kind) and (kind is reductions.ReduceOp or computes(op)):
                with suppress(NotApplicable):
                    rule.run(rewriting, op.results[0])
    if rewriting.steps:
        at_results(rewriting, RULES["fuse_parts"])


def _is_innermost(op: Operation) -> bool:
    inner = (maps.MapBase, reductions.ReduceBase, layout.SlideOp, layout.AsVectorOp)
    return not any(isinstance(x, inner) for x in op.walk() if x is not op)
