"""Conversions in OpenCL C: the ops of arith from one type to another."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects import arith
from xdsl.ir import Operation

from tiledialect.lowering.gpu.gpu_widen_bf16 import is_bf16
from tiledialect.lowering.opencl import helpers
from tiledialect.lowering.opencl.combining import Emitter, operand_type, result_type, rounded
from tiledialect.lowering.opencl.comparison import mask
from tiledialect.lowering.opencl.types import (
    CType,
    Expr,
    Scope,
    binary,
    call,
    cast,
    literal,
    negative,
    signed,
    ternary,
    unsigned,
)


def convert(type: CType, e: Expr) -> Expr:
    """C's conversion to a type that holds no bool and no half."""
    return call(f"convert_{type.name}", e) if type.is_vector else cast(type.name, e)


def _converted(scope: Scope, op: Operation) -> tuple[Expr, CType, CType]:
    """The operand of a conversion, its type, and the result's."""
    return scope.expr(op.operands[0]), operand_type(scope, op), result_type(scope, op)


def _emit_int_to_float(*, is_unsigned: bool) -> Emitter:
    """sitofp and uitofp."""

    def emit(scope: Scope, op: Operation) -> Expr:
        e, source, type = _converted(scope, op)
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
        e, source, type = _converted(scope, op)
        if source.kind == "bool":
            return bool_to_number(type, e, is_unsigned=is_unsigned)
        if not is_unsigned:
            return convert(type, e)
        bits = unsigned(e, source)
        if type.is_vector:
            return convert(type, bits)
        return convert(type, bits)._replace(unsigned=cast(type.unsigned, bits), converts=True)

    return emit


def _emit_truncate(scope: Scope, op: Operation) -> Expr:
    """trunci keeps the low bits."""
    e, source, type = _converted(scope, op)
    if type.kind == "bool":
        bit = binary("&", e, literal(1, source))
        return mask(source, binary("!=", bit, literal(0, source)))
    return convert(type, e)


def _emit_index_cast(scope: Scope, op: Operation) -> Expr:
    """index_cast sign-extends or truncates."""
    e, source, type = _converted(scope, op)
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
        return e._replace(unrounded=None)
    return convert(type, e)


def _emit_truncate_float(scope: Scope, op: Operation) -> Expr:
    """truncf rounds to nearest, ties to even, and once: from double to half directly. Only to
    bf16 it goes by way of float."""
    e, source, type = _converted(scope, op)
    if is_bf16(op.results[0].type):
        single = replace(type, base="float", bits=32, kind="float")
        e = e if source.bits == 32 else convert(single, e)
        return call(helpers.bf16_from_float(scope, single), e)
    if type.kind == "half":
        rounded = call(helpers.round_half(scope, type, source), e)
        return rounded._replace(unrounded=e, was_double=source.bits == 64)
    return convert(type, e)


def _emit_bitcast(scope: Scope, op: Operation) -> Expr:
    """bitcast keeps the bits."""
    e, source, type = _converted(scope, op)
    if source == type:
        return e
    if {source.kind, type.kind} == {"half", "int"} and source.lanes == type.lanes:
        if type.kind == "half":
            return call(helpers.half_from_bits(scope, type), e)._replace(bits=e)
        return e.bits or call(helpers.half_to_bits(scope, source), e)
    kinds, sizes = (source.kind, type.kind), (source.bits * source.lanes, type.bits * type.lanes)
    if "bool" in kinds or "half" in kinds or sizes[0] != sizes[1]:
        raise scope.error(f"no bitcast from {op.operands[0].type} to {op.results[0].type}")
    return call(f"as_{type.name}", e)


CONVERSIONS: dict[type[Operation], Emitter] = {
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
