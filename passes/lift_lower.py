"""lift-lower: who does what in a program that leaves it open."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tiledialect.dialects.lift import layout, maps, reductions, values
from tiledialect.dialects.lift.attributes import OrdinalAttr
from tiledialect.dialects.lift.base import YieldOp

MACHINE = (maps.MapGlbOp, maps.MapWrgOp, maps.MapLclOp, maps.MapWarpOp, maps.MapLaneOp)
"""Maps that say who does them."""

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

MOST_AXES = 3


def lower(block: Block) -> None:
    """Share out the maps of a block around kernels among all work-items."""
    for op in list(block.ops):
        if isinstance(op, reductions.IterateOp | values.LetOp):
            lower(op.block)
        elif isinstance(op, maps.MapOp) and computes(op) and not is_part(op):
            nest = list(_nested(op))
            for axis, inner in enumerate(reversed(nest)):
                _replace(inner, maps.MapGlbOp, dim=OrdinalAttr(axis))


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
    """A map, and those that are the functions of it and one another."""
    yield op
    for _ in range(MOST_AXES - 1):
        inner = op.yielded.owner
        if not isinstance(inner, maps.MapOp) or inner.parent is not op.block:
            return
        if not computes(inner):
            return
        yield inner
        op = inner


def _replace(op: Operation, kind: type[Operation], **properties: OrdinalAttr) -> None:
    """The op as one of another kind."""
    regions = [op.detach_region(region) for region in list(op.regions)]
    new = kind.create(
        operands=op.operands,
        result_types=op.result_types,
        properties=properties,
        attributes=op.attributes,
        regions=regions,
    )
    new.location = op.location
    Rewriter.replace_op(op, new)


def is_high_level(function: func.FuncOp) -> bool:
    """Whether nothing in a function says who does what."""
    return not any(isinstance(op, MACHINE) for op in function.walk())


@dataclass(frozen=True)
class LiftLowerPass(ModulePass):
    """Says who does what in functions whose patterns leave it open.

    A map that computes becomes a kernel: up to three maps, each the function of the one around it,
    are shared out among all work-items. What is inside is done by one work-item; a map whose result
    another pattern goes through once becomes part of that one.
    """

    name = "lift-lower"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Lower every function that says nothing of it itself."""
        for function in [f for f in op.walk() if isinstance(f, func.FuncOp)]:
            if function.body.blocks and is_high_level(function):
                lower(function.body.block)
                for x in list(function.walk()):
                    if isinstance(x, reductions.ReduceOp):
                        _replace(x, reductions.ReduceSeqOp)
