"""Elements of tile ops in a nest: the result of an op at given coordinates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, i32, i64
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from tiledialect.dialects.nest.indexed import ALWAYS
from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.base import Shape, shape_of, tensor_type
from tiledialect.dialects.tile.elementwise.ops import (
    CastOp,
    ConstantOp,
    ElementwiseOp,
    IndexOp,
    SelectOp,
)
from tiledialect.dialects.tile.special import GatherOp, PrngStateOp, PrngValueOp, ShapeOp
from tiledialect.errors import TileError
from tiledialect.index.expr import Range
from tiledialect.index.integer.expressions import Condition, Expr, floordiv, mod
from tiledialect.lowering.nest.utils.builder import NestBuilder
from tiledialect.lowering.tile_to_nest.philox import philox
from tiledialect.rounding import ceil_div

Coordinates = tuple[Expr, ...]


def static_shape(value: SSAValue) -> Shape:
    """Shape of a tensor, which must be static."""
    shape = shape_of(tensor_type(value))
    assert shape is not None
    return shape


def element_type(value: SSAValue) -> Attribute:
    """Element type of a tensor."""
    return tensor_type(value).element_type


def linear(coordinates: Sequence[Expr], shape: Sequence[int]) -> Expr:
    """Row-major position of an element."""
    total = Expr()
    for coordinate, size in zip(coordinates, shape, strict=True):
        total = total * size + coordinate
    return total


@dataclass
class Elements:
    """Emits elements of a kernel's tensors; emitted ones are reused at the same coordinates."""

    nest: NestBuilder
    memory: Callable[[SSAValue], SSAValue]
    """Buffer of a tensor; a TileError if it is not in memory."""
    coordinates: Coordinates
    """Coordinates of the kernel in its output."""
    condition: Condition = ALWAYS
    """Condition of all loads; elsewhere the elements are computed from zeros."""
    known: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Elements at ``coordinates`` that are computed already."""

    def at(self, value: SSAValue) -> SSAValue:
        """Element of ``value`` at the kernel's coordinates, broadcast as NumPy does."""
        # A long chain would be too deep a recursion.
        begun = [self._making(value)]
        while begun:
            if (needed := next(begun[-1], None)) is not None:
                begun.append(self._making(needed))
            else:
                begun.pop()
        return self.known[value]

    def _making(self, value: SSAValue) -> Iterator[SSAValue]:
        """Compute an element; yield the operands that must be computed first, one by one."""
        if value in self.known:
            return
        owner = value.owner
        if isinstance(value, BlockArgument):
            element = self.load(value, self.broadcast(static_shape(value)))
        elif isinstance(owner, ElementwiseOp) and type(owner) not in SPECIAL:
            types, operands = _types_taken(owner), list[SSAValue]()
            for operand, t in zip(owner.operands, types, strict=True):
                if not isinstance(operand.owner, ConstantOp):
                    yield operand
                operands.append(self.as_type(operand, t))
            element = self._apply(owner, operands, types[0])
        else:
            assert isinstance(owner, Operation)
            element = self._compute(owner)
        if element.name_hint is None:
            element.name_hint = value.name_hint
        self.known[value] = element

    def as_type(self, value: SSAValue, t: Attribute) -> SSAValue:
        """Element of ``value``, converted to element type ``t``."""
        if isinstance(value.owner, ConstantOp):
            return self.nest.scalars.constant(value.owner.number, t)
        return self.nest.scalars.convert(self.at(value), element_type(value), t)

    def load(self, value: SSAValue, coordinates: Sequence[Expr]) -> SSAValue:
        """Load the element of a tensor in memory."""
        return self.nest.load(self.memory(value), coordinates, self.condition)

    def broadcast(self, shape: Shape) -> Coordinates:
        """Coordinates of the element in a tensor of a shape, as NumPy broadcasts."""
        aligned = self.coordinates[len(self.coordinates) - len(shape) :]
        return tuple(Expr() if size == 1 else c for c, size in zip(aligned, shape, strict=True))

    def _apply(self, op: ElementwiseOp, operands: Sequence[SSAValue], t: Attribute) -> SSAValue:
        """Apply an op to elements of its operand types, the first one ``t``."""
        match op:
            case SelectOp():
                return self.nest.scalars.select(*operands)
            case CastOp():
                return operands[0]
            case _:
                return self.nest.scalars.apply(op.name, operands, t)

    def _compute(self, op: Operation) -> SSAValue:
        """Compute the element of an op that is no function of its operands' elements alone."""
        if (compute := SPECIAL.get(type(op))) is not None:
            return compute(self, op)
        raise TileError.at(op, f"{op.name} cannot be part of this kernel")


def _types_taken(op: ElementwiseOp) -> Sequence[Attribute]:
    """Element types to which the operands of an op are converted."""
    match op:
        case SelectOp():
            t = element_type(op.result)
            return et.CONCRETE["i1"], t, t
        case CastOp():
            return (element_type(op.result),)
        case _:
            return [op.operand_type()] * len(op.operands)


def _constant(elements: Elements, op: Operation) -> SSAValue:
    assert isinstance(op, ConstantOp)
    return elements.nest.scalars.constant(op.number, element_type(op.result))


def _index(elements: Elements, op: Operation) -> SSAValue:
    assert isinstance(op, IndexOp)
    return _as_i32(elements, elements.broadcast(static_shape(op.res))[op.axis.value.data])


