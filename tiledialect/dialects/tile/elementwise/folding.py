"""Folding of elementwise ops."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import HasFolder

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.base import tensor_type
from tiledialect.dialects.tile.constants import ConstantOp, constant_of
from tiledialect.dialects.tile.elementwise import numeric
from tiledialect.dialects.tile.elementwise.ops import (
    CastOp,
    ElementwiseOp,
    IdentOp,
    SelectOp,
)

Folded = Sequence[SSAValue | Attribute] | None


def fold_elementwise(op: ElementwiseOp) -> Folded:
    """The value or the constant that ``op`` always gives; None if there is none."""
    if isinstance(op, IdentOp | CastOp) and op.operands[0].type == op.res.type:
        return (op.operands[0],)
    if isinstance(op, SelectOp):
        return _fold_select(op)
    return _fold_constants(op)


def _fold_select(op: SelectOp) -> Folded:
    condition = constant_of(op.condition)
    if condition is None:
        return None
    chosen = op.lhs if condition.number else op.rhs
    if chosen.type == op.res.type:
        return (chosen,)
    result, constant = op.res.type, constant_of(chosen)
    if constant is None or not isinstance(result, TensorType) or result.get_shape():
        return None
    if result.element_type == et.any_type:
        return None
    return (_constant(numeric.convert(_array(constant), result.element_type)),)


def _fold_constants(op: ElementwiseOp) -> Folded:
    constants = [constant_of(value) for value in op.operands]
    result = op.res.type
    known = [c for c in constants if c is not None]
    if not known or len(known) != len(constants) or not isinstance(result, TensorType):
        return None
    computed = op.operand_type()
    if et.any_type in (computed, result.element_type):
        return None
    arrays = [_array(constant) for constant in known]
    if isinstance(op, CastOp):
        value = numeric.convert(arrays[0], result.element_type)
    elif op.name in numeric.FUNCTIONS:
        value = numeric.apply(op.name, computed, arrays)
    else:
        return None
    return (_constant(value),)


def _array(constant: ConstantOp) -> numeric.Array:
    return numeric.number(constant.number, tensor_type(constant.result).element_type)


def _constant(value: numeric.Array) -> Attribute:
    python = value.item()
    return ConstantOp.attribute(int(python) if isinstance(python, bool) else python)


class FoldElementwise(HasFolder):
    """Folds ops on constants, and identities."""

    @classmethod
    def fold(cls, op: Operation) -> Folded:
        """The operand or the constant that an elementwise op always gives."""
        assert isinstance(op, ElementwiseOp)
        return fold_elementwise(op)
