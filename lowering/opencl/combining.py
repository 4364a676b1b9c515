"""Combinations of two operands of one type: operators and functions of OpenCL C."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from xdsl.dialects import arith
from xdsl.ir import Operation

from tiledialect.lowering.opencl import helpers
from tiledialect.lowering.opencl.types import (
    CType,
    Expr,
    Scope,
    binary,
    call,
    cast,
    literal,
    narrow,
    negation,
    signed,
    unsigned,
)

Emitter = Callable[[Scope, Operation], Expr]


Combine = Callable[[Scope, CType, Expr, Expr], Expr]
"""Function of two operands of one type to a result of that type."""


def operands(scope: Scope, op: Operation) -> list[Expr]:
    """The expressions of all operands."""
    return [scope.expr(operand) for operand in op.operands]


def result_type(scope: Scope, op: Operation) -> CType:
    """The C type of the only result."""
    return scope.ctype(op.results[0].type)


def operand_type(scope: Scope, op: Operation) -> CType:
    """The C type of the first operand."""
    return scope.ctype(op.operands[0].type)


def rounded(scope: Scope, type: CType, e: Expr) -> Expr:
    """A half computed in float, rounded; any other value as it is."""
    if type.kind != "half":
        return e
    name = helpers.round_half(scope, type, replace(type, kind="float"))
    return call(name, e)._replace(unrounded=e)


def of_two(combine: Combine) -> Emitter:
    """An op with two operands of its result's type."""

    def emit(scope: Scope, op: Operation) -> Expr:
        a, b = operands(scope, op)
        type = result_type(scope, op)
        if type.kind == "bool":
            return combine_bools(scope, type, op, a, b)
        return combine(scope, type, a, b)

    return emit


def wrapping(operator: str) -> Combine:
    """Addition, subtraction and multiplication modulo 2**bits. Signed overflow is undefined in
    C, so it is computed unsigned; one unsigned operand makes C convert the other."""

    def combine(scope: Scope, type: CType, a: Expr, b: Expr) -> Expr:
        if type.promoted:
            return narrow(binary(operator, a, b), type)
        if type.is_vector:
            return signed(binary(operator, unsigned(a, type), unsigned(b, type)), type)
        if a.unsigned or b.unsigned:
            a, b = a.unsigned or a, b.unsigned or b
        elif a.value is None:
            a = unsigned(a, type)
        else:
            b = unsigned(b, type)
        return signed(plus_negative(operator, a, b), type)

    return combine


def plus_negative(operator: str, a: Expr, b: Expr, *, wide: bool = False) -> Expr:
    """``a - 1`` for ``a + -1``."""
    if operator == "+" and isinstance(b.value, int) and b.text.startswith("-"):
        return binary("-", a, Expr(b.text[1:], typed=(b.typed or b.text)[1:]), wide=wide)
    return binary(operator, a, b, wide=wide)


def plain(operator: str) -> Combine:
    """A signed operator of C."""

    def combine(scope: Scope, type: CType, a: Expr, b: Expr) -> Expr:
        return narrow(binary(operator, a, b, wide=type.bits == 64), type)

    return combine


def of_unsigned(operator: str) -> Combine:
    """An unsigned operator of C."""

    def combine(scope: Scope, type: CType, a: Expr, b: Expr) -> Expr:
        result = binary(operator, unsigned(a, type), unsigned(b, type))
        return cast(type.name, result) if type.promoted else signed(result, type)

    return combine


def shift_left(scope: Scope, type: CType, a: Expr, b: Expr) -> Expr:
    """Shift the unsigned bits. C shifts a char or short as an int."""
    if type.promoted:
        return cast(type.name, binary("<<", cast("uint", a), b))
    return signed(binary("<<", unsigned(a, type), b), type)


def shift_right(scope: Scope, type: CType, a: Expr, b: Expr) -> Expr:
    """Shift right with the sign; the result has the type of the left operand."""
    return narrow(binary(">>", a._replace(text=a.alone), b), type)


def shift_right_unsigned(scope: Scope, type: CType, a: Expr, b: Expr) -> Expr:
    """Zeros come in."""
    result = binary(">>", unsigned(a, type), b)
    return cast(type.name, result) if type.promoted else signed(result, type)


def function(name: str) -> Combine:
    """A function of OpenCL C on signed integers or floats."""

    def combine(scope: Scope, type: CType, a: Expr, b: Expr) -> Expr:
        return call(name, a, b)

    return combine


def function_of_unsigned(name: str) -> Combine:
    """A function of OpenCL C on unsigned integers."""

    def combine(scope: Scope, type: CType, a: Expr, b: Expr) -> Expr:
        return signed(call(name, unsigned(a, type), unsigned(b, type)), type)

    return combine


# Integers of one bit: (scalar operator, operator on masks). What is missing can only have a
# divisor of 1, or a shift by 0, and is its left operand.
BOOL_OPERATORS: dict[type[Operation], tuple[str, str]] = {
    arith.AddiOp: ("!=", "^"),
    arith.SubiOp: ("!=", "^"),
    arith.XOrIOp: ("!=", "^"),
    arith.MuliOp: ("&&", "&"),
    arith.AndIOp: ("&&", "&"),
    arith.OrIOp: ("||", "|"),
    arith.MinUIOp: ("&&", "&"),
    arith.MaxUIOp: ("||", "|"),
    arith.MinSIOp: ("||", "|"),
    arith.MaxSIOp: ("&&", "&"),
}


def combine_bools(scope: Scope, type: CType, op: Operation, a: Expr, b: Expr) -> Expr:
    """arith on i1."""
    if isinstance(op, arith.RemSIOp | arith.RemUIOp):
        return literal(0, type)
    operator = BOOL_OPERATORS.get(op.__class__)
    if operator is None:
        return a
    if operator[0] == "!=" and b.value is True:
        return negation(a)
    return binary(operator[1] if type.is_vector else operator[0], a, b)


def float_operator(operator: str) -> Combine:
    """An operator of C; a vector's operand that is the same in every lane stays a scalar."""

    def combine(scope: Scope, type: CType, a: Expr, b: Expr) -> Expr:
        if type.is_vector and a.splat and not b.splat:
            a = a.splat
        elif type.is_vector and b.splat and not a.splat:
            b = b.splat
        return rounded(scope, type, binary(operator, a, b))

    return combine


def extremum(name: str) -> Combine:
    """minimumf and maximumf between the lanes of a vector."""

    def combine(scope: Scope, type: CType, a: Expr, b: Expr) -> Expr:
        return call(helpers.extremum(scope, name, type), a, b)

    return combine
