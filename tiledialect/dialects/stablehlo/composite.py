"""Composite ops of StableHLO."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    I32,
    DictionaryAttr,
    FlatSymbolRefAttrConstr,
    IntegerAttr,
    StringAttr,
)
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    var_operand_def,
    var_result_def,
)


@irdl_op_definition
class CompositeOp(IRDLOperation):
    """An op of another dialect, with the function that computes the same by ops of StableHLO."""

    name = "stablehlo.composite"

    inputs = var_operand_def()
    composite_name = prop_def(StringAttr, prop_name="name")
    composite_attributes = opt_prop_def(DictionaryAttr)
    decomposition = prop_def(FlatSymbolRefAttrConstr)
    version = opt_prop_def(IntegerAttr[I32])
    result = var_result_def()

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$name $inputs attr-dict `:` functional-type(operands, results)"