def _as_i32(elements: Elements, expr: Expr) -> SSAValue:
    return elements.nest.emit(arith.IndexCastOp(elements.nest.index(expr), i32))


def _gather(elements: Elements, op: Operation) -> SSAValue:
    assert isinstance(op, GatherOp)
    nest, rank = elements.nest, len(static_shape(op.indices))
    if isinstance(op.indices.owner, ConstantOp):
        number = int(op.indices.owner.number)
        position = Expr.const(min(max(number, 0), static_shape(op.tensor)[0] - 1))
    else:
        index = elements.load(op.indices, elements.coordinates[:rank])
        position = _clamped(nest, index, element_type(op.indices), static_shape(op.tensor)[0])
    return elements.load(op.tensor, (position, *elements.coordinates[rank:]))


def _clamped(nest: NestBuilder, value: SSAValue, t: Attribute, size: int) -> Expr:
    """Integer of element type ``t`` clamped to an axis."""
    wide = {"ui64": "ui64", "i64": "i64", "ui32": "i64"}.get(str(t), "i32")
    compute_type = et.CONCRETE["i64" if wide == "i32" and size > 2**31 else wide]
    scalars, value = nest.scalars, nest.scalars.convert(value, t, compute_type)
    for name, end in (("tile.min", size - 1), ("tile.max", 0)):
        value = scalars.apply(name, [value, scalars.constant(end, compute_type)], compute_type)
    position = scalars.emit(arith.IndexCastOp(value, IndexType()))
    return nest.named(position, "position", Range(0, size))


def _shape(elements: Elements, op: Operation) -> SSAValue:
    assert isinstance(op, ShapeOp)
    scalars, (axis,) = elements.nest.scalars, elements.coordinates
    sizes = static_shape(op.operand)
    result = scalars.constant(sizes[-1] if sizes else 0, i32)
    for k, size in reversed(list(enumerate(sizes[:-1]))):
        here = elements.nest.less(axis, k + 1)
        result = scalars.select(here, scalars.constant(size, i32), result)
    return result


def _state_words(elements: Elements, state: SSAValue, count: int) -> list[SSAValue]:
    """First words of a random state, in row-major order."""
    words: list[SSAValue] = []
    for k in range(count):
        coordinates: list[Expr] = []
        for size in reversed(static_shape(state)):
            k, digit = divmod(k, size)
            coordinates.insert(0, Expr.const(digit))
        words.append(elements.load(state, coordinates))
    return words


def _prng_value(elements: Elements, op: Operation) -> SSAValue:
    assert isinstance(op, PrngValueOp)
    nest, scalars = elements.nest, elements.nest.scalars
    words = _state_words(elements, op.operand, 4)
    number = linear(elements.coordinates, static_shape(op.result))
    block = scalars.emit(arith.IndexCastOp(nest.index(floordiv(number, 4)), i64))
    low, high = _add_to_counter(elements, words[2], words[3], block)
    outputs = philox(scalars, (words[0], words[1]), (low, high))
    lane = mod(number, 4)
    result = outputs[3]
    for k in (2, 1, 0):
        result = scalars.select(nest.less(lane, k + 1), outputs[k], result)
    top = scalars.emit(arith.ShRUIOp(result, scalars.constant(8, i32)))
    real = scalars.convert(top, et.CONCRETE["ui32"], et.CONCRETE["f32"])
    return scalars.emit(arith.MulfOp(real, scalars.constant(2.0**-24, et.CONCRETE["f32"])))


def _add_to_counter(
    elements: Elements, low: SSAValue, high: SSAValue, blocks: SSAValue
) -> tuple[SSAValue, SSAValue]:
    """Advance a 64-bit counter in two words by a number of blocks."""
    scalars = elements.nest.scalars
    ui32, ui64 = et.CONCRETE["ui32"], et.CONCRETE["ui64"]
    shift = scalars.constant(32, ui64)
    wide_low, wide_high = (scalars.convert(w, ui32, ui64) for w in (low, high))
    counter = scalars.emit(arith.OrIOp(wide_low, scalars.emit(arith.ShLIOp(wide_high, shift))))
    counter = scalars.emit(arith.AddiOp(counter, blocks))
    top = scalars.emit(arith.ShRUIOp(counter, shift))
    return scalars.convert(counter, ui64, ui32), scalars.convert(top, ui64, ui32)


def _prng_state(elements: Elements, op: Operation) -> SSAValue:
    assert isinstance(op, PrngStateOp)
    nest, scalars = elements.nest, elements.nest.scalars
    blocks = ceil_div(prod(static_shape(op.drawn)), 4)
    old = elements.at(op.state)
    words = _state_words(elements, op.state, 4)
    counter = _add_to_counter(elements, words[2], words[3], scalars.constant(blocks, i64))
    number = linear(elements.coordinates, static_shape(op.state))
    result = old
    for position, word in ((2, counter[0]), (3, counter[1])):
        here = scalars.emit(
            arith.CmpiOp(nest.index(number), nest.index(Expr.const(position)), "eq")
        )
        result = scalars.select(here, word, result)
    return result


SPECIAL: dict[type[Operation], Callable[[Elements, Operation], SSAValue]] = {
    ConstantOp: _constant,
    IndexOp: _index,
    GatherOp: _gather,
    ShapeOp: _shape,
    PrngValueOp: _prng_value,
    PrngStateOp: _prng_state,
}
"""Ops whose element is not a function of their operands' elements."""
