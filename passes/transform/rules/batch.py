"""Values of a batch: tensors with the batch as their first axis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import Shape, make_type, shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.index.expr import IndexExpr
from tiledialect.ir.names import keep_name, place_of
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators import layout


@dataclass
class Batch:
    """Batched values of a function of known shapes, and the builder of more."""

    size: int
    """Number of elements."""
    b: TensorBuilder
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Batched value for each value that differs between elements."""
    replaced: list[Operation] = field(default_factory=list[Operation])
    """Ops on one element that have batched ones in their place."""

    def has(self, *values: SSAValue) -> bool:
        """Whether a value among these differs between elements."""
        return any(v in self.values for v in values)

    def at(self, op: Operation) -> None:
        """Insert further ops before an op."""
        self.b = TensorBuilder(op, place_of(op))

    def full(self, value: SSAValue) -> SSAValue:
        """Batched value, of a value that is the same for all elements a repeated one."""
        if value in self.values:
            return self.values[value]
        value = layout.cast(self.b, value, et.concrete(layout.element_type(value)))
        sizes = layout.shape(value)
        return layout.broadcast(self.b, value, (self.size, *sizes), range(1, 1 + len(sizes)))

    def aligned(self, value: SSAValue, rank: int) -> SSAValue:
        """Value whose elements have ``rank`` axes, axes of size 1 before their own ones."""
        if value not in self.values:
            return value
        value = self.values[value]
        own = layout.shape(value)[1:]
        return layout.reshape(self.b, value, (self.size, *(1,) * (rank - len(own)), *own))

    def zeros(self, shape: Shape) -> SSAValue:
        """Tensor of which only the shape counts."""
        zero = layout.constant(self.b, 0, et.CONCRETE["f32"])
        return layout.broadcast(self.b, zero, shape, ())

    def positions(self, rank: int) -> SSAValue:
        """Number of each element of the batch, with ``rank`` further axes of size 1."""
        return layout.iota(self.b, (self.size, *(1,) * rank), 0, et.CONCRETE["i32"])

    def like(self, op: Operation, *operands: SSAValue) -> SSAValue:
        """Batched result of the same op on batched operands."""
        t = tensor_type(op.results[0])
        made = type(op).create(
            operands=operands,
            result_types=[make_type((self.size, *(shape_of(t) or ())), t.element_type)],
            properties=dict(op.properties),
            attributes=dict(op.attributes),
        )
        return self.b.insert(made)

    def moved(self, value: SSAValue, source: int, target: int) -> SSAValue:
        """Value with an axis at another place."""
        order = [k for k in range(len(layout.shape(value))) if k != source]
        order.insert(target, source)
        return layout.transpose(self.b, value, order)

    def word(self, states: SSAValue, number: int) -> SSAValue:
        """Element of each row of a matrix, with an axis of size 1."""
        n, none = IndexExpr.of("n"), IndexExpr()
        return self.b.insert(
            ContractionOp(
                Aggregation.assign,
                Combination.none,
                [n, none],
                [(states, [n, IndexExpr.of(number)])],
                shape=(self.size, 1),
            )
        )

    def note(self, op: Operation, made: SSAValue) -> None:
        """Let a batched value stand for an op's result."""
        keep_name(made, op.results[0])
        self.values[op.results[0]] = made


Rule = Callable[[Batch, Operation], SSAValue | None]
"""Rule that gives the batched result of an op, or None if the op is the same for all elements."""
