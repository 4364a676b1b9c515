"""Comparison and choice in OpenCL C: the ops of arith that give or take truth values."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import Operation

from tiledialect.lowering.opencl.combining import Emitter, operand_type, operands, result_type
from tiledialect.lowering.opencl.types import (
    CType,
    Expr,
    Scope,
    binary,
    call,
    literal,
    narrow,
    negation,
    ternary,
    unsigned,
)

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
        a = a._replace(text=a.typed)
    return narrow(ternary(condition, a, b), type)


COMPARISONS: dict[type[Operation], Emitter] = {
    arith.CmpiOp: _emit_cmpi,
    arith.CmpfOp: _emit_cmpf,
    arith.SelectOp: _emit_select,
}
