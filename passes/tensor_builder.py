"""Building tile ops one after another, with arithmetic that reads as such."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.builder import Builder
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerAttr, LocationAttr
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from tiledialect.dialects.tile import elementwise as ew
from tiledialect.dialects.tile.attributes import Aggregation, Combination, symbol
from tiledialect.dialects.tile.base import Shape, shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.special import SumToOp
from tiledialect.index.expr import Constraint, IndexExpr

Number = int | float
Access = Sequence[IndexExpr]


@dataclass
class TensorBuilder:
    """Inserts tile ops before an op; each method gives the result."""

    before: Operation
    location: LocationAttr | None = None
    """Where the ops come from."""
    sizes: dict[tuple[SSAValue, int], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, int], SSAValue]
    )

    def insert(self, op: Operation, name: str | None = None) -> SSAValue:
        """Insert an op with one result."""
        if self.location is not None:
            op.location = self.location
        Builder(InsertPoint.before(self.before)).insert(op)
        if name is not None:
            op.results[0].name_hint = name
        return op.results[0]

    def op(self, op: type[ew.ElementwiseOp], *operands: SSAValue | Number) -> SSAValue:
        """An elementwise op on values and numbers."""
        values = [v if isinstance(v, SSAValue) else self.number(v) for v in operands]
        return self.insert(op.make(*values))

    def number(self, value: Number) -> SSAValue:
        """A number that takes the type of what it meets."""
        return self.insert(ew.ConstantOp.of(value))

    def add(self, a: SSAValue | Number, b: SSAValue | Number) -> SSAValue:
        """The sum."""
        return self.op(ew.AddOp, a, b)

    def sub(self, a: SSAValue | Number, b: SSAValue | Number) -> SSAValue:
        """The difference."""
        return self.op(ew.SubOp, a, b)

    def mul(self, a: SSAValue | Number, b: SSAValue | Number) -> SSAValue:
        """The product."""
        return self.op(ew.MulOp, a, b)

    def div(self, a: SSAValue | Number, b: SSAValue | Number) -> SSAValue:
        """The quotient."""
        return self.op(ew.DivOp, a, b)

    def neg(self, a: SSAValue) -> SSAValue:
        """The value with its sign changed."""
        return self.op(ew.NegOp, a)

    def select(self, condition: SSAValue, a: SSAValue | Number, b: SSAValue | Number) -> SSAValue:
        """``a`` where the condition holds, else ``b``."""
        return self.op(ew.SelectOp, condition, a, b)

    def zeros_like(self, value: SSAValue) -> SSAValue:
        """Zeros in the shape of ``value``, whatever it holds."""
        return self.select(self.number(0), value, 0)

    def like(self, value: SSAValue, other: SSAValue) -> SSAValue:
        """A value broadcast to the shape of another."""
        return value if same_shape(value, other) else self.select(self.number(1), value, other)

    def sum_to(self, value: SSAValue, like: SSAValue) -> SSAValue:
        """``value`` summed over the axes along which ``like`` was broadcast to its shape."""
        if value is like or same_shape(value, like):
            return value
        return self.insert(SumToOp.make(value, like))

    def size(self, value: SSAValue, axis: int) -> int | SSAValue:
        """The size of an axis: a number if it is known."""
        shape = shape_of(tensor_type(value))
        if shape is not None and shape[axis] != DYNAMIC_INDEX:
            return shape[axis]
        if (value, axis) not in self.sizes:
            number = self.insert(arith.ConstantOp(IntegerAttr(axis, IndexType())))
            self.sizes[value, axis] = self.insert(tensor.DimOp(value, number))
        return self.sizes[value, axis]


def same_shape(a: SSAValue, b: SSAValue) -> bool:
    """Whether two values surely have the same shape."""
    first, second = shape_of(tensor_type(a)), shape_of(tensor_type(b))
    return first is not None and first == second and DYNAMIC_INDEX not in first


class ContractionBuilder:
    """Builds contractions on the indices and symbols of one that is there."""

    def __init__(self, builder: TensorBuilder, op: ContractionOp):
        self.builder = builder
        self.op = op
        self.symbols: list[SSAValue] = list(op.symbols)

    def extent(self, value: SSAValue, axis: int) -> IndexExpr:
        """The size of an axis, as an index expression."""
        size = self.builder.size(value, axis)
        if isinstance(size, int):
            return IndexExpr.of(size)
        if size not in self.symbols:
            self.symbols.append(size)
        return IndexExpr.of(symbol(self.symbols.index(size)))

    def inside(self, value: SSAValue, access: Access) -> list[Constraint]:
        """That index expressions are inside a tensor: for one that is no longer read."""
        return [Constraint(e, self.extent(value, axis)) for axis, e in enumerate(access)]

    def make(
        self,
        aggregation: Aggregation,
        combination: Combination,
        like: SSAValue,
        output: Access,
        inputs: Sequence[tuple[SSAValue, Access]],
        constraints: Sequence[Constraint] = (),
    ) -> SSAValue:
        """A contraction with a result of the shape of ``like``.

        The constraints of the original come first.
        """
        shape: list[int] = []
        sizes: list[SSAValue] = []
        for axis in range(len(output)):
            size = self.builder.size(like, axis)
            shape.append(size if isinstance(size, int) else DYNAMIC_INDEX)
            if not isinstance(size, int):
                sizes.append(size)
        return self.builder.insert(
            ContractionOp(
                aggregation,
                combination,
                output,
                inputs,
                [*(c.data for c in self.op.constraints), *constraints],
                shape=tuple(shape),
                symbols=self.symbols,
                sizes=sizes,
                no_defract=self.op.no_defract is not None,
            )
        )


def known_shape(value: SSAValue) -> Shape | None:
    """The shape, if it is known whole."""
    shape = shape_of(tensor_type(value))
    return None if shape is None or DYNAMIC_INDEX in shape else shape
