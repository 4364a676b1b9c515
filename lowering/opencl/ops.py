"""Expressions of OpenCL C for the ops of arith and math: tables from op class to emitter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    bf16,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation

from tiledialect.lowering.gpu_widen_bf16 import is_bf16
from tiledialect.lowering.opencl import helpers
from tiledialect.lowering.opencl.types import (
    ADD,
    MUL,
    UNARY,
    CType,
    Expr,
    Scope,
    binary,
    call,
    cast,
    literal,
    narrow,
    negation,
    negative,
    signed,
    ternary,
    unsigned,
)

Emitter = Callable[[Scope, Operation], Expr]
Combine = Callable[[Scope, CType, Expr, Expr], Expr]
"""From two operands of one type to a result of that type."""


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
    return replace(call(name, e), unrounded=e)


def of_two(combine: Combine) -> Emitter:
    """An op with two operands of its result's type."""

    def emit(scope: Scope, op: Operation) -> Expr:
        a, b = operands(scope, op)
        type = result_type(scope, op)
        if type.kind == "bool":
            return combine_bools(scope, type, op, a, b)
        return combine(scope, type, a, b)

    return emit


# Integers


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
            b = replace(b, precedence=MUL if b.precedence == ADD else b.precedence)
        return plus_negative(operator, a, b, wide=type.bits == 64)

    return emit


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
    """The sign comes in; the type of the result is that of the left operand."""
    return narrow(binary(">>", replace(a, text=a.alone), b), type)


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


def _floor_division(scope: Scope, type: CType, a: Expr, b: Expr) -> Expr:
    return call(helpers.floor_division(scope, type), a, b)


def _ceil_division(scope: Scope, type: CType, a: Expr, b: Expr) -> Expr:
    return call(helpers.ceil_division(scope, type, unsigned=False), a, b)


def _ceil_division_unsigned(scope: Scope, type: CType, a: Expr, b: Expr) -> Expr:
    name = helpers.ceil_division(scope, type, unsigned=True)
    return signed(call(name, unsigned(a, type), unsigned(b, type)), type)


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


# Floats


def float_operator(operator: str) -> Combine:
    """An operator of C; a vector's operand that is the same in every lane stays a scalar."""

    def combine(scope: Scope, type: CType, a: Expr, b: Expr) -> Expr:
        if type.is_vector and a.splat and not b.splat:
            a = a.splat
        elif type.is_vector and b.splat and not a.splat:
            b = b.splat
        return rounded(scope, type, binary(operator, a, b))

    return combine


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
        if FastMathFlag.NO_SIGNED_ZEROS in flags:
            return call(helpers.either(scope, name, type), a, b)
        return call(helpers.extremum(scope, name, type), a, b)

    return emit


def extremum(name: str) -> Combine:
    """minimumf and maximumf between the lanes of a vector."""

    def combine(scope: Scope, type: CType, a: Expr, b: Expr) -> Expr:
        return call(helpers.extremum(scope, name, type), a, b)

    return combine


def _emit_negf(scope: Scope, op: Operation) -> Expr:
    return negative(scope.expr(op.operands[0]))


# Comparison and choice

# Predicate: C operator, is it unsigned?
INTEGER_PREDICATES = (
    ("==", False), ("!=", False), ("<", False), ("<=", False), (">", False), (">=", False),
    ("<", True), ("<=", True), (">", True), (">=", True),
)  # fmt: skip

# Predicate: C operator or function, is it negated? Any comparison with a NaN is false, except !=.
FLOAT_PREDICATES = {
    1: ("==", False), 2: (">", False), 3: (">=", False), 4: ("<", False), 5: ("<=", False),
    6: ("islessgreater", False), 7: ("isordered", False), 8: ("islessgreater", True),
    9: ("<=", True), 10: ("<", True), 11: (">=", True), 12: (">", True), 13: ("!=", False),
    14: ("isunordered", False),
}  # fmt: skip


def mask(type: CType, e: Expr) -> Expr:
    """The mask that a comparison of vectors of this type gives, as a vector of i1."""
    return call(f"convert_int{type.lanes}", e) if type.is_vector and type.bits != 32 else e


