"""Batch normalization of StableHLO, computed in f32 where its elements have 16 bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import f32
from xdsl.ir import Operation, SSAValue

from tiledialect.dialects.stablehlo import batch_norm as hlo
from tiledialect.dialects.tile import element_types as et
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators.layout import cast, element_type
from tiledialect.operators.normalization import BatchNorm
from tiledialect.passes.convert.stablehlo.base import Conversion

Values = Sequence[SSAValue]


def _norm(
    b: TensorBuilder, op: hlo.BatchNormOp, operands: Values
) -> tuple[BatchNorm, Sequence[Any]]:
    """The normalization of the first operand, and the other operands."""
    t = element_type(operands[0])
    x, *others = (cast(b, v, f32) if t in et.SHORT_FLOATS else v for v in operands)
    return BatchNorm(b, x, op.feature_index.value.data, op.epsilon.value.data), others


def _inference(b: TensorBuilder, op: hlo.BatchNormOp, operands: Values) -> Values:
    norm, others = _norm(b, op, operands)
    return [norm.inference(*others)]


def _training(b: TensorBuilder, op: hlo.BatchNormOp, operands: Values) -> Values:
    norm, others = _norm(b, op, operands)
    result, *statistics = norm.training(*others)
    return [result, *map(norm.vector, statistics)]


def _grad(b: TensorBuilder, op: hlo.BatchNormOp, operands: Values) -> Values:
    norm, others = _norm(b, op, operands)
    return norm.gradients(*others)


NORMALIZATION: dict[type[Operation], Conversion] = {
    hlo.BatchNormInferenceOp: _inference,
    hlo.BatchNormTrainingOp: _training,
    hlo.BatchNormGradOp: _grad,
}
