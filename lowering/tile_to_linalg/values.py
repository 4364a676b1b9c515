"""Values of a function that is lowered: tile tensors, and those that stand for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.constants import constant_of
from tiledialect.lowering.tile_to_linalg.nests import (
    LinalgBuilder,
    Point,
    axes_of,
    broadcast_access,
)


@dataclass
class Values:
    """Tensors with signless integers in the place of those of the tile dialect."""

    linalg: LinalgBuilder
    made: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def of(self, value: SSAValue) -> SSAValue:
        """The tensor that stands for a value."""
        if value not in self.made:
            constant = constant_of(value)
            assert constant is not None, "values are defined before they are used"
            t = et.concrete(tensor_type(value).element_type)
            return self.linalg.filled(constant.number, (), t)
        return self.made[value]

    def converted(self, value: SSAValue, t: Attribute) -> SSAValue:
        """The tensor that stands for a value, converted to a tile element type."""
        return self.with_type(self.of(value), tensor_type(value).element_type, t)

    def with_type(self, value: SSAValue, source: Attribute, target: Attribute) -> SSAValue:
        """A tensor of one tile element type in another."""
        if source == target:
            return value
        made = TensorType(et.storage_type(target), shape_of(tensor_type(value)) or ())
        return self.elementwise(
            [value], made, lambda point, v: point.scalars.convert(v[0], source, target)
        )

    def elementwise(
        self,
        operands: Sequence[SSAValue],
        t: Attribute,
        body: Callable[[Point, Sequence[SSAValue]], SSAValue],
    ) -> SSAValue:
        """A tensor of a function of the elements of others, which are broadcast."""
        assert isinstance(t, TensorType)
        empty = self.linalg.empty(t.get_shape(), t.element_type)
        return self.updated(empty, operands, lambda point, v: body(point, v[:-1]))

    def updated(
        self,
        value: SSAValue,
        operands: Sequence[SSAValue],
        body: Callable[[Point, Sequence[SSAValue]], SSAValue],
    ) -> SSAValue:
        """A tensor in whose place a function of the elements of others, and of its own, stands."""
        loops, access = axes_of(value)
        shape = [loop.size for loop in loops]
        inputs = [(v, broadcast_access(v, access, shape)) for v in operands]
        return self.linalg.nest(
            *(loops, inputs, (value, access)),
            lambda point, elements, indices: [body(point, elements)],
        )
