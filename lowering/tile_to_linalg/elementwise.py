"""Ops whose elements are computed one by one: functions, positions, gathers, random numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Operation, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.elementwise.ops import ConstantOp
from tiledialect.dialects.tile.special import GatherOp, PrngStateOp, PrngValueOp
from tiledialect.index.integer.expressions import Expr
from tiledialect.lowering.tile_to_linalg.nests import (
    Point,
    axes_of,
    broadcast_access,
)
from tiledialect.lowering.tile_to_linalg.values import Values
from tiledialect.lowering.tile_to_nest.elements import SPECIAL, Elements

READ_WHOLE: Mapping[type[Operation], tuple[int, ...]] = {
    GatherOp: (0, 1),
    PrngValueOp: (0,),
    PrngStateOp: (0,),
}
"""Operands from which other elements are read than that at the place of the result."""


def elements(values: Values, op: Operation) -> SSAValue:
    """The result of an op, each element of which is computed at its place."""
    t = tensor_type(op.results[0])
    shape, storage = shape_of(t) or (), et.storage_type(t.element_type)
    empty = values.linalg.empty(shape, storage)
    loops, access = axes_of(empty)
    whole = READ_WHOLE.get(type(op), ())
    read = (
        [] if type(op) in SPECIAL else [v for v in dict.fromkeys(op.operands) if not _constant(v)]
    )
    inputs = [(values.of(v), broadcast_access(v, access, shape)) for v in read]
    tensors = {op.operands[k]: values.of(op.operands[k]) for k in whole}

    def body(
        point: Point, scalars: Sequence[SSAValue], indices: Mapping[str, Expr]
    ) -> Sequence[SSAValue]:
        place = tuple(indices.values())
        made = Elements(point, lambda v: tensors[v], place)
        made.known.update(zip(read, scalars, strict=False))
        if isinstance(op, PrngStateOp):
            made.known[op.state] = point.load(tensors[op.state], place)
        return [made.at(op.results[0])]

    return values.linalg.nest(loops, inputs, (empty, access), body)


def _constant(value: SSAValue) -> bool:
    return isinstance(value.owner, ConstantOp)
