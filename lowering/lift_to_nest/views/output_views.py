"""Output views: places of a value, seen through the layout patterns behind it.

The operand of a join is written through a split of the join's place; so nothing is moved after it
was computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from xdsl.dialects import tensor
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Block, Operation, SSAValue

from tiledialect.dialects.lift import layout, maps, memory, values
from tiledialect.dialects.lift.attributes import expression
from tiledialect.dialects.lift.types import as_array, leading, sizes_of
from tiledialect.index.integer.expressions import Expr
from tiledialect.index.integer.ranges import Env
from tiledialect.lowering.lift_to_nest.views.index_maps import inverse
from tiledialect.lowering.lift_to_nest.views.views import (
    Get,
    Join,
    Mapped,
    Only,
    Reorder,
    Slice,
    Split,
    Transpose,
    View,
    Within,
    made_by,
)

Inverse = Callable[[View], View]
"""Function from the place of a result to the place of an operand."""


def inner_size(op: layout.JoinOp | layout.AsScalarOp) -> Expr:
    """Number of elements of the arrays of an array, or of lanes of the vectors of one."""
    t = as_array(op.input, op.pattern())
    if isinstance(op, layout.JoinOp):
        return expression(sizes_of(t)[1])
    assert isinstance(t.element_type, VectorType)
    return Expr.const(t.element_type.get_shape()[0])


@dataclass
class PlaceResolver:
    """Follows places through ops."""

    env: Env
    """Facts about sizes."""

    def inverses(self, op: Operation) -> list[tuple[SSAValue, Inverse]] | None:
        """Places of the operands; None if the op is no plain change of places."""
        find = INVERSES.get(type(op))
        found = None if find is None else find(self, op)
        return None if found is None else [(v, partial(_made_by, op, back)) for v, back in found]

    def origins(self, value: SSAValue, block: Block) -> list[tuple[SSAValue, Inverse]]:
        """Values in a block that make up a value, and the inverse that gives the place of each."""
        op = value.owner
        steps = None
        if isinstance(op, Operation) and op.parent is block:
            steps = self.inverses(op)
        if steps is None:
            return [(value, lambda out: out)]
        return [
            (origin, _after(step, inner))
            for operand, step in steps
            for origin, inner in self.origins(operand, block)
        ]

    # -- the ops -----------------------------------------------------------------------------

    def _gather(self, op: layout.GatherOp) -> list[tuple[SSAValue, Inverse]] | None:
        size = expression(leading(as_array(op.input, "gather")))
        back = inverse(op.map.data, size, self.env)
        return None if back is None else [(op.input, lambda out: Reorder(out, back))]

    def _map(self, op: maps.MapOp) -> list[tuple[SSAValue, Inverse]] | None:
        found = self.origins(op.yielded, op.block)
        if any(origin is not op.block.args[0] for origin, _ in found):
            return None
        return [(op.input, partial(Mapped, function=inner)) for _, inner in found]

    def _concat(self, op: layout.ConcatOp) -> list[tuple[SSAValue, Inverse]]:
        found: list[tuple[SSAValue, Inverse]] = []
        start = Expr()
        for value in op.inputs:
            found.append((value, partial(Slice, start=start)))
            start += expression(leading(as_array(value, "concat")))
        return found


def _made_by(op: Operation, back: Inverse, out: View) -> View:
    return made_by(op, back(out))


def _after(first: Inverse, then: Inverse) -> Inverse:
    return lambda out: then(first(out))


def _simple(make: Callable[[View, Any], View]) -> Callable[[PlaceResolver, Any], Any]:
    """Inverse of an op with one operand."""
    return lambda resolver, op: [(op.operands[0], partial(_made, make, op))]


def _made(make: Callable[[View, Any], View], op: Any, out: View) -> View:
    return make(out, op)


def _each(make: Callable[..., View]) -> Callable[[PlaceResolver, Any], Any]:
    """Inverses of an op whose operands become components."""
    return lambda resolver, op: [
        (value, partial(make, number=k)) for k, value in enumerate(op.operands)
    ]


INVERSES: dict[
    type[Operation], Callable[[PlaceResolver, Any], list[tuple[SSAValue, Inverse]] | None]
] = {
    layout.SplitOp: _simple(lambda out, op: Join(out, expression(op.size.data))),
    layout.AsVectorOp: _simple(lambda out, op: Join(out, expression(op.size.data))),
    layout.JoinOp: _simple(lambda out, op: Split(out, inner_size(op))),
    layout.AsScalarOp: _simple(lambda out, op: Split(out, inner_size(op))),
    layout.TransposeOp: _simple(lambda out, op: Transpose(out)),
    layout.ScatterOp: _simple(lambda out, op: Reorder(out, op.map.data)),
    layout.GatherOp: PlaceResolver._gather,  # pyright: ignore[reportPrivateUsage]
    layout.ConcatOp: PlaceResolver._concat,  # pyright: ignore[reportPrivateUsage]
    values.ZipOp: _each(Within),
    values.TupleOp: _each(Get),
    values.GetOp: _simple(lambda out, op: Only(out, op.index.data)),
    maps.MapOp: PlaceResolver._map,  # pyright: ignore[reportPrivateUsage]
    tensor.FromElementsOp: lambda resolver, op: (
        [(op.elements[0], lambda out: out)] if len(op.elements) == 1 else None
    ),
    **dict.fromkeys(memory.MEMORY_OPS, _simple(lambda out, op: out)),
}


@dataclass
class OutputViews:
    """Places and reads of the values of a block."""

    places: dict[SSAValue, list[View]] = field(default_factory=dict[SSAValue, "list[View]"])
    read: set[SSAValue] = field(default_factory=set[SSAValue])
    """Values that other ops in the block read."""


def output_views(
    resolver: PlaceResolver,
    block: Block,
    outs: Mapping[SSAValue, Sequence[View]],
    wanted: Sequence[SSAValue],
) -> OutputViews:
    """Places of the values in a block, given places of some and reads of others."""
    found = OutputViews()
    passed: set[Operation] = set()
    for value, places in outs.items():
        for origin, inner in resolver.origins(value, block):
            found.places.setdefault(origin, []).extend(inner(place) for place in places)
        _mark_followed(resolver, value, block, passed)
    for value in wanted:
        _read(value, block, found.read)
    for op in block.ops:
        for inner in op.walk():
            if inner not in passed and inner is not block.last_op:
                for value in inner.operands:
                    _read(value, block, found.read)
    return found


def _mark_followed(
    resolver: PlaceResolver, value: SSAValue, block: Block, passed: set[Operation]
) -> None:
    """Note the ops that places are followed through."""
    op = value.owner
    if isinstance(op, Operation) and op.parent is block and resolver.inverses(op) is not None:
        passed.update(op.walk())
        for operand in op.operands:
            _mark_followed(resolver, operand, block, passed)


def _read(value: SSAValue, block: Block, read: set[SSAValue]) -> None:
    """Note that a value is read, and its operands."""
    if value in read:
        return
    read.add(value)
    op = value.owner
    if isinstance(op, Operation) and op.parent is block:
        for inner in op.walk():
            for operand in inner.operands:
                _read(operand, block, read)
