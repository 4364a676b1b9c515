"""Operators that draw random numbers, each from a state of the generator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import pi

from xdsl.dialects.builtin import bf16, f16, f32
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.tile.base import make_type
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.special import PrngValueOp
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import elementwise as fn
from tiledialect.operators.layout import cast, element_type, shape

DIGITS: Mapping[Attribute, int] = {f16: 11, bf16: 8}
"""Binary digits of short floats."""


def uniform(
    b: TensorBuilder, state: SSAValue, sizes: Sequence[int], t: Attribute = f32
) -> SSAValue:
    """Numbers from [0, 1)."""
    made = PrngValueOp.create(operands=[state], result_types=[make_type(tuple(sizes), f32)])
    found = b.insert(made)
    if t in DIGITS:
        # Rounded to the nearest, some would be 1.
        steps = 2.0 ** DIGITS[t]
        found = b.mul(b.op(ew.FloorOp, b.mul(found, steps)), 1 / steps)
    return cast(b, found, t)


def normal(b: TensorBuilder, first: SSAValue, second: SSAValue, sizes: Sequence[int]) -> SSAValue:
    """Normally distributed numbers from two states, by Box and Muller's transformation."""
    radius = b.sub(1.0, uniform(b, first, sizes))
    angle = b.mul(uniform(b, second, sizes), 2 * pi)
    size = b.op(ew.SqrtOp, b.mul(b.op(ew.LogOp, radius), -2.0))
    return b.mul(size, b.op(ew.CosOp, angle))


def dropout(
    b: TensorBuilder, state: SSAValue, x: SSAValue, share: float
) -> tuple[SSAValue, SSAValue]:
    """Elements scaled so that their mean stays, with a share of them 0; and which are not."""
    kept = b.op(ew.CmpGeOp, uniform(b, state, shape(x)), share)
    scaled = b.mul(x, 1 / (1 - share) if share < 1 else 0.0)
    return cast(b, b.select(kept, scaled, fn.like(b, x, 0)), element_type(x)), kept
