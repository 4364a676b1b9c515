"""Mapping of open patterns to work-items, by rewrite rules."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import arith, func
from xdsl.ir import Block, Operation
from xdsl.transforms.dead_code_elimination import region_dce

from tiledialect.dialects.lift import layout, maps, reductions, values
from tiledialect.dialects.lift.base import YieldOp
from tiledialect.dialects.lift.sharing import PARALLEL, local_elements
from tiledialect.passes.lift.lift_rewrite import record
from tiledialect.passes.lift.rules.opencl import map_glb, map_seq, reduce_seq
from tiledialect.passes.lift.rules.rule import Rewriting, Strategy

REORDERING = (
    layout.SplitOp,
    layout.JoinOp,
    layout.TransposeOp,
    layout.AsVectorOp,
    layout.AsScalarOp,
    values.ZipOp,
    values.GetOp,
)
"""Patterns after which every element is there once."""

VIEWS = (
    *layout.LAYOUT_OPS,
    values.ZipOp,
    values.TupleOp,
    values.GetOp,
    values.SizeOp,
    arith.ConstantOp,
    YieldOp,
)
"""Ops that compute nothing."""

MAX_AXES = 3


def share_out(function: func.FuncOp) -> None:
    """Map the patterns of a function to work-items, rule by rule."""
    rewriting = Rewriting(function)

    def apply(rule: Strategy, op: Operation) -> None:
        rule.run(rewriting, op.results[0])

    for op in _inside_out(function):
        if isinstance(op, reductions.ReduceOp):
            apply(reduce_seq, op)
    region_dce(function.body)
    for kernel in [*kernels(function.body.block)]:
        nest = [*_nested(kernel)]
        shared, rest = nest[:MAX_AXES], nest[MAX_AXES:]
        for op in reversed(rest):
            apply(map_seq, op)
        for axis, op in enumerate(reversed(shared)):
            apply(map_glb(dim=axis), op)
    region_dce(function.body)
    record(function, rewriting.steps)


def _inside_out(function: func.FuncOp) -> Iterator[Operation]:
    """All ops, those in the function of another before it."""
    return reversed([*function.walk()])


def kernels(block: Block) -> Iterator[maps.MapOp]:
    """Maps of a block around kernels that all work-items share out."""
    for op in list(block.ops):
        if isinstance(op, reductions.IterateOp | values.LetOp):
            yield from kernels(op.block)
        elif isinstance(op, maps.MapOp) and computes(op) and not is_part(op):
            yield op


def computes(op: Operation) -> bool:
    """Whether a map does more than to lay out."""
    return any(not isinstance(x, (*VIEWS, maps.MapOp)) for x in op.walk())


def is_part(op: Operation) -> bool:
    """Whether one other pattern goes through a map's result, each element once."""
    (result,) = op.results
    if len(uses := list(result.uses)) != 1:
        return False
    user = uses[0].operation
    if user.parent is not op.parent:
        return False
    if isinstance(user, REORDERING):
        return is_part(user)
    if isinstance(user, maps.MapOp) and not computes(user):
        return is_part(user)
    return isinstance(user, maps.MapOp | reductions.ReduceBase)


def _nested(op: maps.MapOp) -> Iterator[maps.MapOp]:
    """A map, and the maps that are the functions of it and one another."""
    yield op
    inner = op.yielded.owner
    if isinstance(inner, maps.MapOp) and inner.parent is op.block and computes(inner):
        yield from _nested(inner)


def share_inside(function: func.FuncOp) -> None:
    """Make loops of the open maps around maps to work-groups and work-items."""
    rewriting = Rewriting(function)
    for op in [*_around_machine(function.body.block)]:
        map_seq.run(rewriting, op.results[0])
    if rewriting.steps:
        region_dce(function.body)
        record(function, rewriting.steps)


def _around_machine(block: Block) -> Iterator[maps.MapOp]:
    """Maps around maps to work-groups and work-items, the innermost first.

    One whose elements a group keeps while windows slide over them is done with the windows.
    """
    moving = {m for x in block.ops if isinstance(x, maps.MapSeqSlideOp) for m in local_elements(x)}
    for op in block.ops:
        if isinstance(op, PARALLEL):
            continue
        for region in op.regions:
            yield from _around_machine(region.block)
        if not isinstance(op, maps.MapOp) or op in moving:
            continue
        if any(isinstance(x, PARALLEL) for x in op.walk()):
            yield op


def is_high_level(function: func.FuncOp) -> bool:
    """Whether nothing in a function is mapped to work-groups or work-items."""
    return not any(isinstance(op, PARALLEL) for op in function.walk())


def lower(function: func.FuncOp) -> None:
    """Map a function of patterns to work-items."""
    (share_out if is_high_level(function) else share_inside)(function)
