"""Rules of the ops of the tile dialect for a batch.

Each takes an op of which an operand differs between the elements of the batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Operation, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile import special
from tiledialect.dialects.tile.base import Shape
from tiledialect.dialects.tile.constants import constant_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.dialects.tile.scan import ScanOp
from tiledialect.errors import TileError
from tiledialect.index.expr import IndexExpr
from tiledialect.operators import layout
from tiledialect.operators.layout import element_type, shape
from tiledialect.passes.normalize.rewrites.change_indices import set_domain
from tiledialect.passes.transform.rules.batch import Batch, Rule
from tiledialect.passes.transform.rules.random import state_after, uniform

MOST_32 = 2**31
"""Number of rows up to which i32 holds their positions."""


def _contraction(batch: Batch, op: Operation) -> SSAValue:
    """A further index in the output's access and in that of each batched tensor."""
    assert isinstance(op, ContractionOp)
    names = (f"b{k}" if k else "b" for k in range(len(op.index_names) + 1))
    n = IndexExpr.of(next(name for name in names if name not in op.index_names))
    default = op.default
    if default is not None and (default in batch.values or constant_of(default) is None):
        default = batch.full(default)
    made = ContractionOp(
        op.aggregation.data,
        op.combination.data,
        [n, *op.output.data],
        [
            (batch.values.get(v, v), [n, *access.data] if batch.has(v) else access.data)
            for v, access in zip(op.inputs, op.accesses, strict=True)
        ],
        [c.data for c in op.constraints],
        shape=(batch.size, *shape(op.result)),
        default=default,
        no_defract=op.no_defract is not None,
        attributes=dict(op.attributes),
        is_wide=op.is_wide,
    )
    if op.domain is not None:
        set_domain(made, made.space())
    return batch.b.insert(made)


def elementwise(batch: Batch, op: Operation) -> SSAValue:
    """The same op, on elements with the same number of axes."""
    rank = max(len(shape(v)) for v in op.operands)
    return batch.like(op, *(batch.aligned(v, rank) for v in op.operands))


def _of_shape(batch: Batch, op: Operation) -> None:
    """The op on another tensor of the shape that all elements have."""
    op.operands[0] = batch.zeros(shape(op.operands[0]))


def _reshape(batch: Batch, op: Operation) -> SSAValue:
    return layout.reshape(batch.b, batch.values[op.operands[0]], _sizes(batch, op))


def _sizes(batch: Batch, op: Operation) -> Shape:
    return batch.size, *shape(op.results[0])


def _places(batch: Batch, indices: SSAValue, rows: int) -> SSAValue:
    """Indices as signed integers that hold the places of all rows of the batch."""
    b, t = batch.b, element_type(indices)
    is_long = batch.size * rows > MOST_32 or t in map(et.CONCRETE.get, ("i64", "ui64", "ui32"))
    values = batch.values.get(indices, indices)
    if t in (et.CONCRETE["ui64"], et.CONCRETE["ui32"]):
        values = b.op(ew.MinOp, values, rows)
    return layout.cast(b, values, et.CONCRETE["i64" if is_long else "i32"])


def _gather(batch: Batch, op: Operation) -> SSAValue:
    """Rows of one tensor for all elements; of tensors of their own, of these one after another."""
    assert isinstance(op, special.GatherOp)
    b = batch.b
    if not batch.has(op.tensor):
        return b.insert(special.GatherOp.make(op.tensor, batch.values[op.indices]))
    rows, *rest = shape(op.tensor)
    inside = b.op(ew.MaxOp, b.op(ew.MinOp, _places(batch, op.indices, rows), rows - 1), 0)
    places = b.add(inside, b.mul(batch.positions(len(shape(op.indices))), rows))
    flat = layout.reshape(b, batch.values[op.tensor], (batch.size * rows, *rest))
    return b.insert(special.GatherOp.make(flat, places))


def _scatter(batch: Batch, op: Operation) -> SSAValue:
    """Sums of all elements in one tensor, those of each in rows of its own."""
    assert isinstance(op, special.ScatterOp)
    if op.parts is not None:
        raise TileError.at(op, f"{op.name} with parts has no batched form")
    b = batch.b
    rows, *rest = shape(op.result)
    rank = len(shape(op.indices))
    own = _places(batch, op.indices, rows)
    moved = b.add(own, b.mul(batch.positions(rank), rows))
    inside = b.select(b.op(ew.CmpLtOp, own, rows), moved, -1)
    places = b.select(b.op(ew.CmpGeOp, own, 0), inside, -1)
    updates = op.updates
    if shape(updates):
        updates = batch.full(updates)
    elif batch.has(updates):
        sizes = shape(places)
        each = layout.reshape(b, batch.values[updates], (batch.size, *(1,) * rank))
        updates = layout.broadcast(b, each, sizes, range(len(sizes)))
    total = special.ScatterOp.create(
        operands=[updates, places, batch.zeros((batch.size * rows,))],
        result_types=[_typed(op, (batch.size * rows, *rest))],
    )
    return layout.reshape(b, b.insert(total), (batch.size, rows, *rest))


def _typed(op: Operation, sizes: Shape):
    return layout.make_type(sizes, element_type(op.results[0]))


def _sum_to(batch: Batch, op: Operation) -> SSAValue | None:
    assert isinstance(op, special.SumToOp)
    own = shape(op.like)
    if not batch.has(op.operand):
        op.operands[1] = batch.zeros(own)
        return None
    sizes = (batch.size, *(1,) * (len(shape(op.operand)) - len(own)), *own)
    made = special.SumToOp.create(
        operands=[batch.values[op.operand], batch.zeros(sizes)], result_types=[_typed(op, sizes)]
    )
    return layout.reshape(batch.b, batch.b.insert(made), (batch.size, *own))


def _scan(batch: Batch, op: Operation) -> SSAValue:
    assert isinstance(op, ScanOp)
    made = batch.like(op, *map(batch.full, op.operands))
    assert isinstance(made.owner, ScanOp)
    made.owner.axis = IntegerAttr(op.along + 1, IndexType())
    return made


def _prng_value(batch: Batch, op: Operation) -> SSAValue:
    """The numbers of a state of its own for each element."""
    states = _states(batch, op.operands[0])
    drawn = uniform(batch, states, prod(shape(op.results[0])))
    return layout.reshape(batch.b, drawn, _sizes(batch, op))


def _prng_state(batch: Batch, op: Operation) -> SSAValue | None:
    assert isinstance(op, special.PrngStateOp)
    if not batch.has(op.state):
        op.operands[1] = batch.zeros(shape(op.drawn))
        return None
    after = state_after(batch, _states(batch, op.state), prod(shape(op.drawn)))
    return layout.reshape(batch.b, after, _sizes(batch, op))


def _states(batch: Batch, state: SSAValue) -> SSAValue:
    return layout.reshape(batch.b, batch.values[state], (batch.size, prod(shape(state))))


RULES: Mapping[type[Operation], Rule] = {
    ContractionOp: _contraction,
    ScanOp: _scan,
    ew.IndexOp: _of_shape,
    special.GatherOp: _gather,
    special.ReshapeOp: _reshape,
    special.ScatterOp: _scatter,
    special.ShapeOp: _of_shape,
    special.SumToOp: _sum_to,
    special.PrngValueOp: _prng_value,
    special.PrngStateOp: _prng_state,
}
"""Rules of all ops but custom gradients and other elementwise ones."""
