"""Ops of xdsl-jax that differ from StableHLO's."""

from __future__ import annotations

from xdsl.dialects.builtin import BoolAttr, StringAttr, TensorType
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure
from xdsl_jax.dialects.stablehlo.attributes import ComparisonDirectionAttr, ComparisonTypeAttr
from xdsl_jax.dialects.stablehlo.custom_directives import CustomCallTarget


@irdl_op_definition
class CompareOp(IRDLOperation):
    """Comparison of the elements of two tensors.

    xdsl-jax has another name for the kind of the comparison than the generic form has.
    """

    name = "stablehlo.compare"

    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    comparison_direction = prop_def(ComparisonDirectionAttr)
    compare_type = opt_prop_def(ComparisonTypeAttr)
    result = result_def(TensorType)

    assembly_format = (
        "$comparison_direction `,` $lhs `,` $rhs (`,` $compare_type^)? "
        "attr-dict `:` functional-type(operands, results)"
    )
    traits = traits_def(Pure())


@irdl_op_definition
class CustomCallOp(IRDLOperation):
    """Call of another compiler's code.

    The verifier of xdsl-jax has an error at calls without results.
    """

    name = "stablehlo.custom_call"

    inputs = var_operand_def()
    call_target_name = prop_def(StringAttr)
    has_side_effect = opt_prop_def(BoolAttr)
    backend_config = opt_prop_def()
    api_version = opt_prop_def()
    called_computations = opt_prop_def()
    operand_layouts = opt_prop_def()
    result_layouts = opt_prop_def()
    output_operand_aliases = opt_prop_def()
    result = var_result_def()

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = (
        "custom<CustomCallTarget>($call_target_name) `(` $inputs `)` "
        "attr-dict `:` functional-type(operands, results)"
    )
    custom_directives = (CustomCallTarget,)
