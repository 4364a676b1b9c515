"""Arithmetic on floats at the kernel level, on scalars and on vectors alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, VectorType, i1, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from tiledialect.dialects.nest.lanewise import LANEWISE
from tiledialect.lowering.nest.utils.constants import constant


@dataclass(frozen=True)
class FloatArithmetic:
    """Emits ops on values of a float type, or of vectors of one."""

    builder: Builder
    type: Attribute

    def emit(self, op: Operation) -> SSAValue:
        """Add an op with one result."""
        return self.builder.insert(op).results[0]

    def with_lanes(self, element: Attribute) -> Attribute:
        """Another element type, with as many lanes."""
        t = self.type
        return VectorType(element, t.shape) if isinstance(t, VectorType) else element

    def constant(self, number: float, t: Attribute | None = None) -> SSAValue:
        """A number, in all lanes."""
        return self.emit(constant(number, t or self.type))

    def add(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """The sum."""
        return self.emit(arith.AddfOp(a, b))

    def sub(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """The difference."""
        return self.emit(arith.SubfOp(a, b))

    def mul(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """The product."""
        return self.emit(arith.MulfOp(a, b))

    def polynomial(self, x: SSAValue, coefficients: Sequence[float]) -> SSAValue:
        """A polynomial, the coefficient of the highest power first."""
        total = self.constant(coefficients[0])
        for coefficient in coefficients[1:]:
            total = self.add(self.mul(total, x), self.constant(coefficient))
        return total

    def where(
        self, predicate: str, a: SSAValue, b: SSAValue, values: tuple[SSAValue, SSAValue]
    ) -> SSAValue:
        """The first of two values where a comparison holds, else the second."""
        options = {"predicate": IntegerAttr(PREDICATES[predicate], i64), "fastmath": NOTHING}
        mask = self._lanewise(arith.CmpfOp, (a, b), self.with_lanes(i1), options)
        return self._lanewise(arith.SelectOp, (mask, *values), self.type, {})

    def _lanewise(
        self,
        op: type[Operation],
        values: Sequence[SSAValue],
        t: Attribute,
        options: Mapping[str, Attribute],
    ) -> SSAValue:
        kind = LANEWISE[op] if isinstance(t, VectorType) else op
        return self.emit(kind.create(operands=values, result_types=[t], properties=options))

    def bits(self, value: SSAValue) -> SSAValue:
        """The bits of floats of 32 bits, as integers."""
        return self.emit(arith.BitcastOp(value, self.with_lanes(i32)))

    def from_bits(self, value: SSAValue) -> SSAValue:
        """The floats that have these bits."""
        return self.emit(arith.BitcastOp(value, self.type))

    def with_sign_of(self, sign: SSAValue, size: SSAValue) -> SSAValue:
        """Floats of 32 bits that are not negative, with the signs of other floats."""
        bits = self.bits(sign)
        alone = self.emit(arith.AndIOp(bits, self.constant(-(2**31), bits.type)))
        return self.from_bits(self.emit(arith.OrIOp(alone, self.bits(size))))

    def integer(self, op: type[Operation], value: SSAValue, number: int) -> SSAValue:
        """An op of integers on a value and a number."""
        values = (value, self.constant(number, value.type))
        return self.emit(op.create(operands=values, result_types=[value.type]))

    def from_integer(self, value: SSAValue) -> SSAValue:
        """Signed integers as floats."""
        return self._lanewise(arith.SIToFPOp, (value,), self.type, {})

    def shift_left(self, value: SSAValue, count: int) -> SSAValue:
        """Integers times a power of two."""
        return self.emit(arith.ShLIOp(value, self.constant(count, value.type)))


PREDICATES = {"ogt": 2, "olt": 4}
"""The numbers of the comparisons that are used."""
NOTHING = arith.FastMathFlagsAttr("none")
