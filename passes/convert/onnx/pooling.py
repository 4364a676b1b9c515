"""Pools of ONNX: over windows, and over all spatial axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.dialects.builtin import i32, i64
from xdsl.ir import SSAValue

from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import layout
from tiledialect.operators.indexing import scatter_rows
from tiledialect.operators.layout import cast, constant, element_type, literal, shape
from tiledialect.operators.linear import Window
from tiledialect.operators.reductions import neutral, place_in_window, reduce, reduce_window
from tiledialect.passes.convert.onnx.base import Conversion, Node, Value
from tiledialect.passes.convert.onnx.windows import Windows, windows_of

Values = Sequence[Value]

POINT = Window(1)


def _windows(node: Node, x: SSAValue) -> Windows:
    return windows_of(node, shape(x)[2:], node.attributes["kernel_shape"])


def _pooled(b: TensorBuilder, x: SSAValue, windows: Windows, kind: Aggregation) -> SSAValue:
    t = element_type(x)
    start = constant(b, neutral(kind, t), t)
    sizes = (*shape(x)[:2], *windows.sizes)
    return reduce_window(b, x, start, kind, [POINT, POINT, *windows.each], sizes)


def _max_pool(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    windows = _windows(node, x)
    found = _pooled(b, x, windows, Aggregation.max)
    if len(node.proto.output) == 1 or not node.proto.output[1]:
        return [found]
    each = [POINT, POINT, *windows.each]
    order = [*range(len(each))]
    if node.attribute("storage_order", 0):
        order = [0, 1, *reversed(order[2:])]
    place = place_in_window(b, x, found, each, order)
    return [found, cast(b, place, i64)]


def _covered(windows: Windows, sizes: Sequence[int], *, padded: bool) -> list[np.ndarray]:
    """For each spatial axis, the number of elements in each window, with its padding or without."""
    counts: list[np.ndarray] = []
    for window, n, count, high in zip(
        windows.each, sizes, windows.sizes, windows.high, strict=True
    ):
        places = np.arange(count)[:, None] * window.stride - window.low
        places = places + np.arange(window.size) * window.dilation
        low, top = (-window.low, n + high) if padded else (0, n)
        counts.append(((places >= low) & (places < top)).sum(1))
    return counts


def _average_pool(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    windows = _windows(node, x)
    total = _pooled(b, x, windows, Aggregation.add)
    padded = bool(node.attribute("count_include_pad", 0))
    counts = _covered(windows, shape(x)[2:], padded=padded)
    if all((c == c[0]).all() for c in counts):
        return [b.div(total, float(prod(int(c[0]) for c in counts)))]
    for k, count in enumerate(counts):
        column = count.astype(np.float32).reshape(-1, *[1] * (len(counts) - 1 - k))
        total = b.div(total, cast(b, literal(b, column), element_type(x)))
    return [total]


def _lp_pool(b: TensorBuilder, node: Node) -> Values:
    x, p = node.tensor(0), float(node.attribute("p", 2))
    power = b.op(ew.PowOp, b.op(ew.AbsOp, x), p)
    total = _pooled(b, power, _windows(node, x), Aggregation.add)
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
