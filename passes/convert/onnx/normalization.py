"""Normalizations and softmax of ONNX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import elementwise as fn
from tiledialect.operators import layout
from tiledialect.operators.layout import cast, constant, element_type, shape
from tiledialect.operators.linear import Window
from tiledialect.operators.normalization import (
    BatchNorm,
    log_softmax,
    mean_along,
    over_deviation,
    softmax,
)
from tiledialect.operators.reductions import reduce_window, reduced
from tiledialect.passes.convert.onnx.base import Conversion, Node, Value, axis_of

Values = Sequence[Value]


def _softmax(function: Callable[[TensorBuilder, SSAValue, int], SSAValue]) -> Conversion:
    def convert(b: TensorBuilder, node: Node) -> Values:
        x, sizes = node.tensor(0), shape(node.tensor(0))
        axis = axis_of(node, node.attribute("axis", -1 if node.version >= 13 else 1), len(sizes))
        if node.version >= 13:
            return [function(b, x, axis)]
        flat = layout.reshape(b, x, (prod(sizes[:axis]), prod(sizes[axis:])))
        return [layout.reshape(b, function(b, flat, 1), sizes)]

    return convert


def _batch_norm(b: TensorBuilder, node: Node) -> Values:
    x, scale, offset, mean, variance = map(node.tensor, range(5))
    norm = BatchNorm(b, x, 1, _epsilon(node))
    if not node.attribute("training_mode", 0):
        return [cast(b, norm.inference(scale, offset, mean, variance), element_type(x))]
    result, own_mean, own_variance = norm.training(scale, offset)
    kept = node.attribute("momentum", 0.9)
    statistics = [
        b.add(b.mul(norm.along(old), kept), b.mul(new, 1 - kept))
        for old, new in ((mean, own_mean), (variance, own_variance))
    ]
    return [cast(b, result, element_type(x)), *map(norm.vector, statistics)]


def _epsilon(node: Node) -> float:
    return node.attribute("epsilon", 1e-5)


def _instance_norm(b: TensorBuilder, node: Node) -> Values:
    x, scale, offset = map(node.tensor, range(3))
    rank = len(shape(x))
    axes = [*range(2, rank)]
    _, own = over_deviation(b, b.sub(x, mean_along(b, x, axes)), axes, _epsilon(node))
    column = (shape(scale)[0], *[1] * (rank - 2))
    scaled = b.mul(own, layout.reshape(b, scale, column))
    return [b.add(scaled, layout.reshape(b, offset, column))]


def _last_axes(b: TensorBuilder, node: Node) -> tuple[SSAValue, list[int]]:
    """The input in the type of its statistics, and the axes from the node's on."""
    x = node.tensor(0)
    rank = len(shape(x))
    wide = cast(b, x, f32) if node.attribute("stash_type", 1) == 1 else x
    return wide, [*range(axis_of(node, node.attribute("axis", -1), rank), rank)]


def _layer_norm(b: TensorBuilder, node: Node) -> Values:
    t, (x, axes) = element_type(node.tensor(0)), _last_axes(b, node)
    mean = mean_along(b, x, axes)
    factor, own = over_deviation(b, b.sub(x, mean), axes, _epsilon(node))
    result = b.mul(cast(b, own, t), node.tensor(1))
    if (offset := node.optional(2)) is not None:
        result = b.add(result, offset)
    return [cast(b, result, t), mean, factor][: max(1, len(node.proto.output))]


def _rms_norm(b: TensorBuilder, node: Node) -> Values:
    t, (x, axes) = element_type(node.tensor(0)), _last_axes(b, node)
    _, own = over_deviation(b, x, axes, _epsilon(node))
    return [cast(b, b.mul(cast(b, own, t), node.tensor(1)), t)]


def _lp_norm(b: TensorBuilder, node: Node) -> Values:
    x = node.tensor(0)
    axis = axis_of(node, node.attribute("axis", -1), len(shape(x)))
    if node.attribute("p", 2) == 1:
        size = reduced(b, b.op(ew.AbsOp, x), Aggregation.add, [axis], keeps=True)
    else:
        square = reduced(b, fn.square(b, x), Aggregation.add, [axis], keeps=True)
        size = b.op(ew.SqrtOp, square)
    is_zero = b.op(ew.CmpEqOp, size, 0)
    return [b.select(is_zero, fn.like(b, x, 0), b.div(x, size))]


def _local_response(b: TensorBuilder, node: Node) -> Values:
    x, size = node.tensor(0), node.attributes["size"]
    alpha, beta = node.attribute("alpha", 1e-4), node.attribute("beta", 0.75)
    windows = [Window(size if k == 1 else 1, low=(size - 1) // 2 * (k == 1)) for k in range(4)]
    windows = [windows[min(k, 2)] for k in range(len(shape(x)))]
    zero = constant(b, 0, element_type(x))
    square = fn.square(b, x)
    total = reduce_window(b, square, zero, Aggregation.add, windows, shape(x))
    base = b.add(b.mul(total, alpha / size), node.attribute("bias", 1.0))
    return [b.div(x, b.op(ew.PowOp, base, beta))]


NORMALIZATION: dict[str, Conversion] = {
    "BatchNormalization": _batch_norm,
    "InstanceNormalization": _instance_norm,
    "LayerNormalization": _layer_norm,
    "LogSoftmax": _softmax(log_softmax),
    "LpNormalization": _lp_norm,
    "LRN": _local_response,
    "RMSNormalization": _rms_norm,
    "Softmax": _softmax(softmax),
}
