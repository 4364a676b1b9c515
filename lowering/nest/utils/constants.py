"""Constants of the types of values."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    VectorType,
)
from xdsl.ir import Attribute


def constant(number: float, t: Attribute) -> ConstantOp:
    """Constant of an element type, or in all lanes of a vector."""
    match t:
        case VectorType():
            vector = cast("VectorType[AnyFloat]", t)
            return ConstantOp(DenseIntOrFPElementsAttr.from_list(vector, [number]))
        case IntegerType():
            return ConstantOp(IntegerAttr(int(number), t))
        case _:
            return ConstantOp(FloatAttr(number, cast("AnyFloat", t)))
