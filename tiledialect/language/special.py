"""The functions that are not elementwise: what each appends, and gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, StringAttr
from xdsl.ir import SSAValue

from ..dialects.tile import special as ops
from ..dialects.tile.base import TileOp
from ..dialects.tile.custom_gradient import CustomGradientOp
from ..dialects.tile.element_types import CONCRETE, any_type
from ..dialects.tile.elementwise import CastOp, IndexOp
from ..dialects.tile.kernel import YieldOp
from ..errors import TileError
from . import ast
from .emit import Size, Value

if TYPE_CHECKING:
    from .to_ir import Lowering

Special: TypeAlias = "Callable[[Lowering, ast.Call, list[Value]], Value]"

CASTS = {
    "as_float": {16: "f16", 32: "f32", 64: "f64"},
    "as_int": {8: "i8", 16: "i16", 32: "i32", 64: "i64"},
    "as_uint": {8: "ui8", 16: "ui16", 32: "ui32", 64: "ui64"},
}
"""The element type of each width that a cast takes."""


def _literal(node: ast.Call, position: int, value: Value) -> int:
    if isinstance(value, int):
        return value
    raise TileError(
        f"`{node.function}` takes a number here, not a dimension",
        node.arguments[position].span,
    )


def _operand(lowering: Lowering, node: ast.Call, arguments: list[Value], position: int):
    return lowering.emitter.tensor(arguments[position], node.arguments[position].span)


def _operands(lowering: Lowering, node: ast.Call, arguments: list[Value]) -> list[SSAValue]:
    return [_operand(lowering, node, arguments, k) for k in range(len(arguments))]


def _size_operands(lowering: Lowering, node: ast.Call, sizes: list[Value]) -> list[SSAValue]:
    return [lowering.emitter.size(size, node.span) for size in sizes]


def _inferred(
    lowering: Lowering, op: type[TileOp], operands: list[SSAValue], node: ast.Call
) -> SSAValue:
    """Append an op whose result type follows from its operands."""

    def make() -> TileOp:
        draft = op.create(operands=operands, result_types=[any_type])
        inferred = draft.inferred_type()
        draft.erase()
        return op.create(operands=operands, result_types=[inferred])

    return lowering.emitter.make(make, node.span)


# -- casts, positions, shapes --------------------------------------------------------------


def _cast(lowering: Lowering, node: ast.Call, arguments: list[Value]) -> Value:
    operand = _operand(lowering, node, arguments, 0)
    if node.function == "as_bool":
        return lowering.emitter.add(CastOp.to(operand, CONCRETE["i1"]), node.span)
    types = CASTS[node.function]
    width = _literal(node, 1, arguments[1])
    if width not in types:
        *most, last = map(str, types)
        raise TileError(
            f"`{node.function}` makes numbers of {', '.join(most)} or {last} bits, not {width}",
            node.arguments[1].span,
        )
    return lowering.emitter.add(CastOp.to(operand, CONCRETE[types[width]]), node.span)


def _index(lowering: Lowering, node: ast.Call, arguments: list[Value]) -> Value:
    operand = _operand(lowering, node, arguments, 0)
    axis = _literal(node, 1, arguments[1])

    def make() -> IndexOp:
        op = IndexOp.along(operand, axis)
        op.verify_()
        return op

    return lowering.emitter.make(make, node.span)


def _shape(lowering: Lowering, node: ast.Call, arguments: list[Value]) -> Value:
    return _inferred(lowering, ops.ShapeOp, _operands(lowering, node, arguments), node)


def _gather(lowering: Lowering, node: ast.Call, arguments: list[Value]) -> Value:
    return _inferred(lowering, ops.GatherOp, _operands(lowering, node, arguments), node)


def _scatter(lowering: Lowering, node: ast.Call, arguments: list[Value]) -> Value:
    return _inferred(lowering, ops.ScatterOp, _operands(lowering, node, arguments), node)


def _sum_to(lowering: Lowering, node: ast.Call, arguments: list[Value]) -> Value:
    return _inferred(lowering, ops.SumToOp, _operands(lowering, node, arguments), node)


def _stop_gradient(lowering: Lowering, node: ast.Call, arguments: list[Value]) -> Value:
    op = CustomGradientOp.of(_operand(lowering, node, arguments, 0), [])
    op.body.block.add_op(YieldOp([]))
    result = lowering.emitter.add(op, node.span)
    lowering.keep_sizes(result, arguments)
    return result


def _reshape(lowering: Lowering, node: ast.Call, arguments: list[Value]) -> Value:
    operand = _operand(lowering, node, arguments, 0)
    sizes = _size_operands(lowering, node, arguments[1:])
    return lowering.emitter.make(lambda: ops.ReshapeOp.to(operand, sizes), node.span)


def assertion(lowering: Lowering, node: ast.Call, condition: Size) -> Value:
    """``assert_...(condition)``: division by a condition that is 0, so that a size shows it."""
    name = node.function.removeprefix("assert_")
    if isinstance(condition, int):
        if not condition:
            raise TileError(f"the assertion `{name}` does not hold", node.span)
        return 1
    one = lowering.emitter.size(1, node.span)
    op = arith.DivSIOp.create(operands=[one, condition], result_types=[IndexType()])
    op.attributes["tile.assertion"] = StringAttr(name)
    return lowering.emitter.add(op, node.span)


# -- random numbers ------------------------------------------------------------------------


def _draw(lowering: Lowering, step: ast.Call) -> tuple[SSAValue, SSAValue]:
    """The state of a step and its random numbers, which are drawn when first asked for."""
    state, *sizes = (lowering.value(argument) for argument in step.arguments)
    state = lowering.emitter.tensor(state, step.arguments[0].span)
    for known, drawn in lowering.drawn:
        if known is step:
            return state, drawn
    operands = _size_operands(lowering, step, sizes)
    drawn = lowering.emitter.make(lambda: ops.PrngValueOp.to(state, operands), step.span)
    lowering.drawn.append((step, drawn))
    return state, drawn


def _prng_value(lowering: Lowering, node: ast.Call, arguments: list[Value]) -> Value:
    (step,) = node.arguments
    assert isinstance(step, ast.Call)
    return _draw(lowering, step)[1]


def _prng_state(lowering: Lowering, node: ast.Call, arguments: list[Value]) -> Value:
    (step,) = node.arguments
    assert isinstance(step, ast.Call)
    return _inferred(lowering, ops.PrngStateOp, [*_draw(lowering, step)], node)


SPECIAL: dict[str, Special] = {
    "as_float": _cast,
    "as_int": _cast,
    "as_uint": _cast,
    "as_bool": _cast,
    "index": _index,
    "shape": _shape,
    "gather": _gather,
    "scatter": _scatter,
    "sum_to": _sum_to,
    "stop_gradient": _stop_gradient,
    "reshape": _reshape,
    "prng_value": _prng_value,
    "prng_state": _prng_state,
}
