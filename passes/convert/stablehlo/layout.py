"""Ops of StableHLO that move elements, and constants."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Operation, SSAValue

from tiledialect.dialects import stablehlo as added
from tiledialect.dialects.stablehlo import upstream as hlo
from tiledialect.ir.dense_constants import dense_numbers, splat
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import layout
from tiledialect.operators.layout import element_type
from tiledialect.passes.convert.stablehlo.base import Conversion, numbers, result_shape

Values = Sequence[SSAValue]


def _constant(b: TensorBuilder, op: hlo.ConstantOp, _: Values) -> Values:
    t, sizes = element_type(op.output), result_shape(op)
    assert isinstance(op.value, DenseIntOrFPElementsAttr)
    if (number := splat(op.value)) is not None:
        return [layout.full(b, number, sizes, t)]
    if len(op.value) <= layout.MOST_CHOSEN:
        return [layout.dense(b, dense_numbers(op.value), sizes, t)]
    return [layout.kept(b, op.value)]


def _iota(b: TensorBuilder, op: hlo.IotaOp, _: Values) -> Values:
    t = element_type(op.output)
    return [layout.iota(b, result_shape(op), op.iota_dimension.value.data, t)]


def _broadcast(b: TensorBuilder, op: hlo.BroadcastInDimOp, operands: Values) -> Values:
    axes = numbers(op.broadcast_dimensions)
    return [layout.broadcast(b, operands[0], result_shape(op), axes)]


def _reshape(b: TensorBuilder, op: hlo.ReshapeOp, operands: Values) -> Values:
    return [layout.reshape(b, operands[0], result_shape(op))]


def _transpose(b: TensorBuilder, op: hlo.TransposeOp, operands: Values) -> Values:
    return [layout.transpose(b, operands[0], numbers(op.permutation))]


def _reverse(b: TensorBuilder, op: added.ReverseOp, operands: Values) -> Values:
    return [layout.reverse(b, operands[0], numbers(op.dimensions))]


def _slice(b: TensorBuilder, op: hlo.SliceOp, operands: Values) -> Values:
    ranges = (op.start_indices, op.limit_indices, op.strides)
    return [layout.strided_slice(b, operands[0], *map(numbers, ranges))]


def _pad(b: TensorBuilder, op: added.PadOp, operands: Values) -> Values:
    amounts = (op.edge_padding_low, op.edge_padding_high, op.interior_padding)
    x, value = operands
    return [layout.pad(b, x, value, *map(numbers, amounts))]


def _concatenate(b: TensorBuilder, op: hlo.ConcatenateOp, operands: Values) -> Values:
    return [layout.concatenate(b, operands, op.dimension.value.data)]


LAYOUT: dict[type[Operation], Conversion] = {
    hlo.ConstantOp: _constant,
    hlo.IotaOp: _iota,
    hlo.BroadcastInDimOp: _broadcast,
    hlo.ReshapeOp: _reshape,
    hlo.TransposeOp: _transpose,
    added.ReverseOp: _reverse,
    hlo.SliceOp: _slice,
    added.PadOp: _pad,
    hlo.ConcatenateOp: _concatenate,
}
