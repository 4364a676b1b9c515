"""Batch normalization of StableHLO."""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import (
    I64,
    AnyFloatConstr,
    Float32Type,
    FloatAttr,
    IntegerAttr,
    TensorType,
)
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

_TENSOR = TensorType.constr(AnyFloatConstr)


class BatchNormOp(IRDLOperation, ABC):
    """An op on a tensor, then vectors with an element for each place along its feature axis."""

    T: ClassVar = VarConstraint("T", _TENSOR)
    F: ClassVar = VarConstraint("F", _TENSOR)

    epsilon = prop_def(FloatAttr[Float32Type])
    feature_index = prop_def(IntegerAttr[I64])

    traits = traits_def(Pure())

    def verify_(self) -> None:
        """Check that the vectors have the size of the feature axis."""
        whole, vector, *_ = self.operand_types
        assert isinstance(whole, TensorType) and isinstance(vector, TensorType)
        sizes, axis = whole.get_shape(), self.feature_index.value.data
        if not 0 <= axis < len(sizes):
            raise VerifyException(f"a {whole} has no axis {axis}")
        feature = TensorType(whole.element_type, [sizes[axis]])
        if vector != feature:
            raise VerifyException(f"axis {axis} of a {whole} is normalized by a {vector}")


@irdl_op_definition
class BatchNormInferenceOp(BatchNormOp):
    """A tensor normalized by a given mean and variance of each feature."""

    name = "stablehlo.batch_norm_inference"

    operand = operand_def(BatchNormOp.T)
    scale = operand_def(BatchNormOp.F)
    offset = operand_def(BatchNormOp.F)
    mean = operand_def(BatchNormOp.F)
    variance = operand_def(BatchNormOp.F)
    result = result_def(BatchNormOp.T)


@irdl_op_definition
class BatchNormTrainingOp(BatchNormOp):
    """A tensor normalized by its own mean and variance of each feature, and these."""

    name = "stablehlo.batch_norm_training"

    operand = operand_def(BatchNormOp.T)
    scale = operand_def(BatchNormOp.F)
    offset = operand_def(BatchNormOp.F)
    output = result_def(BatchNormOp.T)
    batch_mean = result_def(BatchNormOp.F)
    batch_var = result_def(BatchNormOp.F)


@irdl_op_definition
class BatchNormGradOp(BatchNormOp):
    """The gradients of a normalization by the mean and variance of each feature."""

    name = "stablehlo.batch_norm_grad"

    operand = operand_def(BatchNormOp.T)
    scale = operand_def(BatchNormOp.F)
    mean = operand_def(BatchNormOp.F)
    variance = operand_def(BatchNormOp.F)
    grad_output = operand_def(BatchNormOp.T)
    grad_operand = result_def(BatchNormOp.T)
    grad_scale = result_def(BatchNormOp.F)
    grad_offset = result_def(BatchNormOp.F)
