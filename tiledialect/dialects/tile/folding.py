"""Folding of elementwise ops."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile import numeric
from tiledialect.dialects.tile.base import tensor_type
from tiledialect.dialects.tile.elementwise import (
    CastOp,
    ConstantOp,
    ElementwiseOp,
    IdentOp,
    SelectOp,
)

Folded = Sequence[SSAValue | Attribute] | None


def fold_elementwise(op: ElementwiseOp) -> Folded:
    """The value or the constant that ``op`` comes to, or None."""
    if isinstance(op, IdentOp | CastOp) and op.operands[0].type == op.res.type:
        return (op.operands[0],)
    if isinstance(op, SelectOp):
        return _fold_select(op)
    return _fold_constants(op)


def constant_of(value: SSAValue) -> ConstantOp | None:
    """The constant op that makes ``value``."""
    return value.owner if isinstance(value.owner, ConstantOp) else None


def _fold_select(op: SelectOp) -> Folded:
    condition = constant_of(op.condition)
    if condition is None:
        return None
    chosen = op.lhs if condition.number else op.rhs
    return (chosen,) if chosen.type == op.res.type else None


def _fold_constants(op: ElementwiseOp) -> Folded:
    constants = [constant_of(value) for value in op.operands]
    result = op.res.type
    known = [c for c in constants if c is not None]
    if not known or len(known) != len(constants) or not isinstance(result, TensorType):
        return None
    reckoning = op.reckoning_type()
    if et.any_type in (reckoning, result.element_type):
        return None
    arrays = [numeric.number(c.number, tensor_type(c.result).element_type) for c in known]
    if isinstance(op, CastOp):
        value = numeric.convert(arrays[0], result.element_type)
    elif op.name in numeric.FUNCTIONS:
        value = numeric.apply(op.name, reckoning, arrays)
    else:
        return None
    python = value.item()
    return (ConstantOp.attribute(int(python) if isinstance(python, bool) else python),)
