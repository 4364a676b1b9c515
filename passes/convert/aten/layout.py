"""Operators of ATen that move elements: views, concatenation, padding."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.ir import SSAValue

from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.errors import TileError
from tiledialect.index.expr import IndexExpr
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import layout
from tiledialect.operators.layout import cast, element_type, shape, sliced
from tiledialect.operators.reductions import edges_by_x
from tiledialect.passes.convert.aten.base import Call, Conversion, Number, Values, in_type

Sizes = Sequence[int]


def _view(b: TensorBuilder, call: Call, x: SSAValue, sizes: Sizes) -> SSAValue:
    known = prod(n for n in sizes if n != -1)
    whole = [prod(shape(x)) // max(1, known) if n == -1 else n for n in sizes]
    return layout.reshape(b, x, tuple(whole))


def _reshape_alias(b: TensorBuilder, call: Call, x: SSAValue, sizes: Sizes, *_: object) -> SSAValue:
    return _view(b, call, x, sizes)


def _permute(b: TensorBuilder, call: Call, x: SSAValue, order: Sizes) -> SSAValue:
    return layout.transpose(b, x, [call.axis(k, len(order)) for k in order])


def _transpose(b: TensorBuilder, call: Call, x: SSAValue, first: int, second: int) -> SSAValue:
    rank = len(shape(x))
    order = [*range(rank)]
    if rank:
        one, other = call.axis(first, rank), call.axis(second, rank)
        order[one], order[other] = order[other], order[one]
    return layout.transpose(b, x, order)


def _matrix_transpose(b: TensorBuilder, call: Call, x: SSAValue) -> SSAValue:
    return layout.transpose(b, x, [*range(len(shape(x)))][::-1])


def _expand(b: TensorBuilder, call: Call, x: SSAValue, sizes: Sizes, *_: object) -> SSAValue:
    first = len(sizes) - len(shape(x))
    own = [shape(x)[k - first] if n == -1 else n for k, n in enumerate(sizes)]
    return layout.spread(b, x, own)


def _unsqueeze(b: TensorBuilder, call: Call, x: SSAValue, axis: int) -> SSAValue:
    sizes = list(shape(x))
    sizes.insert(call.axis(axis, len(sizes) + 1), 1)
    return layout.reshape(b, x, tuple(sizes))


def _squeeze(
    b: TensorBuilder, call: Call, x: SSAValue, axes: int | Sizes | None = None
) -> SSAValue:
    sizes = shape(x)
    chosen = [*range(len(sizes))] if axes is None else []
    if axes is not None and sizes:
        given = [axes] if isinstance(axes, int) else axes
        chosen = [call.axis(k, len(sizes)) for k in given]
    kept = tuple(n for k, n in enumerate(sizes) if n != 1 or k not in chosen)
    return layout.reshape(b, x, kept)


def _part(start: int | None, stop: int | None, step: int, size: int) -> range:
    """Places of a slice, whose ends may be outside of the tensor."""
    return range(size)[slice(start, stop, step)]


def _slice(
    b: TensorBuilder,
    call: Call,
    x: SSAValue,
    axis: int = 0,
    start: int | None = None,
    stop: int | None = None,
    step: int = 1,
) -> SSAValue:
    return sliced(b, x, call.axis(axis, len(shape(x))), slice(start, stop, step))


def _select(b: TensorBuilder, call: Call, x: SSAValue, axis: int, place: int) -> SSAValue:
    axis = call.axis(axis, len(shape(x)))
    return layout.element(b, x, axis, place % max(1, shape(x)[axis]))


def _with_part(b: TensorBuilder, x: SSAValue, part: SSAValue, axis: int, places: range) -> SSAValue:
    """A tensor with a part along an axis replaced."""
    if len(places) == 0:
        return x
    own = layout.indices(len(shape(x)))
    output = [places.start + places.step * e if k == axis else e for k, e in enumerate(own)]
    sizes = tuple(len(places) if k == axis else n for k, n in enumerate(shape(x)))
    part = layout.spread(b, cast(b, part, element_type(x)), sizes)
    return layout.copy(b, part, shape(x), output, own, x)


def _slice_scatter(
    b: TensorBuilder,
    call: Call,
    x: SSAValue,
    part: SSAValue,
    axis: int = 0,
    start: int | None = None,
    stop: int | None = None,
    step: int = 1,
) -> SSAValue:
    axis = call.axis(axis, len(shape(x)))
    return _with_part(b, x, part, axis, _part(start, stop, step, shape(x)[axis]))


def _select_scatter(
    b: TensorBuilder, call: Call, x: SSAValue, part: SSAValue, axis: int, place: int
) -> SSAValue:
    axis = call.axis(axis, len(shape(x)))
    place %= max(1, shape(x)[axis])
    wide = tuple(1 if k == axis else n for k, n in enumerate(shape(x)))
    return _with_part(b, x, layout.reshape(b, part, wide), axis, range(place, place + 1))


def _cat(b: TensorBuilder, call: Call, parts: Sequence[SSAValue], axis: int = 0) -> SSAValue:
    # PyTorch leaves out empty vectors beside tensors of more axes.
    rank = max(len(shape(part)) for part in parts)
    own = [in_type(b, p, call.type) for p in parts if len(shape(p)) == rank]
    return layout.concatenate(b, own, call.axis(axis, rank))


def _split(b: TensorBuilder, call: Call, x: SSAValue, sizes: Sizes, axis: int = 0) -> Values:
    axis = call.axis(axis, len(shape(x)))
    ends = [sum(sizes[: k + 1]) for k in range(len(sizes))]
    return [
        layout.section(b, x, axis, end - size, end) for size, end in zip(sizes, ends, strict=True)
    ]


def _repeat(b: TensorBuilder, call: Call, x: SSAValue, times: Sizes) -> SSAValue:
    sizes = (*[1] * (len(times) - len(shape(x))), *shape(x))
    return layout.tile(b, layout.reshape(b, x, sizes), times)


def _flip(b: TensorBuilder, call: Call, x: SSAValue, axes: Sizes) -> SSAValue:
    return layout.reverse(b, x, [call.axis(k, len(shape(x))) for k in axes])


def _diagonal(
    b: TensorBuilder, call: Call, x: SSAValue, offset: int = 0, first: int = 0, second: int = 1
) -> SSAValue:
    rank = len(shape(x))
    row, column = call.axis(first, rank), call.axis(second, rank)
    if row == column:
        raise TileError("a diagonal is of two axes")
    return layout.diagonal(b, x, offset, row, column)


def _pad(b: TensorBuilder, call: Call, x: SSAValue, widths: Sizes, value: Number = 0) -> SSAValue:
    low, high = _pads(widths, len(shape(x)))
    number = in_type(b, value, element_type(x))
    return layout.pad(b, x, number, low, high, [0] * len(low))


def _pads(widths: Sizes, rank: int) -> tuple[list[int], list[int]]:
    """Padding before and after each axis; that of the last axis is given first."""
    low, high = [0] * rank, [0] * rank
    for k in range(len(widths) // 2):
        low[rank - 1 - k], high[rank - 1 - k] = widths[2 * k], widths[2 * k + 1]
    return low, high


def _own_elements(mode: str) -> Conversion:
    """Padding by elements of the tensor itself."""

    def convert(b: TensorBuilder, call: Call, x: SSAValue, widths: Sizes) -> SSAValue:
        for axis, (low, high) in enumerate(zip(*_pads(widths, len(shape(x))), strict=True)):
            if low or high:
                x = layout.pad_with_elements(b, x, axis, low, high, mode)
        return x

    return convert


def _edges_backward(
    b: TensorBuilder, call: Call, cotangent: SSAValue, x: SSAValue, widths: Sizes
) -> SSAValue:
    """Gradient of padding by the elements at the edges."""
    rank = len(shape(x))
    for axis, (low, high) in enumerate(zip(*_pads(widths, rank), strict=True)):
        if low or high:
            cotangent = edges_by_x(b, cotangent, axis, low, high)
    return cotangent


def _triangle(op: type[ew.ElementwiseOp]) -> Conversion:
    def convert(b: TensorBuilder, call: Call, x: SSAValue, offset: int = 0) -> SSAValue:
        return layout.triangle(b, x, offset, op)

    return convert


def _in_memory(call: Call, x: SSAValue) -> list[int]:
    """Axes of a tensor from the slowest to the fastest in memory, which it has for itself."""
    memory, sizes = call.memory, shape(x)
    if memory is None or memory.first:
        raise TileError("its tensor is a part of another one")
    order = sorted(range(len(sizes)), key=lambda k: (-memory.strides[k], sizes[k] == 1))
    step = 1
    for k in reversed(order):
        if sizes[k] != 1 and memory.strides[k] != step:
            raise TileError("its tensor is a part of another one")
        step *= sizes[k]
    return order


def _strided_place(
    x: SSAValue, sizes: Sizes, strides: Sizes, first: int | None
) -> tuple[list[IndexExpr], IndexExpr]:
    """Places in a view, and those in memory; all must be of the tensor."""
    first = first or 0
    last = first + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
    if 0 in sizes or last >= prod(shape(x)):
        raise TileError("it takes elements that the tensor does not have")
    own = layout.indices(len(sizes))
    place = sum((s * e for s, e in zip(strides, own, strict=True)), IndexExpr.of(first))
    return own, place


def _flat(b: TensorBuilder, x: SSAValue, order: Sizes) -> SSAValue:
    return layout.reshape(b, layout.transpose(b, x, order), (prod(shape(x)),))


def _as_strided(
    b: TensorBuilder,
    call: Call,
    x: SSAValue,
    sizes: Sizes,
    strides: Sizes,
    first: int | None = None,
) -> SSAValue:
    own, place = _strided_place(x, sizes, strides, first)
    return layout.copy(b, _flat(b, x, _in_memory(call, x)), tuple(sizes), own, [place])


def _as_strided_scatter(
    b: TensorBuilder,
    call: Call,
    x: SSAValue,
    part: SSAValue,
    sizes: Sizes,
    strides: Sizes,
    first: int | None = None,
) -> SSAValue:
    own, place = _strided_place(x, sizes, strides, first)
    order = _in_memory(call, x)
    flat = _flat(b, x, order)
    found = layout.copy(b, part, shape(flat), [place], own, flat)
    moved = layout.reshape(b, found, tuple(shape(x)[k] for k in order))
    return layout.transpose(b, moved, [order.index(k) for k in range(len(order))])


def _unfold(b: TensorBuilder, call: Call, x: SSAValue, axis: int, size: int, step: int) -> SSAValue:
    """Windows along an axis; the place in a window is the last axis."""
    if not (sizes := list(shape(x))):
        return layout.reshape(b, x, (1,))
    axis = call.axis(axis, len(sizes))
    sizes[axis] = (sizes[axis] - size) // step + 1
    *own, place = layout.indices(len(sizes) + 1)
    places = [step * e + place if k == axis else e for k, e in enumerate(own)]
    return layout.copy(b, x, (*sizes, size), [*own, place], places)


LAYOUT: dict[str, Conversion] = {
    "aten._reshape_alias.default": _reshape_alias,
    "aten._unsafe_view.default": _view,
    "aten.as_strided.default": _as_strided,
    "aten.as_strided_scatter.default": _as_strided_scatter,
    "aten.cat.default": _cat,
    "aten.constant_pad_nd.default": _pad,
    "aten.diagonal.default": _diagonal,
    "aten.expand.default": _expand,
    "aten.flip.default": _flip,
    "aten.permute.default": _permute,
    "aten.reflection_pad1d.default": _own_elements("reflect"),
    "aten.reflection_pad2d.default": _own_elements("reflect"),
    "aten.reflection_pad3d.default": _own_elements("reflect"),
    "aten.repeat.default": _repeat,
    "aten.replication_pad1d.default": _own_elements("edge"),
    "aten.replication_pad1d_backward.default": _edges_backward,
    "aten.replication_pad2d.default": _own_elements("edge"),
    "aten.replication_pad2d_backward.default": _edges_backward,
    "aten.replication_pad3d.default": _own_elements("edge"),
    "aten.replication_pad3d_backward.default": _edges_backward,
    "aten.select.int": _select,
    "aten.select_scatter.default": _select_scatter,
    "aten.slice.Tensor": _slice,
    "aten.slice_scatter.default": _slice_scatter,
    "aten.split_with_sizes.default": _split,
    "aten.squeeze.default": _squeeze,
    "aten.squeeze.dim": _squeeze,
    "aten.squeeze.dims": _squeeze,
    "aten.t.default": _matrix_transpose,
    "aten.transpose.int": _transpose,
    "aten.tril.default": _triangle(ew.CmpLeOp),
    "aten.triu.default": _triangle(ew.CmpGeOp),
    "aten.unfold.default": _unfold,
    "aten.unsqueeze.default": _unsqueeze,
    "aten.view.default": _view,
}
