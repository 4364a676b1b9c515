"""Scans and scatters: loops of scf that carry tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, TensorType
from xdsl.ir import Block, Region, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.aggregation import accumulator_type, neutral
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.scan import ScanOp
from tiledialect.dialects.tile.special import ScatterOp
from tiledialect.errors import TileError
from tiledialect.lowering.tile_to_linalg.nests import LinalgBuilder
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


def scan(values: Values, op: ScanOp) -> SSAValue:
    """The running aggregates along an axis."""
    shape, t = shape_of(tensor_type(op.operand)) or (), accumulator_type(op)
    result = tensor_type(op.result).element_type
    axis, linalg = op.along, values.linalg
    source = values.converted(op.operand, t)
    rest = [n for k, n in enumerate(shape) if k != axis]
    begin = linalg.filled(neutral(op.aggregation.data, t), rest, t)
    start = None if op.start is None else values.converted(op.start, t)
    keys = None if op.keys is None else values.of(op.keys)
    whole = linalg.empty(shape, et.storage_type(t))
    every = op.block or op.size

    def at(inner: Values, value: SSAValue, place: SSAValue) -> SSAValue:
        return _slice(
            inner.linalg, value, [place if k == axis else None for k in range(len(shape))]
        )

    def step(inner: Values, number: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
        builder = inner.linalg
        place = number
        if op.reverse is not None:
            place = builder.emit(arith.SubiOp(builder.number(op.size - 1), number))
        before, made = carried
        element = at(inner, source, place)
        if op.block is not None or start is not None:
            before = _restarted(inner, before, place, start if start is not None else begin)
        if keys is not None:
            before = _unless_new(inner, before, number, place)

        total = inner.elementwise(
            *([before, element], begin.type),
            lambda point, v: AGGREGATE[op.aggregation.data](point.scalars, t, v[0], v[1]),
        )
        places = [place if k == axis else None for k in range(len(shape))]
        return [total, _with_slice(builder, total, made, places)]

    def _restarted(inner: Values, before: SSAValue, place: SSAValue, first: SSAValue) -> SSAValue:
        """The initial value at the begin of a block, else what came before."""
        builder = inner.linalg
        size = builder.number(every)
        block = builder.emit(arith.DivUIOp(place, size))
        if start is not None:
            first = at(inner, start, block)
        edge = builder.emit(arith.RemUIOp(place, size))
        wanted = builder.number(0 if op.reverse is None else every - 1)
        is_begin = builder.emit(arith.CmpiOp(edge, wanted, "eq"))
        if op.reverse is not None:
            last = builder.emit(arith.CmpiOp(place, builder.number(op.size - 1), "eq"))
            is_begin = builder.emit(arith.OrIOp(is_begin, last))
        return inner.elementwise(
            *([first, before], before.type),
            lambda point, v: point.scalars.select(is_begin, v[0], v[1]),
        )

    def _unless_new(inner: Values, before: SSAValue, number: SSAValue, place: SSAValue) -> SSAValue:
        """What came before, where the key is that of the element before; else the neutral."""
        assert keys is not None and op.keys is not None
        builder, kind = inner.linalg, tensor_type(op.keys).element_type
        step_ = builder.number(1 if op.reverse is not None else -1)
        other = builder.emit(arith.AddiOp(place, step_))
        limit = builder.number(op.size - 1)
        other = builder.emit(
            arith.MinSIOp(builder.emit(arith.MaxSIOp(other, builder.number(0))), limit)
        )
        pair = [at(inner, keys, place), at(inner, keys, other)]
        return inner.elementwise(
            *([*pair, before, begin], before.type),
            lambda point, v: point.scalars.select(
                point.scalars.compare("eq", v[0], v[1], kind), v[2], v[3]
            ),
        )

    _, made = loop(values, op.size, [begin, whole], step)
    return values.with_type(made, t, result)


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
        total = there.elementwise(
            [old, new], old.type, lambda point, v: point.scalars.apply("tile.add", v, kind)
        )
        written = _with_slice(there.linalg, total, whole, [position, None])
        added.add_op(scf.YieldOp(written))
        left.add_op(scf.YieldOp(whole))
        return [builder.emit(scf.IfOp(inside, [whole.type], Region(added), Region(left)))]

    (made,) = loop(values, count, [start], step)
    return values.with_type(linalg.reshaped(made, shape), kind, t.element_type)
