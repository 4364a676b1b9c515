"""Ops of `arith` for index expressions and conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from tiledialect.index.integer.expressions import Comparison, Expr

Emit = Callable[[Operation], SSAValue]
"""Function that adds an op and returns its result."""

EXTREMA = {"min": arith.MinSIOp, "max": arith.MaxSIOp}
JUNCTIONS = {"and": arith.AndIOp, "or": arith.OrIOp}
PREDICATES = {"<": "slt", "<=": "sle", "==": "eq"}


def fold(
    op: Callable[[SSAValue, SSAValue], Operation], values: Iterable[SSAValue], emit: Emit
) -> SSAValue:
    """Fold values with an op, from the first one on."""
    total, *rest = values
    for value in rest:
        total = emit(op(total, value))
    return total


def floor_remainder(dividend: SSAValue, divisor: SSAValue, emit: Emit) -> SSAValue:
    """Remainder of a division that rounds down, also of a negative number."""
    whole = emit(arith.FloorDivSIOp(dividend, divisor))
    return emit(arith.SubiOp(dividend, emit(arith.MuliOp(whole, divisor))))


def comparison(condition: Comparison, value: Callable[[Expr], SSAValue]) -> Operation:
    """Op that compares the two sides of a condition, whose values are asked for in order."""
    left, sign, right = condition.sides
    name = "ne" if condition.kind == "!=" else PREDICATES[sign]
    return arith.CmpiOp(value(left), value(right), name)
