"""Functions that are not elementwise: the ops and the results of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, StringAttr
from xdsl.ir import SSAValue

from tiledialect.dialects.discardable import ASSERTION
from tiledialect.dialects.tile import special as ops
from tiledialect.dialects.tile.base import TileOp, name_of, shape_of, tensor_type
from tiledialect.dialects.tile.custom_gradient import CustomGradientOp
from tiledialect.dialects.tile.element_types import CONCRETE
from tiledialect.dialects.tile.elementwise.ops import CastOp, IndexOp
from tiledialect.dialects.tile.yielding import YieldOp
from tiledialect.errors import TileError, count

from . import ast
from .append import Size, Value
from .scope import Scope

Special: TypeAlias = "Callable[[Scope, ast.Call, list[Value]], Value]"

CASTS = {
    "as_float": {16: "f16", 32: "f32", 64: "f64"},
    "as_bfloat": {16: "bf16"},
    "as_int": {8: "i8", 16: "i16", 32: "i32", 64: "i64"},
    "as_uint": {8: "ui8", 16: "ui16", 32: "ui32", 64: "ui64"},
}
"""The element type of each width that a cast takes."""


def _operand(scope: Scope, node: ast.Call, arguments: list[Value], position: int):
    return scope.appender.tensor(arguments[position], node.arguments[position].span)


def _operands(scope: Scope, node: ast.Call, arguments: list[Value]) -> list[SSAValue]:
    return [_operand(scope, node, arguments, k) for k in range(len(arguments))]


def _size_operands(scope: Scope, node: ast.Call, sizes: list[Value]) -> list[SSAValue]:
    return [scope.appender.size(size, node.span) for size in sizes]


def _inferred(scope: Scope, op: type[TileOp], operands: list[SSAValue], node: ast.Call) -> SSAValue:
    """Append an op whose result type follows from its operands."""
    return scope.appender.make(lambda: op.make(*operands), node.span)


# -- casts, positions, shapes --------------------------------------------------------------


def _cast(scope: Scope, node: ast.Call, arguments: list[Value]) -> Value:
    operand = _operand(scope, node, arguments, 0)
    if node.function == "as_bool":
        return scope.appender.add(CastOp.to(operand, CONCRETE["i1"]), node.span)
    types = CASTS[node.function]
    width = scope.literal(node, 1, arguments[1])
    if width not in types:
        widths = " or ".join(map(str, types)).replace(" or ", ", ", len(types) - 2)
        raise TileError(
            f"`{node.function}` makes numbers of {widths} bits, not {width}",
            node.arguments[1].span,
        )
    return scope.appender.add(CastOp.to(operand, CONCRETE[types[width]]), node.span)


def _axis(scope: Scope, node: ast.Call, operand: SSAValue, given: Value) -> int:
    """An axis that counts from the first one, or, if it is negative, from behind the last."""
    axis, shape = scope.literal(node, 1, given), shape_of(tensor_type(operand))
    if shape is None and axis < 0:
        raise TileError(
            f"`{node.function}` needs the number of dimensions of {name_of(operand)} to count "
            "from the last: name them in the header, as in `X[N, M]`",
            node.span,
        )
    if shape is not None and not -len(shape) <= axis < len(shape):
        dimensions = count(len(shape), "dimension", "dimensions")
        raise TileError(f"{name_of(operand)} has {dimensions}, and none is {axis}", node.span)
    return axis if shape is None else axis % len(shape)


def _index(scope: Scope, node: ast.Call, arguments: list[Value]) -> Value:
    operand = _operand(scope, node, arguments, 0)
    axis = _axis(scope, node, operand, arguments[1])

    def make() -> IndexOp:
        op = IndexOp.along(operand, axis)
        op.verify_()
        return op

    return scope.appender.make(make, node.span)


def _shape(scope: Scope, node: ast.Call, arguments: list[Value]) -> Value:
    return _inferred(scope, ops.ShapeOp, _operands(scope, node, arguments), node)


def _dim(scope: Scope, node: ast.Call, arguments: list[Value]) -> Value:
    operand = _operand(scope, node, arguments, 0)
    axis = _axis(scope, node, operand, arguments[1])
    return scope.axis_size(scope.axes_of(operand, axis + 1)[axis], node.span)


def _gather(scope: Scope, node: ast.Call, arguments: list[Value]) -> Value:
    return _inferred(scope, ops.GatherOp, _operands(scope, node, arguments), node)


def _scatter(scope: Scope, node: ast.Call, arguments: list[Value]) -> Value:
    return _inferred(scope, ops.ScatterOp, _operands(scope, node, arguments), node)


def _sum_to(scope: Scope, node: ast.Call, arguments: list[Value]) -> Value:
    return _inferred(scope, ops.SumToOp, _operands(scope, node, arguments), node)


def _stop_gradient(scope: Scope, node: ast.Call, arguments: list[Value]) -> Value:
    op = CustomGradientOp.of(_operand(scope, node, arguments, 0), [])
    op.body.block.add_op(YieldOp([]))
    result = scope.appender.add(op, node.span)
    scope.keep_sizes(result, arguments)
    return result


def _reshape(scope: Scope, node: ast.Call, arguments: list[Value]) -> Value:
    operand = _operand(scope, node, arguments, 0)
    sizes = _size_operands(scope, node, arguments[1:])
    return scope.appender.make(lambda: ops.ReshapeOp.to(operand, sizes), node.span)


def assertion(scope: Scope, node: ast.Call, condition: Size) -> Value:
    """``assert_...(condition)``: division by a condition that is 0, so that a size shows it."""
    name = node.function.removeprefix("assert_")
    if isinstance(condition, int):
        if not condition:
            raise TileError(f"the assertion `{name}` does not hold", node.span)
        return 1
    one = scope.appender.size(1, node.span)
    op = arith.DivSIOp.create(operands=[one, condition], result_types=[IndexType()])
    op.attributes[ASSERTION] = StringAttr(name)
    return scope.appender.add(op, node.span)


# -- random numbers ------------------------------------------------------------------------


def _draw(scope: Scope, step: ast.Call) -> tuple[SSAValue, SSAValue]:
    """The state of a step and its random numbers, which are drawn when first asked for."""
    state, *sizes = (scope.value(argument) for argument in step.arguments)
    state = scope.appender.tensor(state, step.arguments[0].span)
    for known, drawn in scope.drawn:
        if known is step:
            return state, drawn
    operands = _size_operands(scope, step, sizes)
    drawn = scope.appender.make(lambda: ops.PrngValueOp.to(state, operands), step.span)
    scope.drawn.append((step, drawn))
    return state, drawn


def _prng_value(scope: Scope, node: ast.Call, arguments: list[Value]) -> Value:
    (step,) = node.arguments
    assert isinstance(step, ast.Call)
    return _draw(scope, step)[1]


def _prng_state(scope: Scope, node: ast.Call, arguments: list[Value]) -> Value:
    (step,) = node.arguments
    assert isinstance(step, ast.Call)
    return _inferred(scope, ops.PrngStateOp, [*_draw(scope, step)], node)


SPECIAL: dict[str, Special] = {
    "as_float": _cast,
    "as_bfloat": _cast,
    "as_int": _cast,
    "as_uint": _cast,
    "as_bool": _cast,
    "index": _index,
    "shape": _shape,
    "dim": _dim,
    "gather": _gather,
    "scatter": _scatter,
    "sum_to": _sum_to,
    "stop_gradient": _stop_gradient,
    "reshape": _reshape,
    "prng_value": _prng_value,
    "prng_state": _prng_state,
}
