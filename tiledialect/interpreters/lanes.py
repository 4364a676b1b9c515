"""The ops of arith, math and vector on the values of all work-items at once.

The first axis of every array is the work-items (of length 1 where all have the same value); a
vector has its lanes as a second axis.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    VectorType,
)
from xdsl.ir import Attribute, Operation

from tiledialect.dialects.nest.lanewise import scalar_op
from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES, convert, number
from tiledialect.errors import TileError
from tiledialect.interpreters import scalars

Array = npt.NDArray[Any]


def element_type(t: Attribute) -> Attribute:
    """The type of a value, or of a vector's elements."""
    return t.element_type if isinstance(t, VectorType) else t


def dtype_of(t: Attribute) -> np.dtype[Any]:
    """The NumPy type of a value, or of a vector's elements."""
    return NUMPY_TYPES[element_type(t)]


def along_lanes(a: Array, rank: int) -> Array:
    """Broadcast values along the lanes of vectors, if ``rank`` is one of vectors."""
    return a if a.ndim == rank else a[:, None]


def compute(op: Operation, values: list[Array]) -> tuple[Array, ...]:
    """The results of an op on values; a TileError if it is not known."""
    with np.errstate(all="ignore"):
        kind = scalar_op(op)
        if (special := SPECIAL.get(kind)) is not None:
            return special(op, *values)
        if (function := scalars.FUNCTIONS.get(kind)) is None:
            raise TileError.at(op, f"the reference semantics do not cover {op.name}")
        return (convert(np.asarray(function(*values)), element_type(op.results[0].type)),)


def _constant(op: Any) -> tuple[Array]:
    t, value = op.result.type, op.value
    if isinstance(value, DenseIntOrFPElementsAttr):
        return (np.array([list(value.get_values())], dtype_of(t)),)
    assert isinstance(value, IntegerAttr | FloatAttr)
    return (number(value.value.data, t).reshape(1),)


def _compare_integers(op: Any, a: Array, b: Array) -> tuple[Array]:
    return (scalars.COMPARISONS[scalars.INTEGER_PREDICATES[op.predicate.value.data]](a, b),)


def _compare_reals(op: Any, a: Array, b: Array) -> tuple[Array]:
    return (scalars.compare_reals(op.predicate.value.data, a, b),)


def _select(op: Operation, condition: Array, a: Array, b: Array) -> tuple[Array]:
    return (np.where(along_lanes(condition, a.ndim), a, b),)


def _cut_off(op: Operation, a: Array) -> tuple[Array]:
    """A real number as an integer without sign."""
    t = element_type(op.results[0].type)
    assert isinstance(t, IntegerType)
    return (a.astype(f"u{t.width.data // 8}").view(NUMPY_TYPES[t]),)


def _bitcast(op: Operation, a: Array) -> tuple[Array]:
    return (a.view(dtype_of(op.results[0].type)),)


def _multiply_extended(op: Operation, a: Array, b: Array) -> tuple[Array, Array]:
    bits, unsigned = 8 * a.dtype.itemsize, f"u{a.dtype.itemsize}"
    product = a.view(unsigned).astype(object) * b.view(unsigned).astype(object)
    low, high = (
        half.astype(unsigned).view(a.dtype) for half in (product % 2**bits, product // 2**bits)
    )
    return low, high


def _broadcast(op: Operation, a: Array) -> tuple[Array]:
    t = op.results[0].type
    assert isinstance(t, VectorType)
    lanes = t.get_shape()[0]
    return (a if a.ndim == 2 else np.repeat(a[:, None], lanes, 1),)


def _extract(op: Any, a: Array) -> tuple[Array]:
    return (a[:, op.static_position.get_values()[0]],)


def _insert(op: Any, element: Array, a: Array) -> tuple[Array]:
    result = np.repeat(a, max(len(a), len(element)) // len(a), 0)
    result[:, op.static_position.get_values()[0]] = element
    return (result,)


def _shuffle(op: Any, a: Array, b: Array) -> tuple[Array]:
    lanes = np.concatenate(np.broadcast_arrays(a, b), axis=1)
    return (lanes[:, list(op.mask.get_values())],)


def _multiply_add(op: Operation, a: Array, b: Array, c: Array) -> tuple[Array]:
    # One rounding instead of two, where there is a wider type.
    return ((a.astype(np.float64) * b + c).astype(a.dtype),)


SPECIAL: dict[type[Operation], Callable[..., tuple[Array, ...]]] = {
    arith.ConstantOp: _constant,
    arith.CmpiOp: _compare_integers,
    arith.CmpfOp: _compare_reals,
    arith.SelectOp: _select,
    arith.FPToUIOp: _cut_off,
    arith.BitcastOp: _bitcast,
    arith.MulUIExtendedOp: _multiply_extended,
    vector.BroadcastOp: _broadcast,
    vector.ExtractOp: _extract,
    vector.InsertOp: _insert,
    vector.ShuffleOp: _shuffle,
    vector.FMAOp: _multiply_add,
}
"""The results of the ops that are no function of their operands' values alone."""
