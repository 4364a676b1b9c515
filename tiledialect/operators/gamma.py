"""Logarithm of the gamma function by Lanczos' approximation, and its derivatives."""

from __future__ import annotations

from functools import reduce
from math import factorial, inf, log, nan, pi

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators.elementwise import is_finite, is_infinite, is_less, like
from tiledialect.operators.layout import cast, element_type

_G = 7.0
_BASE = 0.99999999999980993227684700473478
_COEFFICIENTS = (
    *(676.520368121885098567009190444019, -1259.13921672240287047156078755283),
    *(771.3234287776530788486528258894, -176.61502916214059906584551354),
    *(12.507343278686904814458936853, -0.13857109526572011689554707),
    *(9.984369578019570859563e-6, 1.50563273514931155834e-7),
)
"""P. Godfrey's coefficients of C. Lanczos, "A Precision Approximation of the Gamma Function"."""


def log_gamma(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """The logarithm of the gamma function's absolute value."""
    x, is_reflected, z = _arguments(b, x)
    t, log_t = _shifted(b, z)
    series = like(b, x, _BASE)
    for k, c in enumerate(_COEFFICIENTS, 1):
        series = b.add(series, b.div(c, b.add(z, float(k))))
    power = b.mul(b.sub(b.add(z, 0.5), b.div(t, log_t)), log_t)
    result = b.add(b.add(power, log(2 * pi) / 2), b.op(ew.LogOp, series))
    size = b.op(ew.AbsOp, x)
    rest = b.sub(size, b.op(ew.FloorOp, size))
    rest = b.select(is_less(b, 0.5, rest), b.sub(1.0, rest), rest)
    sine = b.op(ew.LogOp, b.op(ew.SinOp, b.mul(b.select(is_reflected, rest, like(b, x, 0.5)), pi)))
    reflected = b.sub(b.sub(log(pi), sine), result)
    result = b.select(is_reflected, b.select(is_finite(b, sine), reflected, b.neg(sine)), result)
    return b.select(is_infinite(b, x), like(b, x, inf), result)


def digamma(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """The derivative of the logarithm of the gamma function."""
    x, is_reflected, z = _arguments(b, x)
    t, log_t = _shifted(b, z)
    series, slope = like(b, x, _BASE), like(b, x, 0)
    for k, c in enumerate(_COEFFICIENTS, 1):
        place = b.add(z, float(k))
        series = b.add(series, b.div(c, place))
        slope = b.sub(slope, b.div(c, b.mul(place, place)))
    result = b.sub(b.add(log_t, b.div(slope, series)), b.div(_G, t))
    rest = b.add(x, b.op(ew.AbsOp, b.op(ew.FloorOp, b.add(x, 0.5))))
    cotangent = _cotangent(b, b.select(is_reflected, rest, like(b, x, 0.5)))
    result = b.select(is_reflected, b.sub(result, b.mul(cotangent, pi)), result)
    return _with_poles(b, x, result, nan)


def _cotangent(b: TensorBuilder, x: SSAValue) -> SSAValue:
    """The cotangent of a number times pi."""
    angle = b.mul(x, pi)
    return b.div(b.op(ew.CosOp, angle), b.op(ew.SinOp, angle))


def _with_poles(b: TensorBuilder, x: SSAValue, result: SSAValue, pole: float) -> SSAValue:
    """A function of ``x`` with its value at poles: 0, and negative integers."""
    is_whole = b.op(ew.CmpEqOp, x, b.op(ew.FloorOp, x))
    is_pole = b.op(ew.BitAndOp, is_whole, b.op(ew.CmpLeOp, x, 0))
    return b.select(is_pole, like(b, x, pole), result)


_SHIFT = 10
"""Terms of the zeta function that are added before the rest is estimated."""
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


def polygamma(b: TensorBuilder, x: SSAValue, order: int) -> SSAValue:
    """A derivative of ``digamma``, from the first on."""
    x = cast(b, x, f32) if element_type(x) in et.SHORT_FLOATS else x
    is_reflected = is_less(b, x, 0.5)
    sign = (-1.0) ** (order + 1) * factorial(order)
    own = b.mul(_zeta(b, b.select(is_reflected, b.sub(1.0, x), x), order + 1), sign)
    # With the reflected number as well, it is a derivative of the cotangent.
    rest = b.sub(x, b.op(ew.FloorOp, x))
    cotangent = _cotangent(b, b.select(is_reflected, rest, like(b, x, 0.5)))
    total: SSAValue = like(b, x, 0)
    for c in reversed(_cotangent_derivative(order)):
        total = b.add(b.mul(total, cotangent), c)
    total = b.mul(total, pi ** (order + 1))
    reflected = b.sub(b.mul(own, (-1.0) ** order), total)
    result = b.select(is_reflected, reflected, own)
    return _with_poles(b, x, result, inf if order % 2 else nan)


def _zeta(b: TensorBuilder, x: SSAValue, power: int) -> SSAValue:
    """Sum of ``(x + k) ** -power`` over all k, for x from 0.5 on, by Euler and Maclaurin."""

    def inverse(place: SSAValue, power: int) -> SSAValue:
        return reduce(b.mul, [b.op(ew.RecipOp, place)] * power)

    total = inverse(x, power)
    for k in range(1, _SHIFT):
        total = b.add(total, inverse(b.add(x, float(k)), power))
    last = b.add(x, float(_SHIFT))
    # The power below is one of its own: of infinity, both are 0.
    rest, term = inverse(last, power - 1), inverse(last, power)
    total = b.add(total, b.add(b.mul(rest, 1 / (power - 1)), b.mul(term, 0.5)))
    factor, square = 0.5 * power, b.op(ew.RecipOp, b.mul(last, last))
    term = b.div(term, last)
    for k, number in enumerate(_BERNOULLI, 1):
        total = b.add(total, b.mul(term, number * factor))
        factor *= (power + 2 * k - 1) * (power + 2 * k) / ((2 * k + 1) * (2 * k + 2))
        term = b.mul(term, square)
    return total


def _cotangent_derivative(order: int) -> list[float]:
    """Coefficients of a derivative of the cotangent as a polynomial of it, the lowest first."""
    found = [0.0, 1.0]
    for _ in range(order):
        slope = [k * c for k, c in enumerate(found)][1:]
        found = [-x - y for x, y in zip([*slope, 0, 0], [0, 0, *slope], strict=True)]
    return found


def _arguments(b: TensorBuilder, x: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
    """The number in 32 bits or more, whether it is reflected, and the series' argument."""
    x = cast(b, x, f32) if element_type(x) in et.SHORT_FLOATS else x
    is_reflected = is_less(b, x, 0.5)
    return x, is_reflected, b.select(is_reflected, b.neg(x), b.sub(x, 1.0))


def _shifted(b: TensorBuilder, z: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The series' argument and a constant, and the logarithm of this sum."""
    shift = _G + 0.5
    return b.add(z, shift), b.add(b.op(ew.Log1pOp, b.div(z, shift)), log(shift))
