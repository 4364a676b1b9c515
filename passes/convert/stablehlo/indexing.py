"""Ops of StableHLO at computed places: gathers, scatters, dynamic slices."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from tiledialect.dialects import stablehlo as added
from tiledialect.dialects.stablehlo import upstream as hlo
from tiledialect.dialects.tile.constants import constant_of
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import layout
from tiledialect.operators.indexing import Places, gather, update_slice
from tiledialect.operators.layout import element_type, shape
from tiledialect.passes.convert.stablehlo.base import Conversion, numbers

Values = Sequence[SSAValue]


def starts_of(
    b: TensorBuilder,
    indices: SSAValue,
    vector: int,
    axes: Sequence[int],
    batched: Sequence[tuple[int, int]],
) -> tuple[dict[int, SSAValue], tuple[int, ...]]:
    """Starts of windows along each axis, over the batch axes of an index tensor.

    ``vector`` is the axis of the index vectors, whose elements are for ``axes``. Each of
    ``batched`` is an axis of the tensor and the axis of the indices that goes along with it.
    """
    sizes = shape(indices)
    if vector == len(sizes):
        indices, sizes = layout.reshape(b, indices, (*sizes, 1)), (*sizes, 1)
    batch = tuple(n for k, n in enumerate(sizes) if k != vector)
    starts: dict[int, SSAValue] = {}
    for k, axis in enumerate(axes):
        part = layout.section(b, indices, vector, k, k + 1)
        starts[axis] = layout.reshape(b, part, batch)
    for axis, own in batched:
        place = own - (own > vector)
        starts[axis] = layout.iota(b, batch, place, element_type(indices))
    return starts, batch


def _gather(b: TensorBuilder, op: hlo.GatherOp, operands: Values) -> Values:
    d = op.dimension_numbers
    batched = list(
        zip(numbers(d.operand_batching_dims), numbers(d.start_indices_batching_dims), strict=True)
    )
    starts, batch = starts_of(
        b, operands[1], d.index_vector_dim.value.data, numbers(d.start_index_map), batched
    )
    windows = Places(starts, tuple(numbers(op.slice_sizes)), batch)
    found = gather(b, operands[0], windows)
    dropped = {*numbers(d.collapsed_slice_dims), *(axis for axis, _ in batched)}
    sizes = [n for k, n in enumerate(windows.sizes) if k not in dropped]
    found = layout.reshape(b, found, (*batch, *sizes))
    offsets = numbers(d.offset_dims)
    rank = len(batch) + len(sizes)
    order, outer = [0] * rank, iter(range(len(batch)))
    for k in range(rank):
        order[k] = len(batch) + offsets.index(k) if k in offsets else next(outer)
    return [layout.transpose(b, found, order)]


def _constant_starts(
    operands: Values, sizes: Sequence[int], whole: Sequence[int]
) -> list[int] | None:
    """Places of a slice, moved inside, where all are known."""
    found: list[int] = []
    for start, size, n in zip(operands, sizes, whole, strict=True):
        made = constant_of(start)
        if made is None and size < n:
            return None
        found.append(min(max(0, int(made.number) if made else 0), n - size))
    return found


def _dynamic_slice(b: TensorBuilder, op: hlo.DynamicSliceOp, operands: Values) -> Values:
    x, starts, sizes = operands[0], operands[1:], numbers(op.slice_sizes)
    whole = shape(x)
    known = _constant_starts(starts, sizes, whole)
    if known is not None:
        stops = [start + n for start, n in zip(known, sizes, strict=True)]
        return [layout.strided_slice(b, x, known, stops, [1] * len(sizes))]
    moved = {k: s for k, s in enumerate(starts) if sizes[k] < whole[k]}
    return [gather(b, x, Places(moved, tuple(sizes), ()))]


def _dynamic_update_slice(
    b: TensorBuilder, op: added.DynamicUpdateSliceOp, operands: Values
) -> Values:
    x, update, *starts = operands
    known = _constant_starts(starts, shape(update), shape(x))
    if known is None:
        return [update_slice(b, x, update, starts)]
    if shape(x) == shape(update):
        return [update]
    places = layout.indices(len(shape(x)))
    output = [e + start for e, start in zip(places, known, strict=True)]
    return [layout.copy(b, update, shape(x), output, places, x)]


INDEXING: dict[type[Operation], Conversion] = {
    hlo.GatherOp: _gather,
    hlo.DynamicSliceOp: _dynamic_slice,
    added.DynamicUpdateSliceOp: _dynamic_update_slice,
}
