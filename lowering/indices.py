"""Index arithmetic at level 4, folded as it is emitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.index.expr import IndexExpr
from tiledialect.index.sets import Guard, GuardKind

IndexValue = int | SSAValue
"""An integer that is known now, or when the kernel runs."""


class Indices:
    """Emits `index` arithmetic at a builder's place, and its constants at the top of a block."""

    def __init__(self, builder: Builder, top: Block):
        self.builder = builder
        self.top = top
        self.constants: dict[int, SSAValue] = {}

    def emit(self, op: Operation) -> SSAValue:
        """Insert an op with one result."""
        return self.builder.insert(op).results[0]

    def value(self, v: IndexValue) -> SSAValue:
        """``v`` as a value."""
        if not isinstance(v, int):
            return v
        if v not in self.constants:
            op = arith.ConstantOp(IntegerAttr(v, IndexType()))
            Rewriter.insert_op(op, InsertPoint.at_start(self.top))
            self.constants[v] = op.result
        return self.constants[v]

    def add(self, a: IndexValue, b: IndexValue) -> IndexValue:
        """The sum."""
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if b == 0:
            return a
        if a == 0:
            return b
        if isinstance(b, int) and b < 0:
            return self.emit(arith.SubiOp(self.value(a), self.value(-b)))
        return self.emit(arith.AddiOp(self.value(a), self.value(b)))

    def sub(self, a: IndexValue, b: IndexValue) -> IndexValue:
        """The difference."""
        if isinstance(b, int):
            return self.add(a, -b)
        return self.emit(arith.SubiOp(self.value(a), self.value(b)))

    def mul(self, a: IndexValue, b: int) -> IndexValue:
        """The product with a number."""
        if isinstance(a, int):
            return a * b
        if b in (0, 1):
            return a if b else 0
        return self.emit(arith.MuliOp(a, self.value(b)))

    def div(self, a: IndexValue, b: int) -> IndexValue:
        """The quotient of a non-negative value (or of a multiple) by a positive number."""
        if b == 1:
            return a
        if isinstance(a, int):
            return a // b
        return self.emit(arith.DivSIOp(a, self.value(b)))

    def rem(self, a: IndexValue, b: int) -> IndexValue:
        """The remainder by a positive number; negative or 0 for a negative value."""
        if b == 1:
            return 0
        if isinstance(a, int):
            return a % b
        return self.emit(arith.RemSIOp(a, self.value(b)))

    def less(self, a: IndexValue, b: int) -> SSAValue:
        """Whether ``a < b``."""
        return self.emit(arith.CmpiOp(self.value(a), self.value(b), "slt"))

    def inside(self, a: IndexValue, size: int) -> list[SSAValue]:
        """The tests for ``0 <= a < size``."""
        return [
            self.emit(arith.CmpiOp(self.value(a), self.value(0), "sge")),
            self.less(a, size),
        ]

    def affine(self, expr: IndexExpr, values: Mapping[str, IndexValue]) -> IndexValue:
        """An affine expression, which must come to an integer where this runs."""
        scale, offset = expr.denominator, 0
        total: IndexValue = 0
        # Terms that are added go first, so that nothing has to be negated; constants go last.
        for monomial, coefficient in sorted(expr, key=lambda term: term[1] < 0):
            factor = int(coefficient * scale)
            value = values[monomial[0]] if monomial else 1
            if isinstance(value, int):
                offset += factor * value
            elif factor < 0 and total != 0:
                total = self.sub(total, self.mul(value, -factor))
            else:
                total = self.add(total, self.mul(value, factor))
        return self.div(self.add(total, offset), scale)

    def linear(self, coordinates: Sequence[IndexValue], shape: Sequence[int]) -> IndexValue:
        """The position of an element in row-major order."""
        total: IndexValue = 0
        for coordinate, size in zip(coordinates, shape, strict=True):
            total = self.add(self.mul(total, size), coordinate)
        return total

    def test(self, guard: Guard, values: Mapping[str, IndexValue]) -> SSAValue:
        """Whether a guard lets the point pass."""
        if guard.kind == GuardKind.LOWER:
            zero, expr = self.value(0), self.value(self.affine(guard.expr, values))
            return self.emit(arith.CmpiOp(expr, zero, "sge"))
        if guard.kind == GuardKind.UPPER:
            return self.less(self.affine(guard.expr, values), int(guard.bound))
        remainder = self.value(self.rem(self.affine(guard.expr, values), int(guard.bound)))
        return self.emit(arith.CmpiOp(remainder, self.value(0), "eq"))

    def all(self, conditions: Sequence[SSAValue]) -> SSAValue | None:
        """Whether all conditions hold; None if there are none."""
        result: SSAValue | None = None
        for condition in conditions:
            result = condition if result is None else self.emit(arith.AndIOp(result, condition))
        return result