def mask_for(type: CType, e: Expr) -> Expr:
    """A vector of i1 as the condition of a choice between vectors of this type."""
    if type.bits == 32 or type.kind == "bool":
        return e
    return call(f"convert_{ {8: 'char', 16: 'short', 64: 'long'}[type.bits] }{type.lanes}", e)


def _emit_cmpi(scope: Scope, op: Operation) -> Expr:
    assert isinstance(op, arith.CmpiOp)
    a, b = operands(scope, op)
    type = operand_type(scope, op)
    check_lanes(scope, op, type)
    operator, is_unsigned = INTEGER_PREDICATES[op.predicate.value.data]
    if type.kind == "bool":
        # As a signed number true is -1; in a mask it is that always.
        swap = is_unsigned if type.is_vector else not is_unsigned
        return binary(operator, b, a) if swap else binary(operator, a, b)
    if is_unsigned:
        a = unsigned(a, type)
        b = unsigned(b, type)
    return mask(type, binary(operator, a, b, wide=type.bits == 64))


def _emit_cmpf(scope: Scope, op: Operation) -> Expr:
    assert isinstance(op, arith.CmpfOp)
    a, b = operands(scope, op)
    type = operand_type(scope, op)
    check_lanes(scope, op, type)
    predicate = op.predicate.value.data
    if predicate not in FLOAT_PREDICATES:
        return literal(predicate != 0, result_type(scope, op))
    name, negated = FLOAT_PREDICATES[predicate]
    result = call(name, a, b) if name.startswith("is") else binary(name, a, b)
    return mask(type, negation(result) if negated else result)


def check_lanes(scope: Scope, op: Operation, type: CType) -> None:
    """xDSL lets a comparison of vectors have a scalar result, which means nothing."""
    if result_type(scope, op).lanes != type.lanes:
        raise scope.error(f"compares {op.operands[0].type} but gives {op.results[0].type}")


def _emit_select(scope: Scope, op: Operation) -> Expr:
    condition, a, b = operands(scope, op)
    type = result_type(scope, op)
    if operand_type(scope, op).is_vector:
        condition = mask_for(type, condition)
    elif isinstance(condition.value, bool):
        return a if condition.value else b
    if type.bits == 64 and a.typed and b.typed:
        a = replace(a, text=a.typed)
    return narrow(ternary(condition, a, b), type)


# Conversions


def convert(type: CType, e: Expr) -> Expr:
    """C's conversion to a type that holds no bool and no half."""
    return call(f"convert_{type.name}", e) if type.is_vector else cast(type.name, e)


def _emit_int_to_float(*, is_unsigned: bool) -> Emitter:
    """sitofp and uitofp."""

    def emit(scope: Scope, op: Operation) -> Expr:
        e = scope.expr(op.operands[0])
        source = operand_type(scope, op)
        type = result_type(scope, op)
        if source.kind == "bool":
            return bool_to_number(type, e, is_unsigned=is_unsigned)
        return rounded(scope, type, convert(type, unsigned(e, source) if is_unsigned else e))

    return emit


def bool_to_number(type: CType, e: Expr, *, is_unsigned: bool) -> Expr:
    """An i1 as a number: as a signed one true is -1."""
    if type.is_vector:
        return convert(type, negative(e) if is_unsigned else e)
    return convert(type, e) if is_unsigned else ternary(e, literal(-1, type), literal(0, type))


def _emit_float_to_int(*, is_unsigned: bool) -> Emitter:
    """fptosi and fptoui round to zero."""

    def emit(scope: Scope, op: Operation) -> Expr:
        e = scope.expr(op.operands[0])
        type = result_type(scope, op)
        if type.kind == "bool":
            word = replace(operand_type(scope, op), base="int", bits=32, kind="int")
            return mask(word, binary("!=", convert(word, e), literal(0, word)))
        if not is_unsigned:
            return convert(type, e)
        word = replace(type, base="u" + type.base)
        return signed(convert(word, e), type)

    return emit


def _emit_extend(*, is_unsigned: bool) -> Emitter:
    """extsi and extui."""

    def emit(scope: Scope, op: Operation) -> Expr:
        e = scope.expr(op.operands[0])
        source = operand_type(scope, op)
        type = result_type(scope, op)
        if source.kind == "bool":
            return bool_to_number(type, e, is_unsigned=is_unsigned)
        if not is_unsigned:
            return convert(type, e)
        bits = unsigned(e, source)
        if type.is_vector:
            return convert(type, bits)
        return replace(convert(type, bits), unsigned=cast(type.unsigned, bits), converts=True)

    return emit


