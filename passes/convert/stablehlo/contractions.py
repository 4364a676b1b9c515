"""Products and convolutions of StableHLO."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from tiledialect.dialects import stablehlo as added
from tiledialect.dialects.stablehlo import upstream as hlo
from tiledialect.dialects.stablehlo.windows import Labels, pairs
from tiledialect.dialects.stablehlo.windows import numbers as each
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators.layout import element_type, shape
from tiledialect.operators.linear import ConvolutionAxes, Window, convolution, dot_general
from tiledialect.passes.convert.stablehlo.base import Conversion, numbers, result_shape

Values = Sequence[SSAValue]


def _dot_general(b: TensorBuilder, op: hlo.DotGeneralOp, operands: Values) -> Values:
    axes = op.dot_dimension_numbers
    batch = numbers(axes.lhs_batching_dimensions), numbers(axes.rhs_batching_dimensions)
    inner = numbers(axes.lhs_contracting_dimensions), numbers(axes.rhs_contracting_dimensions)
    x, y = operands
    return [dot_general(b, x, y, batch, inner, element_type(op.results[0]))]


def _axes(labels: Labels, batch: str, feature: str) -> ConvolutionAxes:
    spatial = sorted((n, axis) for axis, n in enumerate(labels) if isinstance(n, int))
    places = tuple(axis for _, axis in spatial)
    return ConvolutionAxes(labels.index(batch), labels.index(feature), places)


def _convolution(b: TensorBuilder, op: added.ConvolutionOp, operands: Values) -> Values:
    lhs, rhs, out = op.dimension_numbers.data
    axes = _axes(lhs, "b", "f"), _axes(rhs, "o", "i"), _axes(out, "b", "f")
    rank = op.rank
    windows = [
        Window(*window)
        for window in zip(
            [shape(op.rhs)[axis] for axis in axes[1].spatial],
            each(op.window_strides, rank),
            [low for low, _ in pairs(op.padding, rank)],
            each(op.lhs_dilation, rank),
            each(op.rhs_dilation, rank),
            op.reversal,
            strict=True,
        )
    ]
    groups = op.feature_group_count.value.data, op.batch_group_count.value.data
    x, kernel = operands
    t = element_type(op.result)
    return [convolution(b, x, kernel, windows, axes, result_shape(op), t, *groups)]


CONTRACTIONS: dict[type[Operation], Conversion] = {
    hlo.DotGeneralOp: _dot_general,
    added.ConvolutionOp: _convolution,
}
