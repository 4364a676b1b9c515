"""Operators at computed places: windows gathered from a tensor, windows scattered into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import TensorType, i32
from xdsl.ir import SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.special import GatherOp, ScatterOp
from tiledialect.errors import TileError
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators.elementwise import clamped_index, is_before, is_less, like
from tiledialect.operators.layout import (
    broadcast,
    cast,
    constant,
    element_type,
    full,
    iota,
    reshape,
    section,
    shape,
    transpose,
)
from tiledialect.operators.reductions import COMBINED, neutral, reduce


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


def scatter_rows(b: TensorBuilder, updates: SSAValue, rows: SSAValue, count: int) -> SSAValue:
    """Sum of elements, or rows, at their places along the first axis of a tensor of zeros."""
    rank = len(shape(rows))
    like = full(b, 0, (count, *shape(updates)[rank:]), element_type(updates))
    return b.insert(ScatterOp.make(updates, rows, like))


def update_slice(
    b: TensorBuilder, x: SSAValue, update: SSAValue, starts: Sequence[SSAValue]
) -> SSAValue:
    """``x`` with a part replaced, from computed places on, which are moved inside."""
    if 0 in shape(update):
        return x
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


def scatter_replacing(
    b: TensorBuilder, x: SSAValue, updates: SSAValue, places: Places, *, is_unique: bool
) -> SSAValue:
    """``x`` with windows replaced; of several for one place, the last one stays.

    With ``is_unique`` no two windows have a place in common.
    """
    if is_unique:
        counts = scatter(b, full(b, 1, shape(updates), i32), places, shape(x))
        total = scatter(b, updates, places, shape(x))
        return b.select(b.op(ew.CmpGtOp, counts, 0), cast(b, total, element_type(x)), x)
    if 0 in shape(updates):
        return x
    axes = places.axes
    rows, ordered, inner = _in_rows(b, updates, places, shape(x))
    window = tuple(shape(x)[axis] for axis in inner[len(axes) :])
    found = reshape(b, ordered, (prod(shape(rows)), *window))
    is_written, found = _latest(b, reshape(b, rows, (prod(shape(rows)),)), found, x, axes)
    sizes = (n if axis in axes else 1 for axis, n in enumerate(shape(x)))
    found = transpose(b, found, [inner.index(axis) for axis in range(len(inner))])
    return b.select(reshape(b, is_written, tuple(sizes)), found, x)


def _in_rows(
    b: TensorBuilder, updates: SSAValue, places: Places, sizes: Sequence[int]
) -> tuple[SSAValue, SSAValue, list[int]]:
    """Rows of the places along the axes, the windows with these axes first, and the order of all
    axes then."""
    rank = len(places.batch)
    inner = [*places.axes, *(axis for axis in range(len(sizes)) if axis not in places.axes)]
    rows = _rows(b, places, sizes, skip=True)
    ordered = transpose(b, updates, [*range(rank), *(rank + axis for axis in inner)])
    return rows, ordered, inner


def _latest(
    b: TensorBuilder, rows: SSAValue, updates: SSAValue, x: SSAValue, axes: Sequence[int]
) -> tuple[SSAValue, SSAValue]:
    """Whether an update is for a place along the axes, and the last one that is.

    Of a single update nothing is chosen.
    """
    (count, *window), places = shape(updates), [shape(x)[axis] for axis in axes]
    _check_compared(count, prod(places))
    line = iota(b, (prod(places), 1), 0, i32)
    if count == 1:
        is_written = b.op(ew.CmpEqOp, reshape(b, rows, (1, 1)), line)
        return is_written, reshape(b, updates, (*(1 for _ in axes), *window))
    given = b.op(ew.CmpEqOp, reshape(b, rows, (1, count)), line)
    numbers = b.select(given, b.add(iota(b, (1, count), 1, i32), 1), 0)
    latest = reduce(b, numbers, constant(b, 0, i32), Aggregation.max, [1])
    chosen = b.insert(GatherOp.make(updates, b.sub(latest, 1)))
    return b.op(ew.CmpGtOp, latest, 0), reshape(b, chosen, (*places, *window))


def _check_compared(count: int, places: int) -> None:
    """Refuse to compare too many windows with each place."""
    if count * places > MOST_COMPARED:
        raise TileError(
            f"{places} places are compared with {count} windows: a scatter that does not add "
            "is for small tensors, or for indices that are said to be unique"
        )


MOST_COMPARED = 2**26
"""Most pairs of a place and a window that are compared."""


def scatter_extreme(
    b: TensorBuilder,
    updates: SSAValue,
    places: Places,
    sizes: Sequence[int],
    aggregation: Aggregation,
    unit: int | float,
) -> SSAValue:
    """Aggregate of the windows at each place, and of ``unit``.

    Every place is compared with every window.
    """
    axes = places.axes
    rows, ordered, inner = _in_rows(b, updates, places, sizes)
    count, slots = prod(shape(rows)), prod(sizes[axis] for axis in axes)
    window = tuple(sizes[axis] for axis in inner[len(axes) :])
    _check_compared(count * prod(window), slots)
    flat = reshape(b, ordered, (count, 1, *window))
    column = reshape(b, rows, (count, 1, *(1 for _ in window)))
    line = iota(b, (1, slots, *(1 for _ in window)), 1, i32)
    given = b.select(b.op(ew.CmpEqOp, column, line), flat, unit)
    start = constant(b, unit, element_type(updates))
    total = reduce(b, given, start, aggregation, [0])
    total = reshape(b, total, (*(sizes[axis] for axis in axes), *window))
    return transpose(b, total, [inner.index(axis) for axis in range(len(inner))])


def sort_places(b: TensorBuilder, is_before: SSAValue, is_after: SSAValue) -> SSAValue:
    """Places in a row of its elements in order, from comparisons of each two, for all rows.

    ``is_before[r, j, i]`` says that element ``j`` comes before element ``i``, and ``is_after``
    that it comes after. Equal elements keep their order.
    """
    rows, count, _ = whole = shape(is_before)
    earlier = b.op(ew.CmpLtOp, iota(b, whole, 1, i32), iota(b, whole, 2, i32))
    equal = b.op(ew.BitNotOp, b.op(ew.BitOrOp, is_before, is_after))
    comes = b.op(ew.BitOrOp, is_before, b.op(ew.BitAndOp, equal, earlier))
    rank = reduce(b, cast(b, comes, i32), constant(b, 0, i32), Aggregation.add, [1])
    place = b.add(rank, b.mul(iota(b, (rows, count), 0, i32), count))
    number = reshape(b, iota(b, (rows, count), 1, i32), (rows * count,))
    like = full(b, 0, (rows * count,), i32)
    found = b.insert(ScatterOp.make(number, reshape(b, place, (rows * count,)), like))
    return reshape(b, found, (rows, count))


def top_places(
    b: TensorBuilder,
    x: SSAValue,
    number: int,
    *,
    is_least: bool = False,
    tells_zeros: bool = False,
) -> SSAValue:
    """Places in each row of its greatest, or least, elements: NaN is the greatest.

    Equal ones keep their order; those of 0 and -0 are equal unless these are told apart.
    """
    if et.is_float(element_type(x)) and not tells_zeros:
        x = b.select(b.op(ew.CmpEqOp, x, 0), like(b, x, 0), x)
    rows, count = shape(x)
    across, along = (reshape(b, x, sizes) for sizes in ((rows, count, 1), (rows, 1, count)))
    less, greater = is_before(b, along, across), is_before(b, across, along)
    first, last = (greater, less) if is_least else (less, greater)
    return section(b, sort_places(b, first, last), 1, 0, number)


def top_along(
    b: TensorBuilder, x: SSAValue, axis: int, number: int, *, is_least: bool = False
) -> tuple[SSAValue, SSAValue]:
    """The greatest, or least, elements along an axis in order, and their places as i32."""
    rank = len(shape(x))
    order = [*(k for k in range(rank) if k != axis), axis]
    moved = transpose(b, x, order)
    *outer, length = shape(moved)
    flat = reshape(b, moved, (prod(outer), length))
    if prod(outer) * length**2 > MOST_COMPARED:
        raise TileError(f"rows of {length} elements are too long, as each two are compared")
    places = top_places(b, flat, number, is_least=is_least)
    back = [order.index(k) for k in range(rank)]
    values, numbers = (
        transpose(b, reshape(b, v, (*outer, number)), back)
        for v in (take_along(b, flat, places), places)
    )
    return values, numbers


def take_along(b: TensorBuilder, x: SSAValue, places: SSAValue) -> SSAValue:
    """Elements of each row at places in it."""
    rows, count = shape(x)
    flat = b.add(places, b.mul(iota(b, shape(places), 0, i32), count))
    return b.insert(GatherOp.make(reshape(b, x, (rows * count,)), flat))


def wrapped(b: TensorBuilder, places: SSAValue, size: int) -> SSAValue:
    """Places counted from the first element."""
    places = cast(b, places, i32)
    return b.select(is_less(b, places, 0), b.add(places, size), places)


def gathered(b: TensorBuilder, x: SSAValue, places: SSAValue, axis: int) -> SSAValue:
    """Elements along an axis at places, whose axes are in its place."""
    rank, more = len(shape(x)), len(shape(places))
    rest = [k for k in range(rank) if k != axis]
    table = transpose(b, x, [axis, *rest])
    found = b.insert(GatherOp.make(table, places))
    order = [*range(more, more + axis), *range(more), *range(more + axis, more + rank - 1)]
    return transpose(b, found, order)


def element_places(b: TensorBuilder, places: SSAValue, sizes: Sequence[int], axis: int) -> Places:
    """Places of single elements: given along an axis, their own along the others."""
    own = shape(places)
    starts = {
        k: wrapped(b, places, sizes[k]) if k == axis else iota(b, own, k, i32)
        for k in range(len(sizes))
    }
    return Places(starts, (1,) * len(sizes), tuple(own))


def element_scattered(
    b: TensorBuilder,
    x: SSAValue,
    updates: SSAValue,
    places: SSAValue,
    axis: int,
    kind: Aggregation | None,
) -> SSAValue:
    """``x`` with elements replaced or aggregated, at places along an axis, at their own along the
    others."""
    sizes, own = shape(x), shape(places)
    rows = prod(n for k, n in enumerate(own) if k != axis)
    is_whole = all(n == m for k, (n, m) in enumerate(zip(sizes, own, strict=True)) if k != axis)
    if kind is Aggregation.add or not is_whole or 0 in own:
        at = element_places(b, places, sizes, axis)
        windows = reshape(b, updates, (*own, *[1] * len(sizes)))
        return scattered(b, x, windows, at, kind)
    order = [*(k for k in range(len(sizes)) if k != axis), axis]
    places = wrapped(b, places, sizes[axis])
    flat, changes, numbers = (
        reshape(b, transpose(b, v, order), (rows, shape(v)[axis])) for v in (x, updates, places)
    )
    found = _scattered_in_rows(b, flat, changes, numbers, kind)
    found = reshape(b, found, tuple(sizes[k] for k in order))
    return transpose(b, found, [order.index(k) for k in range(len(sizes))])


def _scattered_in_rows(
    b: TensorBuilder, x: SSAValue, updates: SSAValue, places: SSAValue, kind: Aggregation | None
) -> SSAValue:
    """Rows with elements at places replaced or aggregated; each row is compared with its own."""
    (rows, count), more = shape(x), shape(updates)[1]
    _check_compared(rows * more, count)
    line = iota(b, (1, count, 1), 1, i32)
    given = b.op(ew.CmpEqOp, reshape(b, places, (rows, 1, more)), line)
    if kind is not None:
        unit, t = neutral(kind, element_type(x)), element_type(updates)
        parts = b.select(given, reshape(b, updates, (rows, 1, more)), unit)
        total = reduce(b, parts, constant(b, unit, t), kind, [2])
        return cast(b, b.op(COMBINED[kind], x, total), element_type(x))
    numbers = b.select(given, b.add(iota(b, (1, 1, more), 2, i32), 1), 0)
    latest = reduce(b, numbers, constant(b, 0, i32), Aggregation.max, [2])
    chosen = take_along(b, updates, b.op(ew.MaxOp, b.sub(latest, 1), 0))
    return b.select(b.op(ew.CmpGtOp, latest, 0), cast(b, chosen, element_type(x)), x)


def element_gathered(b: TensorBuilder, x: SSAValue, places: SSAValue, axis: int) -> SSAValue:
    """Elements at places along an axis, and at their own places along the others."""
    sizes, number = shape(x), None
    for k, size in enumerate(sizes):
        own = shape(places)
        place = wrapped(b, places, size) if k == axis else iota(b, own, k, i32)
        number = place if number is None else b.add(b.mul(number, size), place)
    assert number is not None
    return b.insert(GatherOp.make(reshape(b, x, (prod(sizes),)), number))


def scattered(
    b: TensorBuilder, x: SSAValue, updates: SSAValue, places: Places, kind: Aggregation | None
) -> SSAValue:
    """A tensor with windows replaced, or aggregated with the elements at their places."""
    if 0 in shape(updates):
        return x
    if kind is None:
        return scatter_replacing(b, x, updates, places, is_unique=False)
    if kind is Aggregation.add:
        total = scatter(b, updates, places, shape(x))
    else:
        unit = neutral(kind, element_type(x))
        total = scatter_extreme(b, updates, places, shape(x), kind, unit)
    return cast(b, b.op(COMBINED[kind], x, total), element_type(x))


def histogram(b: TensorBuilder, x: SSAValue, bins: int, low: SSAValue, high: SSAValue) -> SSAValue:
    """Number of reals in each of the bins between two numbers, in the type of ``x``.

    The last bin has its upper end, too. Reals outside, and NaN, are in none.
    """
    is_inside = b.op(ew.BitAndOp, b.op(ew.CmpGeOp, x, low), b.op(ew.CmpLeOp, x, high))
    share = b.div(b.mul(b.sub(x, low), float(bins)), b.sub(high, low))
    place = clamped_index(b, cast(b, b.select(is_inside, share, 0.0), i32), bins - 1)
    ones = full(b, 1, shape(x), element_type(x))
    return scatter_rows(b, ones, cast(b, b.select(is_inside, place, -1), i32), bins)
