"""Arithmetic of integers of the host, wherever they are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import eq, ge, gt, le, lt, ne

from xdsl.dialects import affine, arith, memref, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IntegerAttr,
    IntegerType,
    MemRefType,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tiledialect.rounding import ceil_div


def _truncate(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


SIGNED: dict[type[Operation], Callable[[int, int], int]] = {
    arith.AddiOp: lambda a, b: a + b,
    arith.SubiOp: lambda a, b: a - b,
    arith.MuliOp: lambda a, b: a * b,
    arith.DivSIOp: _truncate,
    arith.RemSIOp: lambda a, b: a - b * _truncate(a, b),
    arith.FloorDivSIOp: lambda a, b: a // b,
    arith.CeilDivSIOp: ceil_div,
    arith.MaxSIOp: max,
    arith.MinSIOp: min,
    arith.ShRSIOp: lambda a, b: a >> b,
    arith.AndIOp: lambda a, b: a & b,
    arith.OrIOp: lambda a, b: a | b,
    arith.XOrIOp: lambda a, b: a ^ b,
}
UNSIGNED: dict[type[Operation], Callable[[int, int], int]] = {
    arith.DivUIOp: lambda a, b: a // b,
    arith.RemUIOp: lambda a, b: a % b,
    arith.CeilDivUIOp: ceil_div,
    arith.MaxUIOp: max,
    arith.MinUIOp: min,
}
INTEGER_OPS = (*SIGNED, *UNSIGNED, arith.IndexCastOp, arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp)
"""Ops that compute integers of integers."""
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "eq": eq,
    "ne": ne,
    "lt": lt,
    "le": le,
    "gt": gt,
    "ge": ge,
}
"""Comparisons by the predicate's name without its sign."""


def computed_integer(op: Operation, numbers: Sequence[int]) -> int | None:
    """Integer that an op computes of integers; None if it is no op on these.

    Integers of a width wrap, and are signed; indices are as large as they get. Division by 0 is
    Python's error.
    """
    match op:
        case arith.ConstantOp(value=IntegerAttr() as number):
            return number.value.data
        case affine.ApplyOp():
            dims = op.map.data.num_dims
            return op.map.data.eval(list(numbers[:dims]), list(numbers[dims:]))[0]
        case arith.IndexCastOp() | arith.ExtSIOp() | arith.TruncIOp():
            return _signed(numbers[0], op.results[0].type)
        case arith.ExtUIOp():
            return _unsigned(numbers[0], op.operands[0].type)
        case arith.CmpiOp():
            name = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
            if name.startswith("u"):
                numbers = [_unsigned(n, op.lhs.type) for n in numbers]
            return int(COMPARISONS[name if name in COMPARISONS else name[1:]](*numbers))
        case arith.SelectOp():
            return numbers[1] if numbers[0] else numbers[2]
        case _ if (compute := UNSIGNED.get(type(op))) is not None:
            a, b = (_unsigned(n, op.operands[0].type) for n in numbers)
            return _signed(compute(a, b), op.results[0].type)
        case _ if (compute := SIGNED.get(type(op))) is not None:
            return _signed(compute(*numbers), op.results[0].type)
        case _:
            return None


def _signed(number: int, t: Attribute) -> int:
    """A number as a type of integers holds it."""
    if not isinstance(t, IntegerType) or t.width.data == 1:
        return number & 1 if isinstance(t, IntegerType) else number
    half = 1 << t.width.data - 1
    return (number + half) % (2 * half) - half


def _unsigned(number: int, t: Attribute) -> int:
    """A number of a type of integers without its sign; sizes are not negative."""
    return number % (1 << t.width.data) if isinstance(t, IntegerType) else number


def known_integer(value: SSAValue) -> int | None:
    """The integer that a value is, if constants and static sizes alone make it."""
    op = value.owner
    if not isinstance(op, Operation):
        return None
    if isinstance(op, tensor.DimOp | memref.DimOp):
        axis, t = known_integer(op.index), op.source.type
        shape = t.get_shape() if isinstance(t, TensorType | MemRefType) else ()
        is_known = axis is not None and 0 <= axis < len(shape) and shape[axis] != DYNAMIC_INDEX
        return shape[axis] if is_known and axis is not None else None
    numbers = [known_integer(v) for v in op.operands]
    known = [n for n in numbers if n is not None]
    if len(known) < len(numbers):
        return None
    try:
        return computed_integer(op, known)
    except ArithmeticError:
        return None
