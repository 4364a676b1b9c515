"""Discrete Fourier transforms, as products with the matrix of the transform.

Complex numbers are pairs along a last axis. A transform of n places takes n^2 products.
"""

from __future__ import annotations

from math import pi

from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import layout
from tiledialect.operators.layout import cast, element_type, shape
from tiledialect.operators.linear import einsum


def fourier(
    b: TensorBuilder,
    x: SSAValue,
    axis: int,
    length: int,
    *,
    is_inverse: bool = False,
    is_onesided: bool,
) -> SSAValue:
    """Transform along an axis of ``x``, whose last axis holds real or complex numbers.

    The axis is cut, or continued by zeros, to a length; ``is_onesided`` leaves out the frequencies
    that those of a real tensor tell. One-sided inverses take these as known.
    """
    t = element_type(x)
    is_complex = shape(x)[-1] == 2
    takes_half = is_inverse and is_onesided
    given = length // 2 + 1 if takes_half else length
    x = _resized(b, x, axis, given)
    count = length // 2 + 1 if is_onesided and not is_inverse else length
    place, frequency = (layout.iota(b, (given, count), k, i64) for k in (0, 1))
    cosine, sine = _unit_roots(b, b.mul(place, frequency), length, t)
    if not is_inverse:
        sine = b.neg(sine)
    elif takes_half:
        own = _weights(b, place, length)
        cosine, sine = cast(b, b.mul(cosine, own), t), cast(b, b.mul(sine, own), t)
    rows = [(cosine, sine)]
    if is_complex:
        rows.append((b.neg(sine), cosine))
    parts = [layout.reshape(b, v, (1, *shape(v), 1)) for row in rows for v in row]
    pairs = [layout.concatenate(b, parts[2 * k : 2 * k + 2], 3) for k in range(len(rows))]
    matrix = layout.concatenate(b, pairs, 0)
    names = [f"d{k}" for k in range(len(shape(x)) - 1)]
    source, output = [*names, "c"], [*names, "o"]
    source[axis], output[axis] = "n", "k"
    result = einsum(b, [x, matrix], [source, ["c", "n", "k", "o"]], output, t)
    if is_inverse:
        result = cast(b, b.mul(result, 1 / length), t)
    if takes_half:
        result = layout.section(b, result, len(shape(result)) - 1, 0, 1)
    return result


def _unit_roots(
    b: TensorBuilder, number: SSAValue, length: int, t: Attribute
) -> tuple[SSAValue, SSAValue]:
    """Cosine and sine of parts of a turn, exact at its quarters."""
    quarters = b.mul(b.op(ew.RemOp, number, length), 4)
    quarter = b.div(quarters, length)
    rest = cast(b, b.sub(quarters, b.mul(quarter, length)), t)
    angle = b.mul(rest, pi / 2 / length)
    x, y = b.op(ew.CosOp, angle), b.op(ew.SinOp, angle)
    is_odd = b.op(ew.CmpEqOp, b.op(ew.RemOp, quarter, 2), 1)
    x, y = b.select(is_odd, b.neg(y), x), b.select(is_odd, x, y)
    is_far = b.op(ew.CmpGeOp, quarter, 2)
    return b.select(is_far, b.neg(x), x), b.select(is_far, b.neg(y), y)


def _weights(b: TensorBuilder, place: SSAValue, length: int) -> SSAValue:
    """Weights of the frequencies of a real tensor, of which most stand for two."""
    is_single = b.op(ew.CmpEqOp, place, 0)
    if length % 2 == 0:
        is_single = b.op(ew.BitOrOp, is_single, b.op(ew.CmpEqOp, place, length // 2))
    return b.select(is_single, 1.0, 2.0)


def _resized(b: TensorBuilder, x: SSAValue, axis: int, length: int) -> SSAValue:
    sizes = shape(x)
    if sizes[axis] >= length:
        return layout.section(b, x, axis, 0, length)
    high = [length - n if k == axis else 0 for k, n in enumerate(sizes)]
    zero = layout.constant(b, 0, element_type(x))
    return layout.pad(b, x, zero, [0] * len(sizes), high, [0] * len(sizes))
