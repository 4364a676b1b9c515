"""Operands of ops that need their shape alone, and the values that depend on others' elements."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects import tensor
from xdsl.ir import Operation, SSAValue

from tiledialect.dialects.tile.constants import constant_of
from tiledialect.dialects.tile.elementwise.ops import IndexOp, SelectOp
from tiledialect.dialects.tile.special import ScatterOp, ShapeOp, SumToOp

SHAPE_ONLY: dict[type[Operation], tuple[int, ...]] = {
    SumToOp: (1,),
    ScatterOp: (2,),
    IndexOp: (0,),
    ShapeOp: (0,),
    tensor.DimOp: (0,),
}
"""Operands of ops that need their shape alone."""


def shape_only(op: Operation) -> tuple[int, ...]:
    """Operands of an op that it needs the shape of alone."""
    if isinstance(op, SelectOp) and (condition := constant_of(op.operands[0])) is not None:
        return (2,) if condition.value.value.data else (1,)
    return SHAPE_ONLY.get(type(op), ())


def depend_on(values: Iterable[SSAValue]) -> set[SSAValue]:
    """Values that depend on the elements of others, these included."""
    found = set(values)
    waiting = [*found]
    while waiting:
        for use in waiting.pop().uses:
            if use.index in shape_only(use.operation):
                continue
            new = [r for r in use.operation.results if r not in found]
            found.update(new)
            waiting += new
    return found
