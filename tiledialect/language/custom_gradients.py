"""A custom gradient statement to its op."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import SSAValue

from ..dialects.tile.custom_gradient import CustomGradientOp
from ..dialects.tile.kernel import YieldOp
from ..names import to_hint
from . import ast
from .emit import Value

if TYPE_CHECKING:
    from .to_ir import Lowering


def lower_custom_gradient(lowering: Lowering, statement: ast.CustomGradient) -> SSAValue:
    """Append the op of ``statement``, with the statements of its body inside."""
    value = lowering.value(statement.value)
    operand = lowering.emitter.tensor(value, statement.value.span)
    inputs = [_tensor(lowering, name) for name in statement.inputs]
    op = CustomGradientOp.of(operand, inputs)
    op.cotangent.name_hint = to_hint(statement.cotangent.text)
    with lowering.inside(op.body.block, {name.text for name in statement.gradients}):
        lowering.values[statement.cotangent.text] = op.cotangent
        lowering.keep_sizes(op.cotangent, [value])
        for inner in statement.body:
            lowering.statement(inner)
        results = [_tensor(lowering, name) for name in statement.gradients]
        op.body.block.add_op(YieldOp(results))
    result = lowering.emitter.make(lambda: _verified(op), statement.target.span)
    lowering.keep_sizes(result, [value])
    return result


def _verified(op: CustomGradientOp) -> CustomGradientOp:
    op.verify_()
    return op


def _tensor(lowering: Lowering, name: ast.Name) -> SSAValue:
    """The tensor that a name stands for, a dimension as one."""
    value: Value = lowering.lookup(name.text, name.span)
    if name.text in lowering.results:
        return lowering.results[name.text]
    return lowering.emitter.tensor(value, name.span)
