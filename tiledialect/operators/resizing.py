"""Resizing of an axis: each element of the result is a weighted sum of neighbouring elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import f64
from xdsl.ir import SSAValue

from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators.indexing import gathered
from tiledialect.operators.layout import cast, element_type, literal, shape
from tiledialect.operators.linear import einsum

Array: TypeAlias = npt.NDArray[np.float64]
Filter: TypeAlias = Callable[[Array], Array]
"""Weight of an element at a distance."""

MOST_TAPS = 8
"""Most elements of a sum that are gathered; longer sums are products by the matrix of weights."""


def linear(x: Array) -> Array:
    """Weights of linear interpolation."""
    return np.maximum(0, 1 - np.abs(x))


def cubic(a: float) -> Filter:
    """Weights of cubic interpolation (R. Keys, "Cubic convolution interpolation", 1981)."""

    def weight(x: Array) -> Array:
        x = np.abs(x)
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        return np.where(x <= 1, near, np.where(x < 2, far, 0))

    return weight


def antialiased(weight: Filter, reach: int, size: int, count: int, scale: float) -> Array:
    """Weights of the elements of an axis in those of the result, by a filter as wide as a step.

    ``scale`` is the size of a step, in elements.
    """
    width = max(scale, 1.0)
    centre = scale * (np.arange(count)[:, None] + 0.5)
    place = np.arange(size)[None, :]
    first = np.maximum(np.trunc(centre - reach * width + 0.5), 0)
    end = np.minimum(np.trunc(centre + reach * width + 0.5), size)
    is_near = (place >= first) & (place < end)
    weights = np.where(is_near, weight((place - centre + 0.5) / width), 0)
    total = weights.sum(1, keepdims=True)
    return weights / np.where(total == 0, 1, total)


def matrix(taps: npt.NDArray[np.int64], weights: Array, size: int) -> Array:
    """Weights of all elements of an axis, from places of some, which are moved inside."""
    result = np.zeros((len(taps), size))
    rows = np.broadcast_to(np.arange(len(taps))[:, None], taps.shape)
    np.add.at(result, (rows, np.clip(taps, 0, size - 1)), weights)
    return result


def resized(b: TensorBuilder, x: SSAValue, axis: int, weights: Array) -> SSAValue:
    """Sums of the elements along an axis, weighted by the rows of a matrix."""
    count, size = weights.shape
    is_used = weights != 0
    first = is_used.argmax(1)
    last = np.where(is_used.any(1), size - 1 - is_used[:, ::-1].argmax(1), first)
    taps = int((last - first).max(initial=0)) + 1
    t = element_type(x)
    numbers = weights.astype(np.float64 if t == f64 else np.float32)
    if taps > MOST_TAPS:
        names = [f"d{k}" for k in range(len(shape(x)))]
        result = [*names]
        result[axis] = "r"
        own = cast(b, literal(b, numbers), t)
        return einsum(b, [x, own], (names, ["r", names[axis]]), result, t)
    total: SSAValue | None = None
    column = [count if k == axis else 1 for k in range(len(shape(x)))]
    for k in range(taps):
        place = np.minimum(first + k, size - 1)
        own = np.where(first + k < size, numbers[np.arange(count), place], 0)
        is_same = count == size and (place == np.arange(size)).all()
        part = x if is_same else gathered(b, x, literal(b, place.astype(np.int32)), axis)
        if not (own == 1).all():
            part = b.mul(part, cast(b, literal(b, own.reshape(column)), t))
        total = part if total is None else b.add(total, part)
    assert total is not None
    return cast(b, total, t)
