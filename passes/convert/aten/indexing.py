"""Operators of ATen at computed places: gathers, scatters, embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod

import numpy as np
from xdsl.dialects.builtin import i1, i32
from xdsl.ir import SSAValue

from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.errors import TileError
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import elementwise as fn
from tiledialect.operators import layout
from tiledialect.operators.indexing import (
    Places,
    element_gathered,
    element_scattered,
    gather,
    gathered,
    scatter_rows,
    scattered,
    wrapped,
)
from tiledialect.operators.layout import cast, constant, element_type, shape
from tiledialect.operators.reductions import running
from tiledialect.passes.convert.aten.base import Call, Conversion, Number, in_type

KINDS = {
    "amax": Aggregation.max,
    "amin": Aggregation.min,
    "prod": Aggregation.mul,
    "sum": Aggregation.add,
}
"""Aggregations of scatters."""


def _embedding(
    b: TensorBuilder, call: Call, table: SSAValue, rows: SSAValue, *_: object
) -> SSAValue:
    return gathered(b, table, cast(b, rows, i32), 0)


def _embedding_backward(
    b: TensorBuilder,
    call: Call,
    cotangent: SSAValue,
    rows: SSAValue,
    count: int,
    skipped: int,
    by_frequency: bool,
) -> SSAValue:
    rows = cast(b, rows, i32)
    if by_frequency:
        ones = layout.full(b, 1, shape(rows), element_type(cotangent))
        counts = gathered(b, scatter_rows(b, ones, rows, count), rows, 0)
        column = layout.reshape(b, counts, (*shape(counts), 1))
        cotangent = b.div(cotangent, column)
    if skipped >= 0:
        # A place before the first is left out.
        rows = b.select(b.op(ew.CmpEqOp, rows, skipped), constant(b, -1, i32), rows)
    return scatter_rows(b, cotangent, rows, count)


def _index_select(
    b: TensorBuilder, call: Call, x: SSAValue, axis: int, places: SSAValue
) -> SSAValue:
    if not shape(x):
        return x
    rows = layout.reshape(b, cast(b, places, i32), (prod(shape(places)),))
    return gathered(b, x, rows, call.axis(axis, len(shape(x))))


def _at(b: TensorBuilder, x: SSAValue, given: Sequence[SSAValue | None]) -> Places:
    """Places of windows that have one element along the axes that indices are given for."""
    if any(v is not None and element_type(v) == i1 for v in given):
        raise TileError("the size of its result depends on bools that a call computes")
    batch = np.broadcast_shapes(*(shape(v) for v in given if v is not None))
    sizes = shape(x)
    starts = {
        axis: layout.spread(b, wrapped(b, v, sizes[axis]), batch)
        for axis, v in enumerate(given)
        if v is not None
    }
    window = tuple(1 if axis in starts else n for axis, n in enumerate(sizes))
    return Places(starts, window, batch)


def _batch_axis(places: Places) -> int:
    """Axis of the result of an index at which the axes of the indices begin."""
    axes = places.axes
    return axes[0] if axes == [*range(axes[0], axes[-1] + 1)] else 0


def _rest(places: Places) -> tuple[int, ...]:
    """Sizes of the axes without indices."""
    return tuple(n for axis, n in enumerate(places.sizes) if axis not in places.starts)


def _index(b: TensorBuilder, call: Call, x: SSAValue, given: Sequence[SSAValue | None]) -> SSAValue:
    if all(v is None for v in given):
        return x
    places = _at(b, x, given)
    found = layout.reshape(b, gather(b, x, places), (*places.batch, *_rest(places)))
    first, more = _batch_axis(places), len(places.batch)
    rank = len(shape(found))
    order = [*range(more, more + first), *range(more), *range(more + first, rank)]
    return layout.transpose(b, found, order)


def _index_put(
    b: TensorBuilder,
    call: Call,
    x: SSAValue,
    given: Sequence[SSAValue | None],
    values: SSAValue,
    accumulates: bool = False,
) -> SSAValue:
    values = cast(b, values, element_type(x))
    own = [(axis, v) for axis, v in enumerate(given) if v is not None]
    if len(own) == 1 and element_type(own[0][1]) == i1:
        return _put_where(b, x, *own[0], values, accumulates)
    places = _at(b, x, given)
    first, more = _batch_axis(places), len(places.batch)
    rest = _rest(places)
    whole = (*rest[:first], *places.batch, *rest[first:])
    order = [*range(first, first + more), *range(first), *range(first + more, len(whole))]
    moved = layout.transpose(b, layout.spread(b, values, whole), order)
    updates = layout.reshape(b, moved, (*places.batch, *places.sizes))
    return scattered(b, x, updates, places, Aggregation.add if accumulates else None)


def _put_where(
    b: TensorBuilder,
    x: SSAValue,
    first: int,
    mask: SSAValue,
    values: SSAValue,
    accumulates: bool = False,
) -> SSAValue:
    """Put values, in order, at the places that a mask of axes beginning at the first chooses."""
    sizes, chosen, given = shape(x), shape(mask), shape(values)
    before, after = sizes[:first], sizes[first + len(chosen) :]
    count = given[-1 - len(after)] if len(given) > len(after) else 1
    if count == 0:
        return x
    values = layout.spread(b, values, (*before, count, *after))
    if count == 1:
        values = layout.reshape(b, values, (*before, *[1] * len(chosen), *after))
    else:
        numbers = running(
            b, layout.reshape(b, cast(b, mask, i32), (prod(chosen),)), Aggregation.add, 0
        )
        numbers = fn.clamped_index(b, b.sub(numbers, 1), count - 1)
        values = layout.reshape(b, gathered(b, values, numbers, first), sizes)
    mask = layout.reshape(b, mask, (*[1] * first, *chosen, *[1] * len(after)))
    return b.select(mask, b.add(x, values) if accumulates else values, x)


def _gather(
    b: TensorBuilder, call: Call, x: SSAValue, axis: int, places: SSAValue, *_: object
) -> SSAValue:
    if not shape(x):
        return layout.broadcast(b, x, shape(places), ())
    return element_gathered(b, x, places, call.axis(axis, len(shape(x))))


def _scattered(
    b: TensorBuilder,
    call: Call,
    x: SSAValue,
    axis: int,
    places: SSAValue,
    updates: SSAValue,
    kind: Aggregation | None,
) -> SSAValue:
    rank = len(shape(x))
    if rank == 0:
        x, places, updates = (layout.reshape(b, v, (1,)) for v in (x, places, updates))
        return layout.reshape(b, _scattered(b, call, x, 0, places, updates, kind), ())
    return element_scattered(b, x, updates, places, call.axis(axis, rank), kind)


def _scatter_source(
    b: TensorBuilder,
    call: Call,
    x: SSAValue,
    axis: int,
    places: SSAValue,
    source: SSAValue,
    kind: Aggregation | None,
) -> SSAValue:
    """The elements of a source at places, of which there may be fewer along each axis."""
    for k, n in enumerate(shape(places)):
        source = layout.section(b, source, k, 0, n)
    return _scattered(b, call, x, axis, places, source, kind)


def _scatter(kind: Aggregation | None) -> Conversion:
    return partial(_scatter_source, kind=kind)


def _scatter_value(
    b: TensorBuilder, call: Call, x: SSAValue, axis: int, places: SSAValue, value: Number
) -> SSAValue:
    """Put a value at places, repeated or not."""
    ones = layout.full(b, 1, shape(places), i32)
    zeros = layout.full(b, 0, shape(x), i32)
    counts = _scattered(b, call, zeros, axis, places, ones, Aggregation.add)
    return b.select(b.op(ew.CmpGtOp, counts, 0), in_type(b, value, element_type(x)), x)


def _scatter_reduce(
    b: TensorBuilder,
    call: Call,
    x: SSAValue,
    axis: int,
    places: SSAValue,
    source: SSAValue,
    kind: str,
    includes_self: bool = True,
) -> SSAValue:
    if kind not in KINDS:
        raise TileError(f"the reduction {kind} is none of {', '.join(KINDS)}")
    if not includes_self:
        raise TileError(f"{kind} without the tensor's own elements is not supported")
    return _scatter_source(b, call, x, axis, places, source, KINDS[kind])


def _masked_scatter(
    b: TensorBuilder, call: Call, x: SSAValue, mask: SSAValue, source: SSAValue
) -> SSAValue:
    """Elements in order at the places that a mask chooses."""
    sizes = np.broadcast_shapes(shape(x), shape(mask))
    x, mask = layout.spread(b, x, sizes), layout.spread(b, mask, sizes)
    return _put_where(b, x, 0, mask, layout.reshape(b, source, (prod(shape(source)),)))


INDEXING: dict[str, Conversion] = {
    "aten._unsafe_index.Tensor": _index,
    "aten._unsafe_index_put.default": _index_put,
    "aten.embedding.default": _embedding,
    "aten.embedding_dense_backward.default": _embedding_backward,
    "aten.gather.default": _gather,
    "aten.index.Tensor": _index,
    "aten.index_put.default": _index_put,
    "aten.index_select.default": _index_select,
    "aten.masked_scatter.default": _masked_scatter,
    "aten.scatter.src": _scatter(None),
    "aten.scatter.value": _scatter_value,
    "aten.scatter_add.default": _scatter(Aggregation.add),
    "aten.scatter_reduce.two": _scatter_reduce,
}
