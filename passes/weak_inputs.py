"""The types that inputs without a width of their own take: those of what they meet."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import func
from xdsl.dialects.builtin import TensorType, i1
from xdsl.ir import Attribute, Operation, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.base import TileOp, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.custom_gradient import CustomGradientOp
from tiledialect.dialects.tile.elementwise import CastOp, ElementwiseOp, IndexOp
from tiledialect.dialects.tile.elementwise_base import CompareOp
from tiledialect.dialects.tile.special import ReshapeOp, SumToOp
from tiledialect.passes.tile_specialize import specialize


def weak_types(
    function: func.FuncOp, types: Sequence[TensorType[Attribute]], weak: Collection[int]
) -> dict[int, Attribute]:
    """The element types of the inputs ``weak``; for those that meet nothing the given ones.

    A real takes the widest float that it is added to, multiplied with, compared with and so on,
    an integer the integer type; itself or what is computed from it and other weak inputs alone.
    """
    chosen = {k: types[k].element_type for k in weak}
    # What one input takes may change the type of what another meets.
    for _ in range(len(weak) + 1):
        copy = function.clone()
        elements = [chosen.get(k, t.element_type) for k, t in enumerate(types)]
        specialize(copy, list(map(with_element_type, types, elements)))
        meetings = _Meetings({arg: {k} for k, arg in enumerate(copy.body.block.args) if k in weak})
        for op in copy.body.block.ops:
            meetings.visit(op)
        before = chosen
        chosen = {k: _chosen(types[k].element_type, meetings.met.get(k, [])) for k in weak}
        if chosen == before:
            break
    return chosen


def with_element_type(t: TensorType[Attribute], element_type: Attribute) -> TensorType[Attribute]:
    """The type with other elements."""
    return TensorType(element_type, t.get_shape())


def _chosen(own: Attribute, met: Sequence[Attribute]) -> Attribute:
    """The promotion of the types that are of the same kind as ``own``; a bool stays one."""
    alike = [t for t in met if et.is_float(t) == et.is_float(own) and t != i1]
    if not alike or own == i1:
        return own
    result = alike[0]
    for t in alike[1:]:
        result = et.promote(result, t)
    return result


@dataclass
class _Meetings:
    """Follows inputs through a specialized function."""

    origins: dict[SSAValue, set[int]]
    """The inputs that each weak value is computed from."""
    met: dict[int, list[Attribute]] = field(default_factory=dict[int, list[Attribute]])

    def visit(self, op: Operation) -> None:
        for group in _meeting(op):
            inputs = set[int]().union(*(self.origins.get(v, ()) for v in group))
            strong = [
                t
                for v in group
                if v not in self.origins and not et.is_weak(t := tensor_type(v).element_type)
            ]
            for k in inputs:
                self.met.setdefault(k, []).extend(strong)
            if inputs and not strong and isinstance(op, TileOp) and not isinstance(op, CompareOp):
                self.origins.setdefault(op.results[0], set()).update(inputs)


def _meeting(op: Operation) -> Sequence[Sequence[SSAValue]]:
    """The groups of operands that an op promotes to one type."""
    if isinstance(op, CastOp | IndexOp):
        return ()
    if isinstance(op, ElementwiseOp):
        return (op.values,)
    if isinstance(op, ContractionOp):
        if op.combination.data.name.endswith("cond"):
            # The first two are compared with one another.
            return (op.inputs[:2], op.inputs[2:])
        return (op.inputs,)
    if isinstance(op, ReshapeOp | SumToOp | CustomGradientOp):
        return (op.operands[:1],)
    return ()
