"""Reals of the bits of integers, and the bits of reals, by exact arithmetic."""

from __future__ import annotations

from math import inf, nan

from xdsl.dialects.builtin import IntegerType, Signedness, bf16, f16, f32, f64
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators.elementwise import is_less, is_negative, like
from tiledialect.operators.layout import cast, constant, element_type

FORMATS: dict[Attribute, tuple[int, int]] = {
    f16: (5, 10),
    bf16: (8, 7),
    f32: (8, 23),
    f64: (11, 52),
}
"""Bits of the exponent and of the mantissa of reals."""


def width(t: Attribute) -> int:
    """Number of bits of an element type."""
    if t in FORMATS:
        return 1 + sum(FORMATS[t])
    return t.width.data if isinstance(t, IntegerType) else 0


def bitcast(b: TensorBuilder, x: SSAValue, t: Attribute) -> SSAValue:
    """The bits of ``x`` as another element type of the same width.

    The bits of a NaN are those of a quiet one; numbers next to 0, which devices flush, may be 0.
    """
    own = element_type(x)
    if own in FORMATS and t in FORMATS:
        return x if own == t else bitcast(b, _bits(b, x), t)
    if own in FORMATS:
        return cast(b, _bits(b, x), t)
    return _real(b, cast(b, x, _unsigned(width(own))), t) if t in FORMATS else cast(b, x, t)


def next_after(b: TensorBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """The number next to ``x`` towards ``y``; numbers next to 0, which devices flush, may be 0."""
    t = element_type(x)
    bits = _bits(b, x)
    is_away = b.op(ew.CmpEqOp, is_less(b, x, y), is_less(b, 0, x))
    moved = b.select(is_away, b.add(bits, like(b, bits, 1)), b.sub(bits, like(b, bits, 1)))
    least = constant(b, 2.0 ** (2 - 2 ** (FORMATS[t][0] - 1) - FORMATS[t][1]), t)
    least = b.select(is_negative(b, y), b.neg(least), least)
    result = b.select(b.op(ew.CmpEqOp, x, 0), least, _real(b, moved, t))
    is_none = b.op(ew.BitOrOp, b.op(ew.CmpNeOp, x, x), b.op(ew.CmpNeOp, y, y))
    result = b.select(is_none, constant(b, nan, t), result)
    return b.select(b.op(ew.CmpEqOp, x, y), y, result)


def _unsigned(bits: int) -> Attribute:
    return IntegerType(bits, Signedness.UNSIGNED)


def _field(b: TensorBuilder, x: SSAValue, first: int, count: int) -> SSAValue:
    """Number that some of the bits are."""
    return b.op(ew.BitAndOp, b.op(ew.BitRightOp, x, like(b, x, first)), like(b, x, 2**count - 1))


def _real(b: TensorBuilder, x: SSAValue, t: Attribute) -> SSAValue:
    """The real that the bits of an unsigned integer are."""
    exponents, mantissas = FORMATS[t]
    half = 2 ** (exponents - 1) - 1
    exponent, mantissa = _field(b, x, mantissas, exponents), _field(b, x, 0, mantissas)
    fraction = b.mul(cast(b, mantissa, t), 2.0**-mantissas)
    result = b.add(fraction, 1.0)
    for k in range(exponents - 1):
        is_set = b.op(ew.CmpNeOp, _field(b, exponent, k, 1), 0)
        result = b.select(is_set, b.mul(result, 2.0 ** (2**k)), result)
    # The bias in two steps, as one number would be next to 0.
    small = b.mul(b.mul(result, 2.0 ** -(half // 2)), 2.0 ** (half // 2 - half))
    result = b.select(b.op(ew.CmpGtOp, exponent, half), b.mul(result, 2.0), small)
    least = b.mul(b.mul(fraction, 2.0 ** -(half // 2)), 2.0 ** (half // 2 - half + 1))
    result = b.select(b.op(ew.CmpEqOp, exponent, 0), least, result)
    special = b.select(b.op(ew.CmpEqOp, mantissa, 0), constant(b, inf, t), constant(b, nan, t))
    result = b.select(b.op(ew.CmpEqOp, exponent, 2**exponents - 1), special, result)
    return b.select(_field(b, x, width(t) - 1, 1), b.neg(result), result)


def _bits(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """The bits of a real as an unsigned integer."""
    own = element_type(x)
    exponents, mantissas = FORMATS[own]
    half = 2 ** (exponents - 1) - 1
    t = _unsigned(width(own))
    size = b.op(ew.AbsOp, x)
    is_small = is_less(b, size, 1.0)
    lifted = b.mul(b.mul(size, 2.0 ** (half // 2)), 2.0 ** (half - 1 - half // 2))
    rest = b.select(is_small, lifted, size)
    exponent = b.select(is_small, constant(b, 1, t), constant(b, half, t))
    for k in reversed(range(exponents - 1)):
        is_large = b.op(ew.CmpGeOp, rest, 2.0 ** (2**k))
        rest = b.select(is_large, b.mul(rest, 2.0 ** -(2**k)), rest)
        exponent = b.add(exponent, b.select(is_large, constant(b, 2**k, t), constant(b, 0, t)))
    # A number below the least normal one has no 1 before its fraction.
    is_least = is_less(b, rest, 1.0)
    exponent = b.select(is_least, constant(b, 0, t), exponent)
    mantissa = cast(b, b.mul(b.select(is_least, rest, b.sub(rest, 1.0)), 2.0**mantissas), t)
    is_special = b.op(ew.CmpEqOp, size, inf)
    is_none = b.op(ew.CmpNeOp, x, x)
    exponent = b.select(
        b.op(ew.BitOrOp, is_special, is_none), constant(b, 2**exponents - 1, t), exponent
    )
    mantissa = b.select(is_special, constant(b, 0, t), mantissa)
    mantissa = b.select(is_none, constant(b, 2 ** (mantissas - 1), t), mantissa)
    sign = b.select(is_negative(b, x), constant(b, 2 ** (width(own) - 1), t), constant(b, 0, t))
    shifted = b.op(ew.BitLeftOp, exponent, constant(b, mantissas, t))
    return b.op(ew.BitOrOp, b.op(ew.BitOrOp, sign, shifted), mantissa)
