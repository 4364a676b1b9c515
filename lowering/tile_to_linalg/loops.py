"""Scans and scatters: loops of scf that carry tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, TensorType
from xdsl.ir import Attribute, Block, Region, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.aggregation import accumulator_type, neutral
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.scan import ScanOp
from tiledialect.dialects.tile.special import ScatterOp
from tiledialect.errors import TileError
from tiledialect.lowering.tile_to_linalg.nests import LinalgBuilder, Point
from tiledialect.lowering.tile_to_linalg.values import Values
from tiledialect.lowering.tile_to_nest.accumulators import AGGREGATE
from tiledialect.lowering.tile_to_nest.elements import static_shape

INDEX = IndexType()
Step = Callable[[Values, SSAValue, Sequence[SSAValue]], Sequence[SSAValue]]


def loop(values: Values, size: int, carried: Sequence[SSAValue], step: Step) -> list[SSAValue]:
    """The tensors that a loop carries, at its end."""
    linalg = values.linalg
    first, last, stride = (linalg.number(n) for n in (0, size, 1))
    block = Block(arg_types=[INDEX, *(v.type for v in carried)])
    inner = Values(linalg.at(block), values.made)
    results = step(inner, block.args[0], block.args[1:])
    block.add_op(scf.YieldOp(*results))
    made = scf.ForOp(first, last, stride, list(carried), Region(block))
    linalg.builder.insert(made)
    return list(made.results)


def _slice(linalg: LinalgBuilder, value: SSAValue, places: Sequence[SSAValue | None]) -> SSAValue:
    """The part of a tensor at places along some of its axes, without these axes."""
    shape = shape_of(tensor_type(value)) or ()
    kept = [n for n, place in zip(shape, places, strict=True) if place is None]
    made = TensorType(tensor_type(value).element_type, kept)
    offsets: list[SSAValue | int] = [0 if place is None else place for place in places]
    sizes = [n if place is None else 1 for place, n in zip(places, shape, strict=True)]
    return linalg.emit(tensor.ExtractSliceOp(value, offsets, sizes, [1] * len(shape), made))


def _with_slice(
    linalg: LinalgBuilder, part: SSAValue, whole: SSAValue, places: Sequence[SSAValue | None]
) -> SSAValue:
    """A tensor with another part at places along some of its axes."""
    shape = shape_of(tensor_type(whole)) or ()
    offsets = [0 if place is None else DYNAMIC_INDEX for place in places]
    sizes = [n if place is None else 1 for place, n in zip(places, shape, strict=True)]
    given = [p for p in places if p is not None]
    steps = [1] * len(shape)
    return linalg.emit(tensor.InsertSliceOp.get(part, whole, sizes, offsets, steps, given))


@dataclass(frozen=True)
class _Scan:
    """Parts of a scan: the source, the initial values of blocks, and the keys of runs."""

    op: ScanOp
    t: Attribute
    source: SSAValue
    start: SSAValue | None
    keys: SSAValue | None

    def at(self, values: Values, tensor_: SSAValue, place: SSAValue) -> SSAValue:
        """The part of a tensor at a place along the axis."""
        return _slice(values.linalg, tensor_, self.places(place))

    def places(self, place: SSAValue) -> list[SSAValue | None]:
        """A place along the axis, none along the others."""
        rank = len(static_shape(self.op.operand))
        return [place if k == self.op.along else None for k in range(rank)]

    def step(
        self, values: Values, number: SSAValue, carried: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        """The aggregates so far, and the result with them at the next place."""
        linalg, op = values.linalg, self.op
        before, made = carried
        place = number
        if op.reverse is not None:
            place = linalg.emit(arith.SubiOp(linalg.number(op.size - 1), number))
        operands = [self.at(values, self.source, place)]
        is_begin = None
        if op.block is not None or self.start is not None:
            block, is_begin = self._block(linalg, place)
            if self.start is not None:
                operands.append(self.at(values, self.start, block))
        if self.keys is not None:
            operands += self._keys(values, self.keys, place)

        def body(point: Point, elements: Sequence[SSAValue]) -> SSAValue:
            element, *others, total = elements
            s, aggregation = point.scalars, op.aggregation.data
            first = s.constant(neutral(aggregation, self.t), self.t)
            if is_begin is not None:
                total = s.select(is_begin, others[0] if self.start is not None else first, total)
            if op.keys is not None:
                kind = tensor_type(op.keys).element_type
                total = s.select(s.compare("eq", others[0], others[1], kind), total, first)
            return AGGREGATE[aggregation](s, self.t, total, element)

        total = values.updated(before, operands, body)
        return [total, _with_slice(linalg, total, made, self.places(place))]

    def _block(self, linalg: LinalgBuilder, place: SSAValue) -> tuple[SSAValue, SSAValue]:
        """The block of a place, and whether it begins there."""
        op = self.op
        every = op.block or op.size
        size = linalg.number(every)
        block = linalg.emit(arith.DivUIOp(place, size))
        edge = linalg.emit(arith.RemUIOp(place, size))
        wanted = linalg.number(0 if op.reverse is None else every - 1)
        is_begin = linalg.emit(arith.CmpiOp(edge, wanted, "eq"))
        if op.reverse is not None:
            last = linalg.emit(arith.CmpiOp(place, linalg.number(op.size - 1), "eq"))
            is_begin = linalg.emit(arith.OrIOp(is_begin, last))
        return block, is_begin

    def _keys(self, values: Values, keys: SSAValue, place: SSAValue) -> list[SSAValue]:
        """The keys of a place and of the one before it; the first has its own."""
        linalg = values.linalg
        step = linalg.number(1 if self.op.reverse is not None else -1)
        other = linalg.emit(arith.AddiOp(place, step))
        other = linalg.emit(arith.MaxSIOp(other, linalg.number(0)))
        other = linalg.emit(arith.MinSIOp(other, linalg.number(self.op.size - 1)))
        return [self.at(values, keys, p) for p in (place, other)]


def scan(values: Values, op: ScanOp) -> SSAValue:
    """The running aggregates along an axis."""
    shape, t = static_shape(op.operand), accumulator_type(op)
    linalg = values.linalg
    parts = _Scan(
        op,
        t,
        values.converted(op.operand, t),
        None if op.start is None else values.converted(op.start, t),
        None if op.keys is None else values.of(op.keys),
    )
    rest = [n for k, n in enumerate(shape) if k != op.along]
    begin = linalg.filled(neutral(op.aggregation.data, t), rest, t)
    whole = linalg.empty(shape, et.storage_type(t))
    _, made = loop(values, op.size, [begin, whole], parts.step)
    return values.with_type(made, t, tensor_type(op.result).element_type)


def scatter(values: Values, op: ScatterOp) -> SSAValue:
    """The sums of rows at the places that indices name."""
    if op.parts is not None:
        raise TileError.at(op, "a tile.scatter in parts has no counterpart in linalg")
    t, shape = tensor_type(op.result), static_shape(op.result)
    kind = et.CONCRETE["f32"] if t.element_type in et.SHORT_FLOATS else t.element_type
    indices = shape_of(tensor_type(op.indices)) or ()
    count, row = prod(indices), prod(shape[1:])
    linalg = values.linalg
    places = linalg.reshaped(values.converted(op.indices, et.CONCRETE["i64"]), [count])
    is_number = not (shape_of(tensor_type(op.updates)) or ()) and bool(indices)
    updates = values.converted(op.updates, kind)
    if not is_number:
        updates = linalg.reshaped(updates, [count, row])
    start = linalg.filled(0, [shape[0], row], kind)

    def step(inner: Values, number: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
        builder, (whole,) = inner.linalg, carried
        place = builder.emit(tensor.ExtractOp(places, [number], et.CONCRETE["i64"]))
        position = builder.emit(arith.IndexCastOp(place, INDEX))
        # A negative place is a large one when read without a sign.
        inside = builder.emit(arith.CmpiOp(position, builder.number(shape[0]), "ult"))
        added, left = Block(), Block()
        there = Values(builder.at(added), values.made)
        old = _slice(there.linalg, whole, [position, None])
        new = updates if is_number else _slice(there.linalg, updates, [number, None])
        total = there.updated(old, [new], lambda point, v: point.scalars.apply("tile.add", v, kind))
        written = _with_slice(there.linalg, total, whole, [position, None])
        added.add_op(scf.YieldOp(written))
        left.add_op(scf.YieldOp(whole))
        return [builder.emit(scf.IfOp(inside, [whole.type], Region(added), Region(left)))]

    (made,) = loop(values, count, [start], step)
    return values.with_type(linalg.reshaped(made, shape), kind, t.element_type)
