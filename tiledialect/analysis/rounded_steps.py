"""Steps of rounded numbers: `floor` and the like, whose results jump by 1 where an argument differs
by its rounding.

The same expression may round otherwise in another kernel, where products and sums are contracted
or vectorized otherwise. Both results of a step are right, but not beside one another, as where one
is the number of an element and the other belongs to its weight.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Operation, SSAValue

from tiledialect.dialects.tile.base import TileOp, tensor_type
from tiledialect.dialects.tile.constants import ConstantOp
from tiledialect.dialects.tile.element_types import is_float
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.special import GatherOp, ReshapeOp

STEPS = (ew.CeilOp, ew.FloorOp, ew.RoundOp)
"""Functions with steps; casts of reals to integers are others."""
EXACT = (
    *(*STEPS, ew.AbsOp, ew.NegOp, ew.ReluOp, ew.IdentOp, ew.MaxOp, ew.MinOp, ew.SelectOp),
    *(ew.CastOp, ew.IndexOp, ConstantOp, GatherOp, ReshapeOp),
)
"""Ops whose results are rounded only if an operand is."""
NEAREST = (ew.AddOp, ew.SubOp, ew.MulOp)
"""Ops that give the nearest number everywhere, unless they are contracted with others."""


def rounded_steps(ops: Iterable[Operation]) -> set[SSAValue]:
    """Results of steps of numbers that some ops, in order, compute and round more than once."""
    once, rounded, found = set[SSAValue](), set[SSAValue](), set[SSAValue]()
    for op in ops:
        if not isinstance(op, TileOp) or len(op.results) != 1:
            continue
        (result,) = op.results
        is_exact = isinstance(op, EXACT) or not _is_real(result)
        if not rounded.isdisjoint(op.operands):
            rounded.add(result)
            found |= {result} if _is_step(op) else set()
        elif not once.isdisjoint(op.operands):
            (once if is_exact else rounded).add(result)
        elif not is_exact:
            (once if isinstance(op, NEAREST) else rounded).add(result)
    return found


def _is_step(op: TileOp) -> bool:
    """Whether an op is a step of its operand."""
    if not isinstance(op, ew.CastOp):
        return isinstance(op, STEPS)
    return _is_real(op.operand) and not _is_real(op.result) and _element(op.result) != i1


def _is_real(value: SSAValue) -> bool:
    return is_float(_element(value))


def _element(value: SSAValue) -> Attribute:
    return tensor_type(value).element_type
