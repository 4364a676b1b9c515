"""Expressions of OpenCL C for the ops of math: a table from op class to emitter."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects import math
from xdsl.ir import Operation

from tiledialect.lowering.opencl import helpers
from tiledialect.lowering.opencl.combining import Emitter, operands, result_type, rounded
from tiledialect.lowering.opencl.conversion import convert
from tiledialect.lowering.opencl.types import Expr, Scope, call, negation, signed, unsigned


def call_of(name: str, *, exact: bool = False) -> Emitter:
    """A function of OpenCL C on floats; ``exact``: a half's result is a half."""

    def emit(scope: Scope, op: Operation) -> Expr:
        result = call(name, *operands(scope, op))
        return result if exact else rounded(scope, result_type(scope, op), result)

    return emit


def _emit_absi(scope: Scope, op: Operation) -> Expr:
    type = result_type(scope, op)
    if type.kind == "bool":
        return scope.expr(op.operands[0])
    return signed(call("abs", scope.expr(op.operands[0])), type)


def _emit_count(name: str) -> Emitter:
    """clz and popcount."""

    def emit(scope: Scope, op: Operation) -> Expr:
        e = scope.expr(op.operands[0])
        type = result_type(scope, op)
        if type.kind == "bool":
            return e if name == "popcount" else negation(e)
        return call(name, e)

    return emit


def _emit_trailing_zeros(scope: Scope, op: Operation) -> Expr:
    type = result_type(scope, op)
    e = scope.expr(op.operands[0])
    if type.kind == "bool":
        return negation(e)
    return call(helpers.trailing_zeros(scope, type), unsigned(e, type))


def _emit_ipowi(scope: Scope, op: Operation) -> Expr:
    type = result_type(scope, op)
    if type.is_vector or type.kind == "bool":
        raise scope.error(f"no power of {op.results[0].type}")
    return call(helpers.integer_power(scope, type), *operands(scope, op))


def _emit_fpowi(scope: Scope, op: Operation) -> Expr:
    base, power = operands(scope, op)
    power_type = scope.ctype(op.operands[1].type)
    if power_type.bits > 32 or power_type.kind == "bool":
        raise scope.error(f"OpenCL C's exponent is 32 bits wide, not {op.operands[1].type}")
    type = result_type(scope, op)
    if power_type.bits < 32:
        power = convert(replace(power_type, base="int", bits=32), power)
    return rounded(scope, type, call("pown", base, power))


MATH: dict[type[Operation], Emitter] = {
    math.AbsFOp: call_of("fabs", exact=True),
    math.CeilOp: call_of("ceil", exact=True),
    math.CopySignOp: call_of("copysign", exact=True),
    math.FloorOp: call_of("floor", exact=True),
    math.RoundEvenOp: call_of("rint", exact=True),
    math.RoundOp: call_of("round", exact=True),
    math.TruncOp: call_of("trunc", exact=True),
    math.AcosOp: call_of("acos"),
    math.AcoshOp: call_of("acosh"),
    math.AsinOp: call_of("asin"),
    math.AsinhOp: call_of("asinh"),
    math.AtanOp: call_of("atan"),
    math.AtanhOp: call_of("atanh"),
    math.Atan2Op: call_of("atan2"),
    math.CbrtOp: call_of("cbrt"),
    math.CosOp: call_of("cos"),
    math.CoshOp: call_of("cosh"),
    math.ErfOp: call_of("erf"),
    math.ExpOp: call_of("exp"),
    math.Exp2Op: call_of("exp2"),
    math.ExpM1Op: call_of("expm1"),
    math.FmaOp: call_of("fma"),
    math.LogOp: call_of("log"),
    math.Log10Op: call_of("log10"),
    math.Log1pOp: call_of("log1p"),
    math.Log2Op: call_of("log2"),
    math.PowFOp: call_of("pow"),
    math.RsqrtOp: call_of("rsqrt"),
    math.SinOp: call_of("sin"),
    math.SinhOp: call_of("sinh"),
    math.SqrtOp: call_of("sqrt"),
    math.TanOp: call_of("tan"),
    math.TanhOp: call_of("tanh"),
    math.AbsIOp: _emit_absi,
    math.CountLeadingZerosOp: _emit_count("clz"),
    math.CountTrailingZerosOp: _emit_trailing_zeros,
    math.CtPopOp: _emit_count("popcount"),
    math.IPowIOp: _emit_ipowi,
    math.FPowIOp: _emit_fpowi,
}
