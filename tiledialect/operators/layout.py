"""Operators that move elements: broadcast, transposition, slices, padding, concatenation."""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    IndexType,
    TensorType,
    i1,
    i8,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import Shape, make_type, shape_of, tensor_type
from tiledialect.dialects.tile.constants import ConstantOp, constant_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.element_types import CONCRETE
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.elementwise.numeric import ELEMENT_TYPES
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.index.expr import IndexExpr
from tiledialect.ir.dense_constants import dense_array, dense_of
from tiledialect.ir.tensor_builder import Access, TensorBuilder

Number = int | float


def shape(x: SSAValue) -> Shape:
    """Shape of a tensor whose rank is known."""
    found = shape_of(tensor_type(x))
    assert found is not None
    return found


def element_type(x: SSAValue) -> Attribute:
    """Element type of a tensor."""
    return tensor_type(x).element_type


def indices(rank: int) -> list[IndexExpr]:
    """Index variables for as many axes."""
    return [IndexExpr.of(f"d{k}") for k in range(rank)]


def cast(b: TensorBuilder, x: SSAValue, t: Attribute) -> SSAValue:
    """Convert a tensor to an element type."""
    return x if element_type(x) == t else b.insert(ew.CastOp.to(x, t))


def copy(
    b: TensorBuilder,
    x: SSAValue,
    sizes: Shape,
    output: Access,
    access: Access,
    default: SSAValue | None = None,
) -> SSAValue:
    """Copy elements of ``x`` to places of a tensor of a shape, else 0 or those of ``default``."""
    return b.insert(
        ContractionOp(
            Aggregation.assign,
            Combination.none,
            output,
            [(x, access)],
            shape=sizes,
            default=default,
        )
    )


def constant(b: TensorBuilder, value: Number, t: Attribute) -> SSAValue:
    """Scalar constant of an element type."""
    return b.insert(ConstantOp.of(value, t))


def full(b: TensorBuilder, value: Number, sizes: Shape, t: Attribute) -> SSAValue:
    """Tensor of one value."""
    return broadcast(b, constant(b, value, t), sizes, ())


def reshape(b: TensorBuilder, x: SSAValue, sizes: Shape) -> SSAValue:
    """Elements in the same order with other axes."""
    if shape(x) == tuple(sizes):
        return x
    t = make_type(tuple(sizes), element_type(x))
    return b.insert(ReshapeOp.create(operands=[x], result_types=[t]))


def broadcast(b: TensorBuilder, x: SSAValue, sizes: Shape, axes: Sequence[int]) -> SSAValue:
    """Repeat ``x``, whose axes become ``axes`` of the result."""
    order = sorted(range(len(axes)), key=lambda k: axes[k])
    x, axes = transpose(b, x, order), sorted(axes)
    given = dict(zip(axes, shape(x), strict=True))
    if axes:
        x = reshape(b, x, tuple(given.get(axis, 1) for axis in range(len(sizes))))
    if shape(x) == tuple(sizes):
        return x
    places = indices(len(sizes))
    repeated = (
        [
            place if n == m else IndexExpr()
            for place, n, m in zip(places, shape(x), sizes, strict=True)
        ]
        if axes
        else []
    )
    return copy(b, x, tuple(sizes), places, repeated)


def repeat(b: TensorBuilder, x: SSAValue, axis: int, times: int) -> SSAValue:
    """Each element along an axis several times, one after the other."""
    sizes = list(shape(x))
    spread = (*sizes[: axis + 1], times, *sizes[axis + 1 :])
    kept = [k if k <= axis else k + 1 for k in range(len(sizes))]
    sizes[axis] *= times
    return reshape(b, broadcast(b, x, spread, kept), tuple(sizes))


def tile(b: TensorBuilder, x: SSAValue, times: Sequence[int]) -> SSAValue:
    """The tensor itself several times along each axis."""
    sizes = shape(x)
    spread = tuple(n for pair in zip(times, sizes, strict=True) for n in pair)
    whole = broadcast(b, x, spread, [2 * k + 1 for k in range(len(sizes))])
    return reshape(b, whole, tuple(n * m for n, m in zip(sizes, times, strict=True)))


def repeated_scalar(x: SSAValue) -> SSAValue | None:
    """Scalar of which ``x`` is a broadcast; None if it is none."""
    made = x.owner
    if not isinstance(made, ContractionOp) or made.aggregation.data is not Aggregation.assign:
        return None
    is_plain = made.default is None and not made.constraints.data and not made.sizes
    return made.inputs[0] if is_plain and [a.data for a in made.accesses] == [()] else None


def transpose(b: TensorBuilder, x: SSAValue, order: Sequence[int]) -> SSAValue:
    """Tensor whose axis ``k`` is axis ``order[k]`` of ``x``."""
    if list(order) == sorted(order):
        return x
    places = indices(len(order))
    access = [places[list(order).index(axis)] for axis in range(len(order))]
    return copy(b, x, tuple(shape(x)[axis] for axis in order), places, access)


