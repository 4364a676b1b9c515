"""Operators of ONNX at computed places: gathers, scatters, selections by known places."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.special import GatherOp
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import elementwise as fn
from tiledialect.operators import layout
from tiledialect.operators.indexing import (
    Places,
    element_gathered,
    element_scattered,
    gathered,
    scattered,
    wrapped,
)
from tiledialect.operators.layout import cast, literal, shape
from tiledialect.passes.convert.onnx.base import Conversion, Node, Value, axis_of

Values = Sequence[Value]

AGGREGATIONS = {
    "add": Aggregation.add,
    "mul": Aggregation.mul,
    "max": Aggregation.max,
    "min": Aggregation.min,
}
"""Aggregations of scatters."""


def _gather(b: TensorBuilder, node: Node) -> Values:
    x, places = node.tensor(0), node.tensor(1)
    axis = axis_of(node, node.attribute("axis", 0), len(shape(x)))
    return [gathered(b, x, wrapped(b, places, shape(x)[axis]), axis)]


def _gather_elements(b: TensorBuilder, node: Node) -> Values:
    x, places = node.tensor(0), node.tensor(1)
    axis = axis_of(node, node.attribute("axis", 0), len(shape(x)))
    return [element_gathered(b, x, places, axis)]


def _point_number(b: TensorBuilder, points: SSAValue, sizes: Sequence[int]) -> SSAValue:
    """Number of the element, or the slice, at each point, whose coordinates are the last axis."""
    rank, number = len(shape(points)) - 1, None
    for k, size in enumerate(sizes):
        place = layout.section(b, points, rank, k, k + 1)
        place = wrapped(b, layout.reshape(b, place, tuple(shape(points)[:-1])), size)
        number = place if number is None else b.add(b.mul(number, size), place)
    assert number is not None
    return number


def _gather_nd(b: TensorBuilder, node: Node) -> Values:
    x, points = node.tensor(0), node.tensor(1)
    batch, sizes = node.attribute("batch_dims", 0), shape(x)
    count = shape(points)[-1]
    number = _point_number(b, points, sizes[batch : batch + count])
    inner = prod(sizes[batch : batch + count])
    for k in range(batch):
        step = inner * prod(sizes[k + 1 : batch])
        number = b.add(number, b.mul(layout.iota(b, shape(number), k, i32), step))
    rest = sizes[batch + count :]
    table = layout.reshape(b, x, (prod(sizes[: batch + count]), *rest))
    return [b.insert(GatherOp.make(table, number))]


def _aggregation(node: Node) -> Aggregation | None:
    """Aggregation of a scatter; None if elements are replaced."""
    name = node.attribute("reduction", "none")
    if name != "none" and name not in AGGREGATIONS:
        raise node.refusal(f"there is no reduction {name}")
    return AGGREGATIONS.get(name)


def _scatter_elements(b: TensorBuilder, node: Node) -> Values:
    x, places, updates = map(node.tensor, range(3))
    axis = axis_of(node, node.attribute("axis", 0), len(shape(x)))
    return [element_scattered(b, x, updates, places, axis, _aggregation(node))]


def _scatter_nd(b: TensorBuilder, node: Node) -> Values:
    x, points, updates = map(node.tensor, range(3))
    sizes, count = shape(x), shape(points)[-1]
    batch = tuple(shape(points)[:-1])
    starts: dict[int, SSAValue] = {}
    for k in range(count):
        place = layout.section(b, points, len(batch), k, k + 1)
        starts[k] = wrapped(b, layout.reshape(b, place, batch), sizes[k])
    window = (*[1] * count, *sizes[count:])
    own = layout.reshape(b, updates, (*batch, *window))
    return [scattered(b, x, own, Places(starts, window, batch), _aggregation(node))]


def _compress(b: TensorBuilder, node: Node) -> Values:
    x, chosen = node.tensor(0), np.flatnonzero(node.known(1))
    if "axis" not in node.attributes:
        x, axis = layout.reshape(b, x, (prod(shape(x)),)), 0
    else:
        axis = axis_of(node, node.attributes["axis"], len(shape(x)))
    if chosen.size == 0:
        return [layout.section(b, x, axis, 0, 0)]
    return [gathered(b, x, literal(b, chosen.astype(np.int32)), axis)]


def _one_hot(b: TensorBuilder, node: Node) -> Values:
    places, values = node.tensor(0), node.tensor(2)
    depth = int(node.known(1).reshape(-1)[0])
    rank = len(shape(places))
    axis = axis_of(node, node.attribute("axis", -1), rank + 1)
    sizes = (*shape(places)[:axis], depth, *shape(places)[axis:])
    kept = [k for k in range(rank + 1) if k != axis]
    wide = layout.broadcast(b, cast(b, places, i32), sizes, kept)
    wide = b.select(fn.is_less(b, wide, 0), b.add(wide, depth), wide)
    is_one = b.op(ew.CmpEqOp, layout.iota(b, sizes, axis, i32), wide)
    off, on = (layout.reshape(b, layout.section(b, values, 0, k, k + 1), ()) for k in (0, 1))
    return [b.select(is_one, on, off)]


def _reverse_sequence(b: TensorBuilder, node: Node) -> Values:
    x, lengths = node.tensor(0), cast(b, node.tensor(1), i32)
    time, batch = node.attribute("time_axis", 0), node.attribute("batch_axis", 1)
    place = layout.iota(b, shape(x), time, i32)
    last = layout.broadcast(b, lengths, shape(x), [batch])
    turned = b.sub(b.sub(last, place), 1)
    place = b.select(fn.is_less(b, place, last), turned, place)
    return [element_gathered(b, x, place, time)]


def _tensor_scatter(b: TensorBuilder, node: Node) -> Values:
    cache, update = node.tensor(0), node.tensor(1)
    rank = len(shape(cache))
    axis = axis_of(node, node.attribute("axis", -2), rank)
    sizes, count = shape(cache), shape(update)[axis]
    starts = node.optional(2)
    if starts is None:
        starts = layout.full(b, 0, (sizes[0],), i32)
    start = layout.broadcast(b, cast(b, starts, i32), sizes, [0])
    place = b.sub(layout.iota(b, sizes, axis, i32), start)
    if node.attribute("mode", "linear") == "circular":
        place = b.select(fn.is_less(b, place, 0), b.add(place, sizes[axis]), place)
    inside = b.op(ew.BitAndOp, b.op(ew.CmpGeOp, place, 0), fn.is_less(b, place, count))
    inner = fn.clamped_index(b, place, count - 1)
    found = element_gathered(b, update, inner, axis)
    return [b.select(inside, found, cache)]


def _features(b: TensorBuilder, node: Node) -> Values:
    """Elements along the last axis; of a row, a matrix."""
    x, places = node.tensor(0), node.tensor(1)
    count = prod(shape(places))
    found = gathered(b, x, layout.reshape(b, cast(b, places, i32), (count,)), len(shape(x)) - 1)
    return [layout.reshape(b, found, (*(shape(x)[:-1] or (1,)), count))]


INDEXING: dict[str, Conversion] = {
    "Compress": _compress,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "OneHot": _one_hot,
    "ReverseSequence": _reverse_sequence,
    "Scatter": _scatter_elements,
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
    "TensorScatter": _tensor_scatter,
    "ai.onnx.ml.ArrayFeatureExtractor": _features,
}
