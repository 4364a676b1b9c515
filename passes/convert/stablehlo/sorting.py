"""Sorting of StableHLO and CHLO."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.ir import Operation, SSAValue

from tiledialect.dialects import stablehlo as added
from tiledialect.dialects.stablehlo import chlo
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import layout
from tiledialect.operators.indexing import MOST_COMPARED, sort_places, take_along, top_places
from tiledialect.operators.layout import shape
from tiledialect.passes.convert.stablehlo.base import Conversion, refusal
from tiledialect.passes.convert.stablehlo.elementwise import apply

Values = Sequence[SSAValue]


def _rows(op: Operation, sizes: Sequence[int], axis: int) -> tuple[int, int]:
    """Number of rows along an axis, and of their elements."""
    count, rows = sizes[axis], prod(sizes) // max(1, sizes[axis])
    if rows * count * count > MOST_COMPARED:
        raise refusal(op, f"rows of {count} elements are too long, as each two are compared")
    return rows, count


def _sort(b: TensorBuilder, op: added.SortOp, operands: Values) -> Values:
    sizes = shape(operands[0])
    axis = (op.dimension.value.data if op.dimension is not None else -1) % len(sizes)
    order = [*(k for k in range(len(sizes)) if k != axis), axis]
    moved = tuple(sizes[k] for k in order)
    rows, count = _rows(op, sizes, axis)
    flat = [layout.reshape(b, layout.transpose(b, v, order), (rows, count)) for v in operands]
    across = [layout.reshape(b, v, (rows, count, 1)) for v in flat]
    along = [layout.reshape(b, v, (rows, 1, count)) for v in flat]
    before, after = (
        apply(b, op.comparator, [v for pair in zip(x, y, strict=True) for v in pair])[0]
        for x, y in ((across, along), (along, across))
    )
    places = sort_places(b, before, after)
    back = [order.index(k) for k in range(len(sizes))]
    return [
        layout.transpose(b, layout.reshape(b, take_along(b, v, places), moved), back) for v in flat
    ]


def _top_k(b: TensorBuilder, op: chlo.TopKOp, operands: Values) -> Values:
    (x,) = operands
    sizes, number = shape(x), op.k.value.data
    rows, count = _rows(op, sizes, len(sizes) - 1)
    flat = layout.reshape(b, x, (rows, count))
    first = top_places(b, flat, number, tells_zeros=True)
    found = (take_along(b, flat, first), first)
    return [layout.reshape(b, v, (*sizes[:-1], number)) for v in found]


SORTING: dict[type[Operation], Conversion] = {added.SortOp: _sort, chlo.TopKOp: _top_k}
