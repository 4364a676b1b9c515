"""Ops of the tensor dialect."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IntegerType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.constants import constant_of
from tiledialect.dialects.tile.elementwise.ops import ConstantOp
from tiledialect.dialects.tile.special import ReshapeOp
from tiledialect.errors import TileError
from tiledialect.index.expr import Access, IndexExpr
from tiledialect.ir.names import place_of
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.passes.convert.linalg.bodies import Body
from tiledialect.passes.convert.linalg.elements import (
    Element,
    Size,
    Space,
    Symbols,
    size_product,
    size_sum,
    sizes_of,
)
from tiledialect.passes.convert.linalg.elementwise import fill
from tiledialect.passes.convert.linalg.results import replace


def _space(op: Operation, sizes: Sequence[Size] = ()) -> Space:
    """A loop nest over the axes of a tensor."""
    builder = TensorBuilder(op, place_of(op))
    return Space(builder, {f"d{k}": size for k, size in enumerate(sizes)})


def _axes(rank: int) -> list[IndexExpr]:
    return [IndexExpr.of(f"d{k}") for k in range(rank)]


def _type(op: Operation) -> TensorType[Attribute]:
    t = op.results[0].type
    assert isinstance(t, TensorType)
    return t


def _mixed(static: DenseArrayBase[IntegerType], values: Sequence[SSAValue]) -> list[Size]:
    """Numbers, and values where they are not known."""
    given = iter(values)
    numbers = [int(n) for n in static.get_values()]
    return [next(given) if n == DYNAMIC_INDEX else n for n in numbers]


def _sized(t: TensorType[Attribute], values: Sequence[SSAValue]) -> list[Size]:
    """The sizes of a type, with values for the open ones."""
    given = iter(values)
    return [next(given) if n == DYNAMIC_INDEX else n for n in t.get_shape()]


def _move(
    space: Space,
    source: SSAValue,
    access: Access,
    output: Access,
    shape: Sequence[Size],
    default: SSAValue | None = None,
    symbols: Symbols | None = None,
) -> SSAValue:
    """A tensor of the elements of another, elsewhere of the default."""
    return space.contract(
        *(Aggregation.assign, Combination.none, output, shape, [Element(source, access)]),
        default=default,
        symbols=symbols,
    )


def _empty(op: Operation) -> SSAValue:
    assert isinstance(op, tensor.EmptyOp)
    space, t = _space(op), _type(op)
    zero = Element(space.builder.insert(ConstantOp.of(0, t.element_type)))
    return fill(space, zero, _sized(t, op.dynamic_sizes), t)


def _splat(op: Operation) -> SSAValue:
    assert isinstance(op, tensor.SplatOp)
    space = _space(op)
    element = Body(space, op).element(op.input)
    return fill(space, element, _sized(_type(op), op.dynamicSizes), _type(op))


def _from_elements(op: Operation) -> SSAValue:
    assert isinstance(op, tensor.FromElementsOp)
    space, t = _space(op), _type(op)
    body = Body(space, op)
    elements = [space.cast(body.element(v), t.element_type) for v in op.elements]
    if not t.get_shape():
        return space.at_loops(elements[0], ()).value if elements[0].access else elements[0].value
    made: SSAValue | None = None
    for place, element in enumerate(elements):
        output = (IndexExpr.of(place),)
        made = _move(space, element.value, element.access, output, [len(elements)], made)
    assert made is not None
    if len(t.get_shape()) == 1:
        return made
    return space.builder.insert(ReshapeOp.of(made, list(t.get_shape())))


def _extract_slice(op: Operation) -> SSAValue:
    assert isinstance(op, tensor.ExtractSliceOp)
    space, symbols = _space(op), Symbols()
    sizes = _mixed(op.static_sizes, op.sizes)
    kept = _kept_axes(sizes, _type(op).get_shape())
    names = iter(_axes(len(kept)))
    places = [next(names) if k in kept else IndexExpr() for k in range(len(sizes))]
    access = _sliced(symbols, places, op)
    shape = [sizes[k] for k in kept]
    return _move(space, op.source, access, tuple(_axes(len(kept))), shape, symbols=symbols)


def _insert_slice(op: Operation) -> SSAValue:
    assert isinstance(op, tensor.InsertSliceOp)
    space, symbols = _space(op), Symbols()
    sizes = _mixed(op.static_sizes, op.sizes)
    shape = shape_of(tensor_type(op.source)) or ()
    kept = _kept_axes(sizes, shape)
    names = iter(_axes(len(kept)))
    places = [next(names) if k in kept else IndexExpr() for k in range(len(sizes))]
    output = _sliced(symbols, places, op)
    whole = sizes_of(space.builder, op.dest)
    source = tuple(_axes(len(shape)))
    return _move(space, op.source, source, output, whole, op.dest, symbols)


def _sliced(
    symbols: Symbols,
    places: Sequence[IndexExpr],
    op: tensor.ExtractSliceOp | tensor.InsertSliceOp,
) -> Access:
    """The places of a slice in the whole tensor."""
    offsets = _mixed(op.static_offsets, op.offsets)
    strides = _mixed(op.static_strides, op.strides)
    return tuple(
        symbols.expr(offset) + symbols.expr(stride) * place
        for offset, stride, place in zip(offsets, strides, places, strict=True)
    )


def _kept_axes(sizes: Sequence[Size], shape: Sequence[int]) -> list[int]:
    """The axes of a slice that its type keeps: it may lack some of size 1."""
    kept: list[int] = []
    extra = len(sizes) - len(shape)
    for axis, size in enumerate(sizes):
        wanted = shape[len(kept)] if len(kept) < len(shape) else None
        if (extra and size == 1 and wanted != 1) or wanted is None:
            extra -= 1
        else:
            kept.append(axis)
    return kept


def _pad(op: Operation) -> SSAValue:
    assert isinstance(op, tensor.PadOp)
    space, symbols = _space(op), Symbols()
    low, high = _mixed(op.static_low, op.low), _mixed(op.static_high, op.high)
    sizes = sizes_of(space.builder, op.source)
    declared = _type(op).get_shape()
    shape = [
        n if n != DYNAMIC_INDEX else size_sum(space.builder, parts)
        for n, *parts in zip(declared, low, sizes, high, strict=True)
    ]
    axes = _axes(len(sizes))
    output = tuple(e + symbols.expr(n) for e, n in zip(axes, low, strict=True))
    inner = Space(space.builder, {f"d{k}": size for k, size in enumerate(shape)})
    body = Body(inner, op)
    for name, argument in zip(inner.ranges, op.region.block.args, strict=True):
        body.elements[argument] = body.position(name)
    yielded = op.region.block.last_op
    assert yielded is not None
    element = inner.cast(body.element(yielded.operands[0]), _type(op).element_type)
    number = constant_of(element.value)
    default = None
    if number is None or element.access:
        default = inner.place(element, tuple(axes), shape, _type(op).element_type, None)
    elif number.number != 0 or str(number.number).startswith("-"):
        default = element.value
    return _move(space, op.source, tuple(axes), output, shape, default, symbols)


def _concat(op: Operation) -> SSAValue:
    assert isinstance(op, tensor.ConcatOp)
    space, symbols = _space(op), Symbols()
    axis = op.dim.value.data
    sizes = [sizes_of(space.builder, v) for v in op.inputs]
    shape = [*sizes[0]]
    shape[axis] = size_sum(space.builder, [s[axis] for s in sizes])
    made: SSAValue | None = None
    for k, value in enumerate(op.inputs):
        axes = _axes(len(shape))
        output = [*axes]
        output[axis] = axes[axis] + symbols.expr(
            size_sum(space.builder, [s[axis] for s in sizes[:k]])
        )
        made = _move(space, value, tuple(axes), tuple(output), shape, made, symbols)
    assert made is not None
    return made


def _reshape(op: Operation) -> SSAValue:
    """A reshape to a known type, or to one whose open axes another op tells."""
    space, t = _space(op), _type(op)
    source = op.operands[0]
    sizes: list[Size] = [*t.get_shape()]
    if DYNAMIC_INDEX in sizes:
        sizes = _open_sizes(op, space)
    return space.builder.insert(ReshapeOp.of(source, sizes))


def _open_sizes(op: Operation, space: Space) -> list[Size]:
    if isinstance(op, tensor.ExpandShapeOp):
        return _mixed(op.static_output_shape, op.dynamic_output_shape)
    if isinstance(op, tensor.CollapseShapeOp):
        sizes = sizes_of(space.builder, op.src)
        groups = [[int(i.value.data) for i in group] for group in op.reassociation]
        return [size_product(space.builder, [sizes[k] for k in group]) for group in groups]
    raise TileError.at(op, f"{op.name} to a type of open size cannot be converted")


def _insert(op: Operation) -> SSAValue:
    assert isinstance(op, tensor.InsertOp)
    space, symbols = _space(op), Symbols()
    element = Body(space, op).element(op.scalar)
    element = space.cast(element, _type(op).element_type)
    output = tuple(symbols.expr(v) for v in op.indices)
    shape = sizes_of(space.builder, op.dest)
    return _move(space, element.value, element.access, output, shape, op.dest, symbols)


CONVERSIONS: Mapping[type[Operation], Callable[[Operation], SSAValue]] = {
    tensor.EmptyOp: _empty,
    tensor.SplatOp: _splat,
    tensor.FromElementsOp: _from_elements,
    tensor.ExtractSliceOp: _extract_slice,
    tensor.InsertSliceOp: _insert_slice,
    tensor.InsertOp: _insert,
    tensor.PadOp: _pad,
    tensor.ConcatOp: _concat,
    tensor.CollapseShapeOp: _reshape,
    tensor.ExpandShapeOp: _reshape,
    tensor.ReshapeOp: _reshape,
}
"""Conversion of each op; casts and sizes are taken as they are."""


class TensorPattern(RewritePattern):
    """Converts ops of the tensor dialect."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Convert an op on tensors."""
        convert = CONVERSIONS.get(type(op))
        if convert is not None:
            replace(op, [convert(op)], rewriter)