def _emit_truncate(scope: Scope, op: Operation) -> Expr:
    """trunci keeps the low bits."""
    e = scope.expr(op.operands[0])
    source = operand_type(scope, op)
    type = result_type(scope, op)
    if type.kind == "bool":
        bit = binary("&", e, literal(1, source))
        return mask(source, binary("!=", bit, literal(0, source)))
    return convert(type, e)


def _emit_index_cast(scope: Scope, op: Operation) -> Expr:
    """index_cast sign-extends or truncates."""
    e = scope.expr(op.operands[0])
    source = operand_type(scope, op)
    type = result_type(scope, op)
    if source == type:
        return e
    if type.kind == "bool":
        return _emit_truncate(scope, op)
    if source.kind == "bool":
        return bool_to_number(type, e, is_unsigned=False)
    return literal(e.value, type) if isinstance(e.value, int) else convert(type, e)


def _emit_extend_float(scope: Scope, op: Operation) -> Expr:
    """extf: a half is held in a float already, and a bf16 becomes one."""
    e = scope.expr(op.operands[0])
    type = result_type(scope, op)
    if is_bf16(op.operands[0].type):
        e = call(helpers.float_from_bf16(scope, type), e)
        return e if type.bits == 32 else convert(type, e)
    if operand_type(scope, op).bits == type.bits:
        return replace(e, unrounded=None)
    return convert(type, e)


def _emit_truncate_float(scope: Scope, op: Operation) -> Expr:
    """truncf rounds to nearest, ties to even, and once: from double to half directly. Only to
    bf16 it goes by way of float."""
    e = scope.expr(op.operands[0])
    source = operand_type(scope, op)
    type = result_type(scope, op)
    if is_bf16(op.results[0].type):
        single = replace(type, base="float", bits=32, kind="float")
        e = e if source.bits == 32 else convert(single, e)
        return call(helpers.bf16_from_float(scope, single), e)
    if type.kind == "half":
        return replace(call(helpers.round_half(scope, type, source), e), unrounded=e)
    return convert(type, e)


def _emit_bitcast(scope: Scope, op: Operation) -> Expr:
    """bitcast keeps the bits."""
    e = scope.expr(op.operands[0])
    source = operand_type(scope, op)
    type = result_type(scope, op)
    if source == type:
        return e
    if {source.kind, type.kind} == {"half", "int"} and source.lanes == type.lanes:
        if type.kind == "half":
            return replace(call(helpers.half_from_bits(scope, type), e), bits=e)
        return e.bits or call(helpers.half_to_bits(scope, source), e)
    kinds, sizes = (source.kind, type.kind), (source.bits * source.lanes, type.bits * type.lanes)
    if "bool" in kinds or "half" in kinds or sizes[0] != sizes[1]:
        raise scope.error(f"no bitcast from {op.operands[0].type} to {op.results[0].type}")
    return call(f"as_{type.name}", e)


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
    """What a variable holds of a constant: of one of bf16 its bits."""
    if not is_bf16(op.results[0].type):
        return number
    return int.from_bytes(bf16.pack([number]), "little", signed=True)


ARITH: dict[type[Operation], Emitter] = {
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
    arith.CmpiOp: _emit_cmpi,
    arith.CmpfOp: _emit_cmpf,
    arith.SelectOp: _emit_select,
    arith.SIToFPOp: _emit_int_to_float(is_unsigned=False),
    arith.UIToFPOp: _emit_int_to_float(is_unsigned=True),
    arith.FPToSIOp: _emit_float_to_int(is_unsigned=False),
    arith.FPToUIOp: _emit_float_to_int(is_unsigned=True),
    arith.ExtSIOp: _emit_extend(is_unsigned=False),
    arith.ExtUIOp: _emit_extend(is_unsigned=True),
    arith.TruncIOp: _emit_truncate,
    arith.ExtFOp: _emit_extend_float,
    arith.TruncFOp: _emit_truncate_float,
    arith.IndexCastOp: _emit_index_cast,
    arith.BitcastOp: _emit_bitcast,
}

# math


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
