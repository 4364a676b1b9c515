"""Unrolled loops of a few steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import inf

from xdsl.dialects import func
from xdsl.ir import Operation, SSAValue

from tiledialect.dialects.lift import maps, reductions
from tiledialect.dialects.lift.types import as_array, leading
from tiledialect.passes.lift.rules.collections import RULES
from tiledialect.passes.lift.rules.places import reachable
from tiledialect.passes.lift.rules.refusal import NotApplicable
from tiledialect.passes.lift.rules.rule import Rewriting, Strategy
from tiledialect.passes.lift.strategies.combinators import Local

UNROLLED = 64, 512
"""Options for the most steps of loops that are unrolled, with those of the loops inside."""
LOOPS = (maps.MapSeqOp, reductions.ReduceSeqOp)
UNROLLED_LOOPS = (maps.MapSeqUnrollOp, reductions.ReduceSeqUnrollOp)


def short_loops(function: func.FuncOp, most: int) -> Iterator[Operation]:
    """Loops of a small and known number of steps, with those of the loops inside."""
    live = reachable(function)
    for op in function.walk():
        if op in live and type(op) in LOOPS and _steps(op) <= most:
            yield op


def unroll(rewriting: Rewriting, most: int) -> None:
    """Unroll short loops."""

    def run(rewriting: Rewriting, value: SSAValue) -> SSAValue:
        is_map = isinstance(value.owner, maps.MapSeqOp)
        return RULES["map_seq_unroll" if is_map else "reduce_seq_unroll"].run(rewriting, value)

    each_once(rewriting, partial(short_loops, most=most), Local(run))


def each_once(
    rewriting: Rewriting, found: Callable[[func.FuncOp], Iterator[Operation]], rule: Strategy
) -> None:
    """Apply a rule at all places that a function finds, where it applies, each once."""
    refused: set[Operation] = set()
    while True:
        op = next((x for x in found(rewriting.function) if x not in refused), None)
        if op is None:
            return
        refused.add(op)
        try:
            rule.run(rewriting, op.results[0])
        except NotApplicable:
            continue


def _steps(op: Operation) -> float:
    """Copies of the innermost function if a loop and those inside of it are unrolled."""
    inner = max((_steps(x) for region in op.regions for x in region.block.ops), default=1.0)
    if not isinstance(op, (*LOOPS, *UNROLLED_LOOPS)):
        return inner
    size = leading(as_array(op.operands[-1], op.pattern())).value
    return inf if size is None else size * inner
