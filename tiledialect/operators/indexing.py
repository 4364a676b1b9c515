"""Operators at computed places: windows gathered from a tensor, windows scattered into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import TensorType, i32
from xdsl.ir import SSAValue

from tiledialect.dialects.tile import elementwise as ew
from tiledialect.dialects.tile.special import GatherOp, ScatterOp
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators.elementwise import clamped_index
from tiledialect.operators.layout import (
    broadcast,
    cast,
    element_type,
    full,
    iota,
    reshape,
    section,
    shape,
    transpose,
)


@dataclass(frozen=True)
class Places:
    """Windows in a tensor: for each axis where they begin, and their sizes."""

    starts: dict[int, SSAValue]
    """First place of each window along an axis, over the batch axes, as integers."""
    sizes: tuple[int, ...]
    """Size of a window along each axis."""
    batch: tuple[int, ...]
    """Sizes of the batch axes."""

    @property
    def axes(self) -> list[int]:
        """Axes along which windows are at computed places."""
        return sorted(self.starts)


def _rows(b: TensorBuilder, places: Places, sizes: Sequence[int], *, skip: bool) -> SSAValue:
    """Number, among the places along the axes of windows, of each place of each window.

    Windows are moved inside; with ``skip`` those that are not have the number -1.
    """
    window = tuple(places.sizes[axis] for axis in places.axes)
    whole = (*places.batch, *window)
    rank, result, is_inside = len(places.batch), None, None
    for k, axis in enumerate(places.axes):
        start = places.starts[axis]
        last = sizes[axis] - places.sizes[axis]
        inner = clamped_index(b, start, last)
        if skip:
            fits = b.op(ew.CmpEqOp, cast(b, inner, element_type(start)), start)
            is_inside = fits if is_inside is None else b.op(ew.BitAndOp, is_inside, fits)
        inner = broadcast(b, inner, whole, range(rank))
        if window[k] > 1:
            inner = b.add(inner, iota(b, whole, rank + k, i32))
        result = inner if result is None else b.add(b.mul(result, sizes[axis]), inner)
    if result is None:
        return full(b, 0, whole, i32)
    if is_inside is not None:
        result = b.select(broadcast(b, is_inside, whole, range(rank)), result, -1)
    return result


def gather(b: TensorBuilder, x: SSAValue, places: Places) -> SSAValue:
    """Windows of ``x``, moved inside; the result has the batch axes, then those of a window."""
    axes, rank = places.axes, len(places.batch)
    rest = [axis for axis in range(len(shape(x))) if axis not in axes]
    for axis in rest:
        x = section(b, x, axis, 0, places.sizes[axis])
    rows = _rows(b, places, shape(x), skip=False)
    count = prod(shape(x)[axis] for axis in axes)
    others = tuple(shape(x)[axis] for axis in rest)
    table = reshape(b, transpose(b, x, [*axes, *rest]), (count, *others))
    found = b.insert(GatherOp.make(table, rows))
    inner = [*axes, *rest]
    order = [rank + inner.index(axis) for axis in range(len(inner))]
    return transpose(b, found, [*range(rank), *order])


def scatter(b: TensorBuilder, updates: SSAValue, places: Places, sizes: Sequence[int]) -> SSAValue:
    """Sum of windows at their places in a tensor of zeros; those that do not fit are left out.

    ``updates`` has the batch axes, then those of a window.
    """
    axes, rank = places.axes, len(places.batch)
    rest = [axis for axis in range(len(sizes)) if axis not in axes]
    rows = _rows(b, places, sizes, skip=True)
    inner = [*axes, *rest]
    ordered = transpose(b, updates, [*range(rank), *(rank + axis for axis in inner)])
    count = prod(sizes[axis] for axis in axes)
    window = tuple(places.sizes[axis] for axis in rest)
    t = TensorType(element_type(ordered), (count, *window))
    like = full(b, 0, t.get_shape(), t.element_type)
    total = b.insert(ScatterOp.make(ordered, rows, like))
    total = reshape(b, total, (*(sizes[axis] for axis in axes), *window))
    return transpose(b, total, [inner.index(axis) for axis in range(len(inner))])


def update_slice(
    b: TensorBuilder, x: SSAValue, update: SSAValue, starts: Sequence[SSAValue]
) -> SSAValue:
    """``x`` with a part replaced, from computed places on, which are moved inside."""
    result, is_inside = update, None
    for axis, start in enumerate(starts):
        n, m = shape(x)[axis], shape(update)[axis]
        if n == m:
            continue
        line = tuple(n if k == axis else 1 for k in range(len(starts)))
        place = b.sub(iota(b, line, axis, i32), clamped_index(b, start, n - m))
        fits = b.op(ew.BitAndOp, b.op(ew.CmpGeOp, place, 0), b.op(ew.CmpLtOp, place, m))
        is_inside = fits if is_inside is None else b.op(ew.BitAndOp, is_inside, fits)
        sizes = tuple(1 if k == axis else size for k, size in enumerate(shape(result)))
        windows = Places({axis: reshape(b, place, (n,))}, sizes, (n,))
        # The batch axis takes the place of the axis, which has one element in each window.
        rows = gather(b, result, windows)
        order = [*range(1, len(starts) + 1)]
        order[axis] = 0
        rows = transpose(b, rows, [*order, axis + 1])
        result = reshape(b, rows, tuple(shape(rows)[:-1]))
    return result if is_inside is None else b.select(is_inside, result, x)
