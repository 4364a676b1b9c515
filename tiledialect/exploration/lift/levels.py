"""Levels of the patterns of a program: maps around maps, and around reductions."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import func
from xdsl.ir import Block, Operation

from tiledialect.dialects.lift import layout, maps, reductions, values
from tiledialect.dialects.lift.sharing import BY_GROUPS, most_groups
from tiledialect.ir.ancestors import ancestors
from tiledialect.passes.lift.rules.places import reachable
from tiledialect.passes.lift.strategies.mapping import computes


def kernel_maps(function: func.FuncOp) -> list[maps.MapBase]:
    """Outermost maps that compute."""
    return [*_maps_in(function.body.block, reachable(function))]


def _maps_in(block: Block, live: dict[Operation, None]) -> Iterator[maps.MapBase]:
    """Maps of a block that compute, and those of blocks around kernels."""
    for op in block.ops:
        if op not in live:
            continue
        if isinstance(op, reductions.IterateOp | values.LetOp):
            yield from _maps_in(op.block, live)
        elif isinstance(op, maps.MapBase) and computes(op):
            yield op


def levels(op: maps.MapBase) -> int:
    """Maps around one another, from a map on: reductions are done by one work-item."""
    inner = (levels(x) for x in op.block.ops if isinstance(x, maps.MapBase) and computes(x))
    return 1 + max(inner, default=0)


def held(function: func.FuncOp, count: int) -> reductions.ReduceBase | None:
    """The one reduction in so many maps around one another whose function ends in as many maps."""
    live = [op for op in reachable(function) if isinstance(op, reductions.ReduceBase)]
    found = [op for op in live if level(op) == count]
    if len(found) != 1 or len(kernel_maps(function)) != 1:
        return None
    inner = found[0]
    for _ in range(count):
        made = inner.yielded.owner
        if not isinstance(made, maps.MapBase) or not computes(made):
            return None
        inner = made
    return found[0]


def reduces_parts(function: func.FuncOp, count: int) -> bool:
    """Whether a map's sums, as of parts, are reduced in so many maps around one another."""
    for op in reachable(function):
        if isinstance(op, reductions.ReduceBase) and level(op) == count:
            made = op.input.owner
            while isinstance(made, layout.JoinOp | layout.AsScalarOp | layout.TransposeOp):
                made = made.operands[0].owner
            if isinstance(made, maps.MapBase) and any(
                isinstance(x, reductions.ReduceBase) for x in made.walk()
            ):
                return True
    return False


def level(op: Operation, held: int | None = None) -> int | None:
    """Number of the maps around a map; None inside of a reduction, but of one in ``held`` maps."""
    count = 0
    for around in ancestors(op):
        if isinstance(around, reductions.ReduceBase | maps.MapSeqSlideOp) and (
            held is None or level(around) != held
        ):
            return None
        count += isinstance(around, maps.MapBase)
    return count


def open_patterns(function: func.FuncOp) -> Iterator[Operation]:
    """Maps and reductions without a mapping, the outermost first."""
    live = reachable(function)
    for op in function.walk():
        is_open = isinstance(op, reductions.ReduceOp) or (
            isinstance(op, maps.MapOp) and computes(op)
        )
        if is_open and op in live:
            yield op


def by_groups(function: func.FuncOp) -> Iterator[Operation]:
    """Outermost maps that work-groups share out, without a limit."""
    for op in reachable(function):
        is_inside = any(isinstance(x, BY_GROUPS) for x in ancestors(op))
        if isinstance(op, BY_GROUPS) and not is_inside and most_groups(op) is None:
            yield op


def has_inside(op: Operation, kinds: tuple[type[Operation], ...]) -> bool:
    """Whether an op has ops of some kinds inside."""
    return any(isinstance(x, kinds) for x in op.walk() if x is not op)