def reverse(b: TensorBuilder, x: SSAValue, axes: Sequence[int]) -> SSAValue:
    """Tensor with the elements of ``axes`` in reverse order."""
    places = indices(len(shape(x)))
    turned = [
        n - 1 - e if k in axes else e for k, (e, n) in enumerate(zip(places, shape(x), strict=True))
    ]
    return copy(b, x, shape(x), places, turned)


def strided_slice(
    b: TensorBuilder,
    x: SSAValue,
    starts: Sequence[int],
    stops: Sequence[int],
    steps: Sequence[int],
) -> SSAValue:
    """Every ``step``-th element from ``start`` to before ``stop``, for each axis."""
    sizes = tuple(
        max(0, -(-(stop - start) // step))
        for start, stop, step in zip(starts, stops, steps, strict=True)
    )
    if sizes == shape(x):
        return x
    places = indices(len(sizes))
    access = [start + step * e for start, step, e in zip(starts, steps, places, strict=True)]
    return copy(b, x, sizes, places, access)


def section(
    b: TensorBuilder, x: SSAValue, axis: int, start: int, stop: int, step: int = 1
) -> SSAValue:
    """Slice along one axis."""
    sizes = shape(x)
    starts, stops, steps = [0] * len(sizes), list(sizes), [1] * len(sizes)
    starts[axis], stops[axis], steps[axis] = start, stop, step
    return strided_slice(b, x, starts, stops, steps)


def element(b: TensorBuilder, x: SSAValue, axis: int, place: int) -> SSAValue:
    """Part of a tensor at a place of an axis, which it lacks."""
    part = section(b, x, axis, place, place + 1)
    return reshape(b, part, tuple(n for k, n in enumerate(shape(x)) if k != axis))


def diagonal(b: TensorBuilder, x: SSAValue, offset: int, row: int, column: int) -> SSAValue:
    """Elements along two axes, whose places differ by an offset, as a last axis."""
    rows, columns = shape(x)[row], shape(x)[column]
    count = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    rest = [k for k in range(len(shape(x))) if k not in (row, column)]
    places = indices(len(rest) + 1)
    access = [IndexExpr()] * len(shape(x))
    for k, axis in enumerate(rest):
        access[axis] = places[k]
    access[row], access[column] = places[-1] + max(0, -offset), places[-1] + max(0, offset)
    return copy(b, x, (*(shape(x)[k] for k in rest), count), places, access)


def triangle(
    b: TensorBuilder, x: SSAValue, offset: int, compared: type[ew.ElementwiseOp]
) -> SSAValue:
    """Matrices along the last two axes, with 0 where ``compared`` of column and row is false."""
    rank, t = len(shape(x)), element_type(x)
    row, column = (iota(b, shape(x)[-2:], axis, CONCRETE["i64"]) for axis in (0, 1))
    inside = b.op(compared, column, b.add(row, offset))
    whole = broadcast(b, inside, shape(x), [rank - 2, rank - 1])
    return cast(b, b.select(whole, x, constant(b, 0, t)), t)


def filled(b: TensorBuilder, value: SSAValue, sizes: Shape) -> SSAValue | None:
    """The scalar ``value`` as the default of a contraction of a shape; None if that is 0."""
    made = constant_of(value)
    if made is None:
        return broadcast(b, value, sizes, ())
    return None if made.number == 0 and copysign(1, made.number) == 1 else value


def pad(
    b: TensorBuilder,
    x: SSAValue,
    value: SSAValue,
    low: Sequence[int],
    high: Sequence[int],
    interior: Sequence[int],
) -> SSAValue:
    """Elements of a scalar ``value`` before, after and between those of ``x``.

    A negative number before or after removes elements.
    """
    sizes = tuple(
        before + after + n + between * max(0, n - 1)
        for n, before, after, between in zip(shape(x), low, high, interior, strict=True)
    )
    places = indices(len(sizes))
    output = [
        before + (1 + between) * e for e, before, between in zip(places, low, interior, strict=True)
    ]
    if 0 in shape(x):
        return broadcast(b, value, sizes, ())
    return copy(b, x, sizes, output, places, filled(b, value, sizes))


PADDINGS = ("reflect", "edge", "wrap")
"""Ways to continue a tensor by its own elements."""


def pad_with_elements(
    b: TensorBuilder, x: SSAValue, axis: int, low: int, high: int, mode: str
) -> SSAValue:
    """A tensor continued along an axis by its own elements, as ``numpy.pad`` does.

    A negative number before or after removes elements.
    """
    size = shape(x)[axis]
    places = np.pad(np.arange(size), (max(0, low), max(0, high)), mode=mode)  # pyright: ignore[reportArgumentType, reportCallIssue]
    places = places[max(0, -low) : len(places) - max(0, -high)]
    return concatenate(b, [_run(b, x, axis, run) for run in _runs(places)], axis)


def _runs(places: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    """Places in parts of equal steps."""
    runs: list[np.ndarray[Any, Any]] = []
    start = 0
    while start < len(places):
        stop = start + 1
        if stop < len(places):
            step = places[stop] - places[start]
            while stop < len(places) and places[stop] - places[stop - 1] == step:
                stop += 1
        runs.append(places[start:stop])
        start = stop
    return runs


def _run(b: TensorBuilder, x: SSAValue, axis: int, places: np.ndarray[Any, Any]) -> SSAValue:
    """Elements along an axis at places of equal steps."""
    first, step = int(places[0]), int(places[1] - places[0]) if len(places) > 1 else 1
    own = indices(len(shape(x)))
    access = [first + step * e if k == axis else e for k, e in enumerate(own)]
    sizes = tuple(len(places) if k == axis else n for k, n in enumerate(shape(x)))
    if step == 0:
        access[axis] = IndexExpr.of(first)
    return copy(b, x, sizes, own, access)


def concatenate(b: TensorBuilder, parts: Sequence[SSAValue], axis: int) -> SSAValue:
    """Tensors side by side along an axis."""
    parts = [part for part in parts if shape(part)[axis]] or list(parts[:1])
    sizes = list(shape(parts[0]))
    sizes[axis] = sum(shape(part)[axis] for part in parts)
    result, start = None, 0
    if len(parts) == 1:
        return parts[0]
    for part in parts:
        places = indices(len(sizes))
        output = [*places]
        output[axis] = places[axis] + start
        result = copy(b, part, tuple(sizes), output, places, result)
        start += shape(part)[axis]
    assert result is not None
    return result


def iota(b: TensorBuilder, sizes: Shape, axis: int, t: Attribute) -> SSAValue:
    """Position along an axis, in every element."""
    return cast(b, b.insert(ew.IndexOp.along(full(b, 0, sizes, t), axis)), t)


MOST_CHOSEN = 16
"""Most elements of a constant that are chosen by their places; more are kept in memory."""


def kept(b: TensorBuilder, value: DenseIntOrFPElementsAttr) -> SSAValue:
    """Tensor of numbers that are kept in memory; indices are of 64 bits."""
    t, array = value.get_element_type(), dense_array(value)
    if t == i1:
        # Upstream's text of many booleans is another than xDSL's.
        bits = array.view(np.int8).tobytes()
        numbers = DenseIntOrFPElementsAttr(TensorType(i8, array.shape), BytesAttr(bits))
        return b.op(ew.CmpNeOp, b.insert(arith.ConstantOp(numbers)), 0)
    if isinstance(t, IndexType):
        value = DenseIntOrFPElementsAttr(TensorType(i64, array.shape), value.data)
    return b.insert(arith.ConstantOp(value))


def dense(b: TensorBuilder, values: Sequence[Number], sizes: Shape, t: Attribute) -> SSAValue:
    """Tensor of few given numbers, chosen by their places."""
    most = max(set(values), key=values.count, default=0)
    count = len(values)
    result = constant(b, most, t)
    place = iota(b, (count,), 0, CONCRETE["i32"])
    for k, value in enumerate(values):
        if value != most or copysign(1, value) != copysign(1, most):
            result = b.select(b.op(ew.CmpEqOp, place, k), constant(b, value, t), result)
    return reshape(b, broadcast(b, result, (count,), ()) if not shape(result) else result, sizes)


def literal(b: TensorBuilder, array: np.ndarray[Any, Any]) -> SSAValue:
    """Numbers as a constant: one number of a tensor without axes, or all kept in memory."""
    t = ELEMENT_TYPES[array.dtype]
    if array.ndim == 0:
        return b.insert(ConstantOp.of(array.item(), t))
    if array.size == 0:
        return full(b, 0, array.shape, t)
    if array.size == 1 or (array == array.flat[0]).all():
        return full(b, array.flat[0].item(), array.shape, t)
    return kept(b, dense_of(array, t))


def sliced(b: TensorBuilder, x: SSAValue, axis: int, part: slice) -> SSAValue:
    """Part of a tensor along an axis, as of a list in Python."""
    places = range(shape(x)[axis])[part]
    if len(places) == 0:
        return section(b, x, axis, 0, 0)
    if places.step < 0:
        x = section(b, x, axis, places[-1], places[0] + 1, -places.step)
        return reverse(b, x, [axis])
    return section(b, x, axis, places[0], places[-1] + 1, places.step)


def spread(b: TensorBuilder, x: SSAValue, sizes: Sequence[int]) -> SSAValue:
    """A tensor broadcast to a shape, its last axes being the shape's."""
    first = len(sizes) - len(shape(x))
    axes = [k for k, n in enumerate(shape(x)) if n != 1 or sizes[first + k] == 1]
    own = reshape(b, x, tuple(shape(x)[k] for k in axes))
    return broadcast(b, own, tuple(sizes), [first + k for k in axes])
