"""Values of a lift function for many elements at once.

After the axes of its type, a value has one for each map around, the innermost map's first. It lacks
those of the inner maps in which it is the same; where it is the same along another, that has length
1 or all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import TensorType, TupleType, VectorType
from xdsl.ir import Attribute

from tiledialect.dialects.lift.base import FunctionOp
from tiledialect.dialects.lift.maps import MapBase
from tiledialect.dialects.lift.reductions import SearchOp
from tiledialect.dialects.lift.values import GenerateOp

Array = npt.NDArray[Any]
Value: TypeAlias = "Any | tuple[Value, ...]"

NUMBERS_AT_ONCE = 1 << 24
"""Bound on the numbers of a value for many elements."""


def each(function: Callable[..., Any], *trees: Value) -> Value:
    """Apply the function to the components of tuples, one by one."""
    if isinstance(trees[0], tuple):
        return tuple(each(function, *parts) for parts in zip(*trees, strict=True))
    return function(*trees)


def ranks(t: Attribute, outer: int = 0) -> Value:
    """Number of axes of a value of type ``t``; of a tuple, that of each component."""
    match t:
        case TupleType():
            return tuple(ranks(part, outer) for part in t.types)
        case TensorType() | VectorType():
            return ranks(t.element_type, outer + len(t.get_shape()))
        case _:
            return outer


def batched(array: Array, rank: int, depth: int) -> Array:
    """All elements, which have ``rank`` axes, of an array inside of ``depth`` maps."""
    moved = np.moveaxis(array, 0, rank)
    missing = depth - (array.ndim - rank - 1)
    return np.expand_dims(moved, tuple(range(rank + 1, rank + 1 + missing)))


def unbatched(value: Array, rank: int, depth: int, size: int) -> Array:
    """An array of a map's ``size`` results, which have ``rank`` axes, inside of ``depth`` maps."""
    value = np.asarray(value)
    if value.ndim - rank <= depth:
        return np.broadcast_to(value, (size, *value.shape))
    moved = np.moveaxis(value, rank, 0)
    return np.broadcast_to(moved, (size, *moved.shape[1:]))


def aligned(values: Sequence[Any], ranks: Sequence[int]) -> list[Array]:
    """The values with the same axes for maps, so that they can be broadcast."""
    arrays = list(map(np.asarray, values))
    depths = [a.ndim - rank for a, rank in zip(arrays, ranks, strict=True)]
    return [
        np.expand_dims(a, tuple(range(rank, rank + max(depths) - depth)))
        for a, rank, depth in zip(arrays, ranks, depths, strict=True)
    ]


def repeated(values: Sequence[Any], ranks: Sequence[int]) -> list[Array]:
    """The values with axes for maps of the same lengths."""
    pairs = list(zip(aligned(values, ranks), ranks, strict=True))
    batch = np.broadcast_shapes(*(a.shape[rank:] for a, rank in pairs))
    return [np.broadcast_to(a, a.shape[:rank] + batch) for a, rank in pairs]


def can_batch(op: FunctionOp) -> bool:
    """Whether the op's function can be executed for many elements at once.

    A search goes another way for each.
    """
    dialects = ("lift", "arith", "math", "vector")
    return all(o.name.split(".")[0] in dialects and not isinstance(o, SearchOp) for o in op.walk())


def rows_at_once(op: FunctionOp) -> int:
    """Number of elements for which the op's function is executed at once."""
    return max(1, NUMBERS_AT_ONCE // _numbers(op))


def _numbers(op: FunctionOp) -> int:
    """The largest value of the op's function, for one of its elements, in numbers."""
    found = 1
    for inner in op.block.ops:
        found = max(found, *(_size(result.type) for result in inner.results), 1)
        if isinstance(inner, FunctionOp):
            found = max(found, _elements(inner) * _numbers(inner))
    return found


def _elements(op: FunctionOp) -> int:
    """Number of elements for which the op's function is executed, all at once."""
    if isinstance(op, MapBase | GenerateOp) and isinstance(op.result.type, TensorType | VectorType):
        axes = 1 if isinstance(op, MapBase) else len(op.block.args)
        return prod(max(n, 1) for n in op.result.type.get_shape()[:axes])
    return 1


def _size(t: Attribute) -> int:
    match t:
        case TupleType():
            return sum(_size(part) for part in t.types)
        case TensorType() | VectorType():
            return prod(max(n, 1) for n in t.get_shape()) * _size(t.element_type)
        case _:
            return 1
