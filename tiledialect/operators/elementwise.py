"""Elementwise functions that are several tile ops."""

from __future__ import annotations

from math import ceil, inf, log, pi, sqrt

from xdsl.dialects.builtin import IntegerType, Signedness, f16, f64, i32
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators.layout import cast, constant, element_type


def like(b: TensorBuilder, x: SSAValue, value: int | float) -> SSAValue:
    """Constant of the element type of ``x``."""
    t = element_type(x)
    return constant(b, float(value) if et.is_float(t) else value, t)


def is_less(b: TensorBuilder, x: SSAValue | int | float, y: SSAValue | int | float) -> SSAValue:
    """Whether ``x`` is less than ``y``."""
    return b.op(ew.CmpLtOp, x, y)


def sign(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """1, -1, or a zero or NaN itself."""
    positive = b.select(b.op(ew.CmpGtOp, x, 0), like(b, x, 1), x)
    if et.is_unsigned(element_type(x)):
        return positive
    return b.select(is_less(b, x, 0), like(b, x, -1), positive)


def is_negative(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """Whether a real has its sign set, as -0 has."""
    return is_less(b, b.select(b.op(ew.CmpEqOp, x, 0), b.op(ew.RecipOp, x), x), 0)


def is_before(b: TensorBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """Whether a number is before another in their total order: -0 before 0, NaN after all."""
    if not et.is_float(element_type(x)):
        return is_less(b, x, y)
    is_first = b.op(ew.BitAndOp, b.op(ew.CmpNeOp, y, y), b.op(ew.CmpEqOp, x, x))
    signs = b.op(ew.BitAndOp, is_negative(b, x), b.op(ew.BitNotOp, is_negative(b, y)))
    zeros = b.op(ew.BitAndOp, b.op(ew.CmpEqOp, x, y), signs)
    return b.op(ew.BitOrOp, is_less(b, x, y), b.op(ew.BitOrOp, is_first, zeros))


def truncate(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """The integral part of a real."""
    return b.select(is_less(b, x, 0), b.op(ew.CeilOp, x), b.op(ew.FloorOp, x))


def round_to_even(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """The nearest integer; halves go to the even one."""
    floor = b.op(ew.FloorOp, x)
    even = b.mul(b.op(ew.FloorOp, b.mul(b.add(floor, 1), 0.5)), 2)
    is_half = b.op(ew.CmpEqOp, b.sub(x, floor), 0.5)
    return b.select(is_half, even, b.op(ew.RoundOp, x))


def rsqrt(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """1 over the square root."""
    return b.op(ew.RecipOp, b.op(ew.SqrtOp, x))


def hypot(b: TensorBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """The square root of the sum of two squares, which may be larger than the type holds."""
    one, other = b.op(ew.AbsOp, x), b.op(ew.AbsOp, y)
    most, least = b.op(ew.MaxOp, one, other), b.op(ew.MinOp, one, other)
    is_zero = b.op(ew.CmpEqOp, most, 0)
    share = b.div(least, b.select(is_zero, like(b, most, 1), most))
    found = b.mul(most, b.op(ew.SqrtOp, b.add(square(b, share), 1.0)))
    # An infinity beside NaN is one.
    is_whole = b.op(ew.BitOrOp, is_infinite(b, x), is_infinite(b, y))
    return b.select(is_whole, like(b, most, inf), found)


def cbrt(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """The cubic root, which a step of Newton's method makes exact."""
    size = b.op(ew.AbsOp, x)
    root = b.op(ew.PowOp, size, 1 / 3)
    square = b.mul(root, root)
    better = b.sub(root, b.div(b.sub(b.mul(square, root), size), b.mul(square, 3.0)))
    is_plain = b.op(ew.BitAndOp, b.op(ew.CmpGtOp, size, 0), is_less(b, size, inf))
    return b.mul(sign(b, x), b.select(is_plain, better, size))


def is_finite(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """Whether a real is neither infinite nor NaN."""
    return is_less(b, b.op(ew.AbsOp, x), inf)


def is_infinite(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """Whether a real is infinite."""
    return b.op(ew.CmpEqOp, b.op(ew.AbsOp, x), inf)


def is_nan(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """Whether a real is no number."""
    return b.op(ew.CmpNeOp, x, x)


def square(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """The product with itself."""
    return b.mul(x, x)


def remainder(b: TensorBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """The remainder of a quotient rounded toward zero, with the sign of ``x``."""
    if not et.is_float(element_type(x)):
        return b.op(ew.RemOp, x, y)
    rest = b.sub(x, b.mul(y, truncate(b, b.div(x, y))))
    return b.select(is_infinite(b, y), b.add(x, b.mul(x, 0.0)), rest)


def with_sign_of(b: TensorBuilder, rest: SSAValue, y: SSAValue) -> SSAValue:
    """A remainder by ``y`` with the sign of ``y``, of a quotient rounded down."""
    if et.is_unsigned(element_type(y)):
        return rest
    differs = b.op(ew.BitXorOp, is_less(b, rest, 0), is_less(b, y, 0))
    is_off = b.op(ew.BitAndOp, differs, b.op(ew.CmpNeOp, rest, 0))
    return b.select(is_off, b.add(rest, y), rest)


def floor_divide(b: TensorBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """The quotient rounded down; that of a real by 0 is an infinity or NaN."""
    rest = remainder(b, x, y)
    moved = with_sign_of(b, rest, y)
    if not et.is_float(element_type(x)):
        return b.div(b.sub(x, moved), y)
    # The rest that is moved is infinite if the divisor is.
    whole = round_to_even(b, b.div(b.sub(x, rest), y))
    down = b.select(b.op(ew.CmpNeOp, moved, rest), b.sub(whole, 1), whole)
    return b.select(b.op(ew.CmpEqOp, y, 0), b.div(x, y), down)


def softplus(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """The logarithm of 1 + exp(x)."""
    tail = b.op(ew.Log1pOp, b.op(ew.ExpOp, b.neg(b.op(ew.AbsOp, x))))
    return b.add(b.op(ew.ReluOp, x), tail)


def sloped(b: TensorBuilder, x: SSAValue, below: SSAValue) -> SSAValue:
    """``x``, and ``below`` where it is negative."""
    return b.select(is_less(b, x, 0), below, x)


def gelu(b: TensorBuilder, x: SSAValue, *, is_tanh: bool = False) -> SSAValue:
    """``x`` times the normal distribution's integral up to it, or an approximation by tanh."""
    if is_tanh:
        cubic = b.add(x, b.mul(b.mul(b.mul(x, x), x), 0.044715))
        inner = b.op(ew.TanhOp, b.mul(cubic, sqrt(2 / pi)))
    else:
        inner = b.op(ew.ErfOp, b.mul(x, sqrt(0.5)))
    return b.mul(b.mul(x, 0.5), b.add(inner, 1.0))


def saturated(b: TensorBuilder, x: SSAValue, t: Attribute) -> SSAValue:
    """Reals as integers of a type, those outside its range as its limits."""
    low, high = et.limits(t)
    return cast(b, b.op(ew.MinOp, b.op(ew.MaxOp, x, float(low)), float(high)), t)


def atan2(b: TensorBuilder, y: SSAValue, x: SSAValue) -> SSAValue:
    """The angle of the point (x, y), in radians."""
    across, along = b.op(ew.AbsOp, y), b.op(ew.AbsOp, x)
    small, large = b.op(ew.MinOp, across, along), b.op(ew.MaxOp, across, along)
    slope = b.select(b.op(ew.CmpEqOp, small, large), like(b, x, 1), b.div(small, large))
    slope = b.select(b.op(ew.CmpEqOp, large, 0), like(b, x, 0), slope)
    # A NaN stays one.
    angle = b.op(
        ew.AtanOp, b.add(slope, b.mul(b.select(is_infinite(b, large), like(b, x, 0), large), 0.0))
    )
    angle = b.select(b.op(ew.CmpGtOp, across, along), b.sub(pi / 2, angle), angle)
    angle = b.select(is_negative(b, x), b.sub(pi, angle), angle)
    return b.select(is_negative(b, y), b.neg(angle), angle)


def erfc(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """1 less the error function."""
    return b.sub(1.0, b.op(ew.ErfOp, x))


_CENTRE = (
    *(2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087),
    *(-0.00125372503, -0.00417768164, 0.246640727, 1.50140941),
)
_TAIL = (
    *(-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773),
    *(-0.0076224613, 0.00943887047, 1.00167406, 2.83297682),
)
"""Coefficients of M. Giles, "Approximating the erfinv function", GPU Computing Gems (2011)."""


def erf_inv(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """The inverse of the error function."""
    w = b.neg(b.op(ew.Log1pOp, b.neg(b.mul(x, x))))
    is_central = is_less(b, w, 5.0)
    centre, tail = b.sub(w, 2.5), b.sub(b.op(ew.SqrtOp, w), 3.0)
    result = b.mul(
        b.select(is_central, _polynomial(b, centre, _CENTRE), _polynomial(b, tail, _TAIL)), x
    )
    if element_type(x) == f64:
        for _ in range(2):
            slope = b.mul(b.op(ew.ExpOp, b.neg(b.mul(result, result))), 2 / sqrt(pi))
            result = b.sub(result, b.div(b.sub(b.op(ew.ErfOp, result), x), slope))
    edge = b.mul(x, like(b, x, inf))
    return b.select(b.op(ew.CmpEqOp, b.op(ew.AbsOp, x), 1.0), edge, result)


def _polynomial(b: TensorBuilder, x: SSAValue, coefficients: tuple[float, ...]) -> SSAValue:
    result: SSAValue = like(b, x, coefficients[0])
    for c in coefficients[1:]:
        result = b.add(b.mul(result, x), c)
    return result


_NEAR: dict[Attribute, float] = {f16: 200.0, f64: 1e9}
"""Numbers whose square is finite, and more than 1 next to it, where 1e4 is none."""


def _is_near(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """Whether a number is too small for its logarithm alone, and its square is finite."""
    return is_less(b, x, _NEAR.get(element_type(x), 1e4))


def asinh(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """The inverse of the hyperbolic sine."""
    size = b.op(ew.AbsOp, x)
    squared = b.mul(size, size)
    root = b.op(ew.SqrtOp, b.add(squared, 1.0))
    near = b.op(ew.Log1pOp, b.add(size, b.div(squared, b.add(root, 1.0))))
    far = b.add(b.op(ew.LogOp, size), log(2))
    return b.mul(sign(b, x), b.select(_is_near(b, size), near, far))


def acosh(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """The inverse of the hyperbolic cosine; NaN below 1."""
    less = b.sub(x, 1.0)
    # The root of the product of both would be finite below -1.
    root = b.mul(b.op(ew.SqrtOp, less), b.op(ew.SqrtOp, b.add(x, 1.0)))
    near = b.op(ew.Log1pOp, b.add(less, root))
    far = b.add(b.op(ew.LogOp, x), log(2))
    return b.select(_is_near(b, x), near, far)


def atanh(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """The inverse of the hyperbolic tangent."""
    return b.mul(b.sub(b.op(ew.Log1pOp, x), b.op(ew.Log1pOp, b.neg(x))), 0.5)


def shift_right_logical(b: TensorBuilder, x: SSAValue, places: SSAValue) -> SSAValue:
    """The bits shifted right; zeros come in."""
    t = element_type(x)
    if not isinstance(t, IntegerType):
        return b.op(ew.BitRightOp, x, places)
    unsigned = IntegerType(t.width.data, Signedness.UNSIGNED)
    return cast(b, b.op(ew.BitRightOp, cast(b, x, unsigned), cast(b, places, unsigned)), t)


def count_ones(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """Number of bits that are set."""
    return _sum_of_bits(b, x, _width(x))


def count_leading_zeros(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """Number of zeros before the first bit that is set."""
    step = 1
    while step < _width(x):
        x = b.op(ew.BitOrOp, x, shift_right_logical(b, x, like(b, x, step)))
        step *= 2
    return b.sub(_width(x), count_ones(b, x))


def _width(x: SSAValue) -> int:
    t = element_type(x)
    return t.width.data if isinstance(t, IntegerType) else 32


def _sum_of_bits(b: TensorBuilder, x: SSAValue, width: int) -> SSAValue:
    total = like(b, x, 0)
    for k in range(width):
        bit = b.op(ew.BitAndOp, shift_right_logical(b, x, like(b, x, k)), like(b, x, 1))
        total = b.add(total, bit)
    return total


def clamp(b: TensorBuilder, low: SSAValue, x: SSAValue, high: SSAValue) -> SSAValue:
    """``x``, but not below ``low`` or above ``high``."""
    return b.op(ew.MinOp, b.op(ew.MaxOp, x, low), high)


def clamped_index(b: TensorBuilder, x: SSAValue, last: int) -> SSAValue:
    """Positions as i32 from 0 to ``last``."""
    t = element_type(x)
    inner = b.op(ew.MinOp, x, like(b, x, min(last, et.limits(t)[1])))
    return cast(b, inner if et.is_unsigned(t) else b.op(ew.MaxOp, inner, like(b, x, 0)), i32)


def common_divisor(b: TensorBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """The greatest common divisor of two integers, by Euclid."""
    first, second = (_size(b, v) for v in (x, y))
    # Each two steps halve the numbers, or nearly.
    for _ in range(ceil(_width(x) * log(2) / log((1 + sqrt(5)) / 2))):
        is_done = b.op(ew.CmpEqOp, second, 0)
        rest = b.op(ew.RemOp, first, b.select(is_done, like(b, second, 1), second))
        first, second = b.select(is_done, first, second), b.select(is_done, second, rest)
    return first


def common_multiple(b: TensorBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """The least common multiple of two integers."""
    divisor = common_divisor(b, x, y)
    divisor = b.select(b.op(ew.CmpEqOp, divisor, 0), like(b, x, 1), divisor)
    return _size(b, b.mul(b.div(x, divisor), y))


def _size(b: TensorBuilder, x: SSAValue) -> SSAValue:
    return x if et.is_unsigned(element_type(x)) else b.op(ew.AbsOp, x)
