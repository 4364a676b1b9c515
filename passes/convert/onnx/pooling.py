"""Pools of ONNX: over windows, and over all spatial axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import SSAValue

from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import layout
from tiledialect.operators.indexing import scatter_rows
from tiledialect.operators.layout import cast, constant, element_type, shape
from tiledialect.operators.pooling import all_windows, over_counts, place_in_window, pooled
from tiledialect.operators.reductions import neutral, reduce
from tiledialect.passes.convert.onnx.base import Conversion, Node, Value
from tiledialect.passes.convert.onnx.windows import Windows, windows_of

Values = Sequence[Value]


def _windows(node: Node, x: SSAValue) -> Windows:
    return windows_of(node, shape(x)[2:], node.attributes["kernel_shape"])


def _max_pool(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    windows = _windows(node, x)
    found = pooled(b, x, windows.each, windows.sizes, Aggregation.max)
    if len(node.proto.output) == 1 or not node.proto.output[1]:
        return [found]
    order = [*range(len(shape(x)))]
    if node.attribute("storage_order", 0):
        order = [0, 1, *reversed(order[2:])]
    place = place_in_window(b, x, found, all_windows(x, windows.each), order)
    return [found, cast(b, place, i64)]


def _average_pool(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    windows = _windows(node, x)
    total = pooled(b, x, windows.each, windows.sizes, Aggregation.add)
    with_padding = bool(node.attribute("count_include_pad", 0))
    return [
        over_counts(b, total, windows.each, shape(x)[2:], windows.high, with_padding=with_padding)
    ]


def _lp_pool(b: TensorBuilder, node: Node) -> Values:
    x, p = node.tensor(0), float(node.attribute("p", 2))
    power = b.op(ew.PowOp, b.op(ew.AbsOp, x), p)
    windows = _windows(node, x)
    total = pooled(b, power, windows.each, windows.sizes, Aggregation.add)
    return [b.op(ew.PowOp, total, 1 / p)]


def _over_all(b: TensorBuilder, x: SSAValue, kind: Aggregation) -> SSAValue:
    axes = [*range(2, len(shape(x)))]
    t = element_type(x)
    total = reduce(b, x, constant(b, neutral(kind, t), t), kind, axes)
    return layout.reshape(b, total, (*shape(x)[:2], *[1] * len(axes)))


def _global_average(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    return [b.div(_over_all(b, x, Aggregation.add), float(prod(shape(x)[2:])))]


def _global_max(b: TensorBuilder, node: Node) -> Values:
    return [_over_all(b, node.tensor(0), Aggregation.max)]


def _global_lp(b: TensorBuilder, node: Node) -> Values:
    x, p = node.tensor(0), float(node.attribute("p", 2))
    total = _over_all(b, b.op(ew.PowOp, b.op(ew.AbsOp, x), p), Aggregation.add)
    return [b.op(ew.PowOp, total, 1 / p)]


def _max_unpool(b: TensorBuilder, node: Node) -> Values:
    x, places = node.tensor(0), node.tensor(1)
    taps = node.attributes["kernel_shape"]
    rank = len(taps)
    strides = node.numbers("strides") or [1] * rank
    pads = node.numbers("pads") or [0] * (2 * rank)
    own = [
        (n - 1) * s - pads[k] - pads[k + rank] + tap
        for k, (n, s, tap) in enumerate(zip(shape(x)[2:], strides, taps, strict=True))
    ]
    sizes = (*shape(x)[:2], *own)
    count = prod(sizes)
    wanted = tuple(node.numbers("output_shape", 2) or sizes)
    flat, numbers = (layout.reshape(b, v, (prod(shape(x)),)) for v in (x, cast(b, places, i32)))
    result = layout.reshape(b, scatter_rows(b, flat, numbers, count), sizes)
    if wanted != sizes:
        high = [n - m for n, m in zip(wanted, sizes, strict=True)]
        zero = constant(b, 0, element_type(x))
        result = layout.pad(b, result, zero, [0] * len(high), high, [0] * len(high))
    return [result]


POOLING: dict[str, Conversion] = {
    "AveragePool": _average_pool,
    "GlobalAveragePool": _global_average,
    "GlobalLpPool": _global_lp,
    "GlobalMaxPool": _global_max,
    "LpPool": _lp_pool,
    "MaxPool": _max_pool,
    "MaxUnpool": _max_unpool,
}
