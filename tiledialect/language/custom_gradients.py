"""A custom gradient statement to its op."""

from __future__ import annotations

from xdsl.ir import SSAValue

from tiledialect.dialects.tile.custom_gradient import CustomGradientOp
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.ir.names import give_name

from . import ast
from .append import Value
from .scope import Scope


def lower_custom_gradient(scope: Scope, statement: ast.CustomGradient) -> SSAValue:
    """Append the op of ``statement``, with the statements of its body inside."""
    value = scope.value(statement.value)
    operand = scope.appender.tensor(value, statement.value.span)
    inputs = [_tensor(scope, name) for name in statement.inputs]
    op = CustomGradientOp.of(operand, inputs)
    give_name(op.cotangent, statement.cotangent.text)
    with scope.inside(op.body.block, {name.text for name in statement.gradients}):
        scope.values[statement.cotangent.text] = op.cotangent
        scope.keep_sizes(op.cotangent, [value])
        for inner in statement.body:
            scope.statement(inner)
        results = [_tensor(scope, name) for name in statement.gradients]
        op.body.block.add_op(YieldOp(results))
    result = scope.appender.make(lambda: _verified(op), statement.target.span)
    scope.keep_sizes(result, [value])
    return result


def _verified(op: CustomGradientOp) -> CustomGradientOp:
    op.verify_()
    return op


def _tensor(scope: Scope, name: ast.Name) -> SSAValue:
    """The tensor that a name stands for, a dimension as one."""
    value: Value = scope.lookup(name.text, name.span)
    if name.text in scope.results:
        return scope.results[name.text]
    return scope.appender.tensor(value, name.span)
