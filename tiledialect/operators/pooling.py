"""Operators that pool: aggregates of windows along the spatial axes, which are the last ones."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, prod

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES
from tiledialect.index.expr import Constraint, IndexExpr
from tiledialect.ir.tensor_builder import Access, TensorBuilder
from tiledialect.operators.elementwise import is_nan, like
from tiledialect.operators.layout import (
    cast,
    constant,
    element_type,
    indices,
    iota,
    literal,
    reshape,
    shape,
    transpose,
)
from tiledialect.operators.linear import Window, einsum
from tiledialect.operators.reductions import neutral, reduce_window

POINT = Window(1)


def window_count(size: int, window: Window, high: int, *, rounds_up: bool = False) -> int:
    """Number of places of a window along an axis with ``high`` elements of padding after it."""
    reach = (window.size - 1) * window.dilation + 1
    room = size + window.low + high - reach
    count = room // window.stride + 1
    if rounds_up and room % window.stride and count * window.stride < size + window.low:
        # Windows begin inside, or in the padding before.
        count += 1
    return max(0, count)


def all_windows(x: SSAValue, windows: Sequence[Window]) -> list[Window]:
    """Windows along all axes of a tensor, from those along its last ones."""
    return [*[POINT] * (len(shape(x)) - len(windows)), *windows]


def pooled(
    b: TensorBuilder,
    x: SSAValue,
    windows: Sequence[Window],
    counts: Sequence[int],
    kind: Aggregation,
) -> SSAValue:
    """Aggregate of each window."""
    t = element_type(x)
    start = constant(b, neutral(kind, t), t)
    sizes = (*shape(x)[: -len(windows)], *counts)
    return reduce_window(b, x, start, kind, all_windows(x, windows), sizes)


def over_counts(
    b: TensorBuilder,
    x: SSAValue,
    windows: Sequence[Window],
    sizes: Sequence[int],
    high: Sequence[int],
    *,
    with_padding: bool,
) -> SSAValue:
    """Values of windows over the number of their elements, with those of the padding or without.

    ``sizes`` are those of the axes that windows are taken from.
    """
    counts = [
        _elements(window, n, count, after if with_padding else None)
        for window, n, count, after in zip(
            windows, sizes, shape(x)[-len(windows) :], high, strict=True
        )
    ]
    if all((c == c[0]).all() for c in counts):
        return b.div(x, float(prod(int(c[0]) for c in counts)))
    for k, count in enumerate(counts):
        column = count.astype(np.float32).reshape(-1, *[1] * (len(counts) - 1 - k))
        x = b.div(x, cast(b, literal(b, column), element_type(x)))
    return x


def _elements(window: Window, size: int, count: int, high: int | None) -> npt.NDArray[np.int64]:
    """Number of elements in each window; in the padding, too, if it is given."""
    places = np.arange(count)[:, None] * window.stride - window.low
    places = places + np.arange(window.size) * window.dilation
    low, top = (0, size) if high is None else (-window.low, size + high)
    return ((places >= low) & (places < top)).sum(1)


def _places(windows: Sequence[Window]) -> tuple[list[IndexExpr], Access, list[Constraint]]:
    """Indices of windows, those of their elements, and the limits of a window."""
    places = indices(len(windows))
    offsets = [IndexExpr.of(f"w{k}") if w.size > 1 else IndexExpr() for k, w in enumerate(windows)]
    access = [w.place(p, o) for w, p, o in zip(windows, places, offsets, strict=True)]
    limits = [
        Constraint(o, IndexExpr.of(w.size))
        for o, w in zip(offsets, windows, strict=True)
        if w.size > 1
    ]
    return places, access, limits


def spread_windows(
    b: TensorBuilder, x: SSAValue, windows: Sequence[Window], sizes: Sequence[int]
) -> SSAValue:
    """Sum at each element of the values of all windows that have it: the gradient of sums."""
    places, access, limits = _places(all_windows(x, windows))
    made = ContractionOp(
        Aggregation.add, Combination.none, access, [(x, places)], limits, shape=tuple(sizes)
    )
    return cast(b, b.insert(made), element_type(x))


def spread_at(
    b: TensorBuilder,
    x: SSAValue,
    chosen: SSAValue,
    windows: Sequence[Window],
    sizes: Sequence[int],
) -> SSAValue:
    """Values of windows at one element of each: the gradient of extremes.

    ``chosen`` is its number along the axes of the windows.
    """
    rank = len(windows)
    places, access, limits = _places(all_windows(x, windows))
    numbers = reshape(b, iota(b, (prod(sizes[-rank:]),), 0, i32), tuple(sizes[-rank:]))
    made = ContractionOp(
        Aggregation.add,
        Combination.cond,
        access,
        [(cast(b, chosen, i32), places), (numbers, access[-rank:]), (x, places)],
        limits,
        shape=tuple(sizes),
    )
    return cast(b, b.insert(made), element_type(x))


def place_in_window(
    b: TensorBuilder,
    x: SSAValue,
    best: SSAValue,
    windows: Sequence[Window],
    order: Sequence[int],
) -> SSAValue:
    """Number of the first element of each window that is its maximum ``best``, as i32.

    Elements are numbered along the axes in an order, the last one fastest. NaN is the largest
    number, as infinity is.
    """
    if et.is_float(element_type(x)):
        # What is equal to nothing would have no place.
        x, best = (b.select(is_nan(b, v), like(b, v, inf), v) for v in (x, best))
    axes, count = sorted(order), prod(shape(x)[k] for k in order)
    numbers = reshape(b, iota(b, (count,), 0, i32), tuple(shape(x)[k] for k in order))
    numbers = transpose(b, numbers, [list(order).index(k) for k in axes])
    # From 1 on, as 0 is no place; the first place is the largest number.
    numbers = b.sub(count, numbers)
    places, access, limits = _places(windows)
    found = b.insert(
        ContractionOp(
            Aggregation.max,
            Combination.cond,
            places,
            [(x, access), (best, places), (numbers, [access[k] for k in axes])],
            limits,
            shape=shape(best),
        )
    )
    return b.sub(count, found)


def _parts(size: int, count: int) -> npt.NDArray[np.float64]:
    """Weights of the elements of an axis in means of ``count`` parts, which may overlap."""
    weights = np.zeros((count, size))
    for k in range(count):
        first, last = k * size // count, -(-(k + 1) * size // count)
        weights[k, first:last] = 1 / (last - first)
    return weights


def adaptive_average(b: TensorBuilder, x: SSAValue, counts: Sequence[int]) -> SSAValue:
    """Means of parts of the last axes, as many as are given."""
    sizes = shape(x)[-len(counts) :]
    if all(n % m == 0 for n, m in zip(sizes, counts, strict=True)):
        windows = [Window(n // m, n // m) for n, m in zip(sizes, counts, strict=True)]
        total = pooled(b, x, windows, counts, Aggregation.add)
        return over_counts(b, total, windows, sizes, [0] * len(windows), with_padding=False)
    return _weighted(b, x, [_parts(n, m) for n, m in zip(sizes, counts, strict=True)])


def adaptive_average_by_x(b: TensorBuilder, cotangent: SSAValue, sizes: Sequence[int]) -> SSAValue:
    """Gradient of ``adaptive_average`` by a tensor whose last axes have these sizes."""
    counts = shape(cotangent)[-len(sizes) :]
    return _weighted(b, cotangent, [_parts(n, m).T for n, m in zip(sizes, counts, strict=True)])


def _weighted(
    b: TensorBuilder, x: SSAValue, weights: Sequence[npt.NDArray[np.float64]]
) -> SSAValue:
    """Product with a matrix along each of the last axes."""
    names = [f"d{k}" for k in range(len(shape(x)))]
    t = element_type(x)
    for k, matrix in enumerate(weights):
        axis = len(names) - len(weights) + k
        result = [*names]
        result[axis] = "new"
        factor = literal(b, np.ascontiguousarray(matrix.astype(NUMPY_TYPES[t])))
        x = einsum(b, [x, factor], [names, ["new", names[axis]]], result, t)
    return x
