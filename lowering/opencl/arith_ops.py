"""Expressions of OpenCL C for the ops of arith: a table from op class to emitter."""

from __future__ import annotations

from math import copysign, isnan

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    bf16,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, SSAValue

from tiledialect.dialects.nest.lanewise import LANEWISE
from tiledialect.lowering.gpu.gpu_widen_bf16 import is_bf16
from tiledialect.lowering.opencl import helpers
from tiledialect.lowering.opencl.combining import (
    Emitter,
    float_operator,
    function,
    function_of_unsigned,
    of_two,
    of_unsigned,
    operands,
    plain,
    plus_negative,
    result_type,
    shift_left,
    shift_right,
    shift_right_unsigned,
    wrapping,
)
from tiledialect.lowering.opencl.comparison import COMPARISONS
from tiledialect.lowering.opencl.conversion import CONVERSIONS
from tiledialect.lowering.opencl.types import (
    ADD,
    MUL,
    UNARY,
    CType,
    Expr,
    Scope,
    call,
    literal,
    negative,
    signed,
    unsigned,
)


def _emit_wrapping(operator: str) -> Emitter:
    """addi, subi, muli: of index or with ``nsw`` they do not wrap, so they are C's own."""
    wrap = of_two(wrapping(operator))

    def emit(scope: Scope, op: Operation) -> Expr:
        assert isinstance(op, arith.SignlessIntegerBinaryOperationWithOverflow)
        type = result_type(scope, op)
        is_index = not isinstance(op.result.type, IntegerType) and not type.is_vector
        exact = is_index or arith.IntegerOverflowFlag.NSW in op.overflow_flags.data
        if type.kind != "int" or type.promoted or type.is_vector or not exact:
            return wrap(scope, op)
        a, b = operands(scope, op)
        if is_index and operator == "+":
            # A sum needs no parentheses on the right of another one.
            b = b._replace(precedence=MUL if b.precedence == ADD else b.precedence)
        return plus_negative(operator, a, b, wide=type.bits == 64)

    return emit


def _floor_division(scope: Scope, type: CType, a: Expr, b: Expr) -> Expr:
    return call(helpers.floor_division(scope, type), a, b)


def _ceil_division(scope: Scope, type: CType, a: Expr, b: Expr) -> Expr:
    return call(helpers.ceil_division(scope, type, unsigned=False), a, b)


def _ceil_division_unsigned(scope: Scope, type: CType, a: Expr, b: Expr) -> Expr:
    name = helpers.ceil_division(scope, type, unsigned=True)
    return signed(call(name, unsigned(a, type), unsigned(b, type)), type)


def _emit_extremum(name: str, fast: str) -> Emitter:
    """minimumf and maximumf: OpenCL's own function serves where neither NaN nor the sign of
    zero matters."""

    def emit(scope: Scope, op: Operation) -> Expr:
        assert isinstance(op, arith.FloatingPointLikeBinaryOperation)
        a, b = operands(scope, op)
        flags = op.fastmath.data
        if FastMathFlag.NO_NANS in flags and FastMathFlag.NO_SIGNED_ZEROS in flags:
            return call(fast, a, b)
        type = result_type(scope, op)
        numbers = [_decides(name, v) for v in (op.rhs, op.lhs)]
        if any(numbers):
            return call(helpers.bound(scope, name, type), *((a, b) if numbers[0] else (b, a)))
        if FastMathFlag.NO_SIGNED_ZEROS in flags:
            return call(helpers.either(scope, name, type), a, b)
        return call(helpers.extremum(scope, name, type), a, b)

    return emit


def _decides(name: str, value: SSAValue) -> bool:
    """Whether a value is a number that may replace all numbers that equal it."""
    if isinstance(value.owner, vector.BroadcastOp):
        value = value.owner.source
    owner = value.owner
    held = owner.value if isinstance(owner, arith.ConstantOp) else None
    if isinstance(held, DenseIntOrFPElementsAttr) and held.is_splat():
        number = held.get_values()[0]
    elif isinstance(held, FloatAttr):
        number = held.value.data
    else:
        return False
    if isinstance(number, tuple):
        return False
    # Of the zeros the maximum is 0.0, and the minimum -0.0.
    is_least = copysign(1.0, number) < 0
    return not isnan(number) and (number != 0 or is_least == (name == "minimum"))


def _emit_negf(scope: Scope, op: Operation) -> Expr:
    return negative(scope.expr(op.operands[0]))


def _emit_constant(scope: Scope, op: Operation) -> Expr:
    assert isinstance(op, arith.ConstantOp)
    type = result_type(scope, op)
    value = op.value
    if isinstance(value, IntegerAttr | FloatAttr):
        return literal(_held(value.value.data, op), type)
    if not isinstance(value, DenseIntOrFPElementsAttr):
        raise scope.error("the value is not in the module")
    values = [_held(v, op) for v in value.get_values() if not isinstance(v, tuple)]
    if value.is_splat():
        return literal(values[0], type)
    lane = CType("int", 32, "int") if type.kind == "bool" else type.lane
    texts = [literal(-int(bool(v)) if type.kind == "bool" else v, lane).text for v in values]
    return Expr(f"({type.name})({', '.join(texts)})", UNARY)


def _held(number: float, op: Operation) -> float:
    """Contents of a variable with a constant: of bf16 the bits."""
    if not is_bf16(op.results[0].type):
        return number
    return int.from_bytes(bf16.pack([number]), "little", signed=True)


_SCALAR: dict[type[Operation], Emitter] = {
    arith.ConstantOp: _emit_constant,
    arith.AddiOp: _emit_wrapping("+"),
    arith.SubiOp: _emit_wrapping("-"),
    arith.MuliOp: _emit_wrapping("*"),
    arith.DivSIOp: of_two(plain("/")),
    arith.RemSIOp: of_two(plain("%")),
    arith.DivUIOp: of_two(of_unsigned("/")),
    arith.RemUIOp: of_two(of_unsigned("%")),
    arith.FloorDivSIOp: of_two(_floor_division),
    arith.CeilDivSIOp: of_two(_ceil_division),
    arith.CeilDivUIOp: of_two(_ceil_division_unsigned),
    arith.AndIOp: of_two(plain("&")),
    arith.OrIOp: of_two(plain("|")),
    arith.XOrIOp: of_two(plain("^")),
    arith.ShLIOp: of_two(shift_left),
    arith.ShRSIOp: of_two(shift_right),
    arith.ShRUIOp: of_two(shift_right_unsigned),
    arith.MinSIOp: of_two(function("min")),
    arith.MaxSIOp: of_two(function("max")),
    arith.MinUIOp: of_two(function_of_unsigned("min")),
    arith.MaxUIOp: of_two(function_of_unsigned("max")),
    arith.AddfOp: of_two(float_operator("+")),
    arith.SubfOp: of_two(float_operator("-")),
    arith.MulfOp: of_two(float_operator("*")),
    arith.DivfOp: of_two(float_operator("/")),
    arith.NegfOp: _emit_negf,
    arith.MinimumfOp: _emit_extremum("minimum", "fmin"),
    arith.MaximumfOp: _emit_extremum("maximum", "fmax"),
    arith.MinnumfOp: of_two(function("fmin")),
    arith.MaxnumfOp: of_two(function("fmax")),
    **COMPARISONS,
    **CONVERSIONS,
}

ARITH = _SCALAR | {vector: _SCALAR[scalar] for scalar, vector in LANEWISE.items()}
"""Emitters of the ops of arith, on vectors, too."""
