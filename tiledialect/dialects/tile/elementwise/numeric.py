"""Elementwise ops on NumPy arrays.

Folding and the reference semantics share this table. Every function takes arrays that already
have the op's compute type and gives an array of it (comparisons: of bools).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import erf
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import bf16, f16, f32, f64, i1, i8, i16, i32, i64
from xdsl.ir import Attribute

from tiledialect.dialects.tile.element_types import index, real, ui8, ui16, ui32, ui64

Array = npt.NDArray[Any]

NUMPY_TYPES: dict[Attribute, np.dtype[Any]] = {
    t: np.dtype(dtype)
    for t, dtype in (
        (f16, "float16"),
        (bf16, ml_dtypes.bfloat16),
        (f32, "float32"),
        (f64, "float64"),
        (i1, "bool"),
        (i8, "int8"),
        (i16, "int16"),
        (i32, "int32"),
        (i64, "int64"),
        (ui8, "uint8"),
        (ui16, "uint16"),
        (ui32, "uint32"),
        (ui64, "uint64"),
        (index, "int64"),
        (real, "float64"),
    )
}
"""The NumPy type of each element type; weak types compute in 64 bits."""

ELEMENT_TYPES: dict[np.dtype[Any], Attribute] = {
    dtype: t for t, dtype in reversed(NUMPY_TYPES.items())
}
"""The element type of each NumPy type."""


def kind_of(dtype: np.dtype[Any]) -> str:
    """NumPy's letter for the kind of a dtype: ``f`` for reals, also of types not its own."""
    return "f" if dtype == NUMPY_TYPES[bf16] else dtype.kind


def _is_integer(a: Array) -> bool:
    return a.dtype.kind in "iu"


def _relu(a: Array) -> Array:
    return np.where(a < 0, a.dtype.type(0), a)


def _divide(a: Array, b: Array) -> Array:
    if not _is_integer(a):
        return np.divide(a, b)
    # NumPy rounds quotients down; C and Tile round them toward zero.
    safe = np.where(b == 0, b.dtype.type(1), b)
    quotient = a // safe
    quotient = quotient + ((quotient < 0) & (quotient * safe != a)).astype(a.dtype)
    return np.where(b == 0, a.dtype.type(0), quotient)


def _remainder(a: Array, b: Array) -> Array:
    return np.where(b == 0, a, np.fmod(a, np.where(b == 0, b.dtype.type(1), b)))


def _power(a: Array, b: Array) -> Array:
    if not _is_integer(a):
        return np.power(a, b)
    # A negative power of an integer is 1 over it, rounded toward zero.
    positive = np.power(a, np.where(b < 0, b.dtype.type(0), b))
    sign = np.where(b % 2 == 0, a.dtype.type(1), a)
    return np.where(b < 0, np.where(abs(a) == 1, sign, a.dtype.type(0)), positive)


def _round(a: Array) -> Array:
    whole = np.trunc(a)
    return np.where(np.abs(a - whole) >= 0.5, whole + np.copysign(a.dtype.type(1), a), whole)


def _erf(a: Array) -> Array:
    return np.vectorize(erf, otypes=[np.float64])(a.astype(np.float64)).astype(a.dtype)


def _sigmoid(a: Array) -> Array:
    return (1 / (1 + np.exp(-a))).astype(a.dtype)


def _shift(a: Array, b: Array, left: bool) -> Array:
    width = 8 * a.dtype.itemsize
    inside = (b >= 0) & (b < width)
    amount = np.where(inside, b, b.dtype.type(0))
    if left:
        return np.where(inside, a << amount, a.dtype.type(0))
    return np.where(inside, a >> amount, np.where(a < 0, ~a.dtype.type(0), a.dtype.type(0)))


FUNCTIONS: dict[str, Callable[..., Array]] = {
    "tile.abs": np.abs,
    "tile.neg": np.negative,
    "tile.relu": _relu,
    "tile.ident": np.asarray,
    "tile.acos": np.arccos,
    "tile.asin": np.arcsin,
    "tile.atan": np.arctan,
    "tile.ceil": np.ceil,
    "tile.cos": np.cos,
    "tile.cosh": np.cosh,
    "tile.erf": _erf,
    "tile.exp": np.exp,
    "tile.expm1": np.expm1,
    "tile.floor": np.floor,
    "tile.log": np.log,
    "tile.log1p": np.log1p,
    "tile.recip": np.reciprocal,
    "tile.round": _round,
    "tile.sigmoid": _sigmoid,
    "tile.sin": np.sin,
    "tile.sinh": np.sinh,
    "tile.sqrt": np.sqrt,
    "tile.tan": np.tan,
    "tile.tanh": np.tanh,
    "tile.bit_not": np.invert,
    "tile.add": np.add,
    "tile.sub": np.subtract,
    "tile.mul": np.multiply,
    "tile.div": _divide,
    "tile.rem": _remainder,
    "tile.max": np.maximum,
    "tile.min": np.minimum,
    "tile.pow": _power,
    "tile.cmp_eq": np.equal,
    "tile.cmp_ne": np.not_equal,
    "tile.cmp_lt": np.less,
    "tile.cmp_gt": np.greater,
    "tile.cmp_le": np.less_equal,
    "tile.cmp_ge": np.greater_equal,
    "tile.bit_and": np.bitwise_and,
    "tile.bit_or": np.bitwise_or,
    "tile.bit_xor": np.bitwise_xor,
    "tile.bit_left": partial(_shift, left=True),
    "tile.bit_right": partial(_shift, left=False),
}
"""The function of each op whose operands are all promoted to its compute type."""


def convert(a: Array, element_type: Attribute) -> Array:
    """``a`` in another element type: reals are cut off, integers wrap, a bool is ``a != 0``."""
    dtype = NUMPY_TYPES[element_type]
    with np.errstate(all="ignore"):
        if kind_of(a.dtype) == "f" and dtype.kind in "iu":
            return _cut_off(a, dtype)
        return a.astype(dtype)


def _cut_off(a: Array, dtype: np.dtype[Any]) -> Array:
    """Reals as integers, which wrap; reals beyond 64 bits become anything."""
    signed = a.astype(np.int64).astype(dtype)
    return np.where(a < 0, signed, a.astype(dtype)) if dtype == np.uint64 else signed


def number(value: int | float, element_type: Attribute) -> Array:
    """A number as a scalar of an element type; integers wrap."""
    dtype = NUMPY_TYPES[element_type]
    if dtype.kind in "iu":
        bits = 8 * dtype.itemsize
        value = int(value) % 2**bits
        if dtype.kind == "i" and value >= 2 ** (bits - 1):
            value -= 2**bits
    with np.errstate(all="ignore"):
        return np.asarray(value).astype(dtype)


def apply(name: str, compute_type: Attribute, operands: list[Array]) -> Array:
    """The elementwise op ``name`` on operands converted to its compute type."""
    with np.errstate(all="ignore"):
        return np.asarray(FUNCTIONS[name](*(convert(a, compute_type) for a in operands)))
