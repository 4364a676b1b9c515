"""Modified Bessel functions of the first kind, by sums of Chebyshev polynomials."""

from __future__ import annotations

from math import pi

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import f32, f64
from xdsl.ir import SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators.elementwise import is_infinite, is_less, like
from tiledialect.operators.layout import cast, element_type

_BORDER = 8.0
"""Number up to which a polynomial is of the number itself, and beyond it of its reciprocal."""
_NODES = 2000
"""Steps of the integral: enough for the largest number, where the integrand is narrowest."""


def _scaled(order: int, x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The function over ``exp(x)``, as an integral over half a circle."""
    angle = (np.arange(_NODES) + 0.5) * (pi / _NODES)
    return (np.exp(np.multiply.outer(x, np.cos(angle) - 1)) * np.cos(order * angle)).mean(-1)


def _coefficients(order: int, degree: int, *, is_far: bool) -> tuple[float, ...]:
    """Coefficients of a function from -1 to 1, on one side of the border."""
    angle = (np.arange(degree + 1) + 0.5) * (pi / (degree + 1))
    t = np.cos(angle) + 1
    x = 2 * _BORDER / t if is_far else t * (_BORDER / 2)
    values = _scaled(order, x) * (np.sqrt(x) if is_far else x ** -float(order))
    found = np.cos(np.multiply.outer(np.arange(degree + 1), angle)) @ values * (2 / (degree + 1))
    return found[0] / 2, *map(float, found[1:])


def _series(b: TensorBuilder, t: SSAValue, coefficients: tuple[float, ...]) -> SSAValue:
    """Sum of Chebyshev polynomials, by C. Clenshaw's recurrence."""
    double, last, before = b.mul(t, 2.0), like(b, t, 0), like(b, t, 0)
    for c in coefficients[:0:-1]:
        last, before = b.add(b.sub(b.mul(double, last), before), c), last
    return b.add(b.sub(b.mul(t, last), before), coefficients[0])


def bessel_i(b: TensorBuilder, x: SSAValue, order: int, *, is_scaled: bool = False) -> SSAValue:
    """The function of order 0 or 1, or its quotient by ``exp(abs(x))``."""
    x = cast(b, x, f32) if element_type(x) in et.SHORT_FLOATS else x
    degrees = (29, 24) if element_type(x) == f64 else (17, 9)
    size = b.op(ew.AbsOp, x)
    is_near = b.op(ew.CmpLeOp, size, _BORDER)
    inner = b.select(is_near, size, like(b, x, _BORDER))
    outer = b.select(is_near, like(b, x, _BORDER), size)
    near = _series(
        b,
        b.sub(b.mul(inner, 2 / _BORDER), 1.0),
        _coefficients(order, degrees[0], is_far=False),
    )
    near = b.mul(near, inner) if order else near
    far = _series(
        b,
        b.sub(b.div(2 * _BORDER, outer), 1.0),
        _coefficients(order, degrees[1], is_far=True),
    )
    far = b.div(far, b.op(ew.SqrtOp, outer))
    result = b.select(is_near, near, far)
    if not is_scaled:
        # In two steps, as the exponential alone overflows first.
        half = b.op(ew.ExpOp, b.mul(size, 0.5))
        result = b.mul(b.mul(result, half), half)
        result = b.select(is_infinite(b, x), size, result)
    result = b.select(is_less(b, x, 0), b.neg(result), result) if order else result
    return b.select(b.op(ew.CmpNeOp, x, x), x, result)
