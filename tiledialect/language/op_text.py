"""Tile text of an op, from the texts of its operands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, StringAttr
from xdsl.ir import Operation, SSAValue

from tiledialect.dialects.discardable import ASSERTION
from tiledialect.dialects.tile import special as ops
from tiledialect.dialects.tile.base import TileOp, shape_of, tensor_type
from tiledialect.dialects.tile.constants import constant_integer
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.custom_gradient import CustomGradientOp
from tiledialect.dialects.tile.element_types import is_weak
from tiledialect.dialects.tile.elementwise.base import CompareOp
from tiledialect.dialects.tile.elementwise.ops import (
    CastOp,
    ConstantOp,
    ElementwiseOp,
    IdentOp,
    IndexOp,
    SelectOp,
    SizeOp,
)
from tiledialect.errors import TileError

from .append import SIZE_OPS
from .special import CASTS
from .text import BINARY, PREFIX, Names, Text, binary, call, literal, prefix, select

SIZE_FUNCTIONS = {"arith.maxsi": "max", "arith.minsi": "min"}

CAST_OF = {
    element_type: (function, str(width))
    for function, types in CASTS.items()
    for width, element_type in types.items()
}
"""The function that casts to each element type, and the width that it takes."""


@dataclass
class Printed:
    """Printed part of a function."""

    names: Names = field(default_factory=Names)
    named: dict[SSAValue, str] = field(default_factory=dict[SSAValue, str])
    """The names of inputs and of the values that are statements."""
    texts: dict[SSAValue, Text] = field(default_factory=dict[SSAValue, Text])
    """The text of every value so far."""
    of_sizes: set[SSAValue] = field(default_factory=set[SSAValue])
    """The tensors whose text Tile reads as a dimension."""
    steps: dict[SSAValue, str] = field(default_factory=dict[SSAValue, str])
    """For random numbers, the name of the step that draws them."""
    dims: dict[tuple[SSAValue, int], str] = field(default_factory=dict[tuple[SSAValue, int], str])
    lines: list[str] = field(default_factory=list[str])

    def operands(self, op: Operation) -> list[Text]:
        """The texts of an op's operands."""
        return [self.texts[value] for value in op.operands]

    def sizes(self, shape: tuple[int, ...], sizes: Iterable[SSAValue]) -> list[Text]:
        """The sizes of a shape: numbers, or the text of the values that give the open ones."""
        given = iter(sizes)
        return [literal(n) if n != DYNAMIC_INDEX else self.texts[next(given)] for n in shape]


def text_of(printed: Printed, op: Operation) -> Text:
    """The text of an op's result."""
    for kind, text in EXPRESSIONS.items():
        if isinstance(op, kind):
            return text(printed, op)
    raise TileError.at(op, f"Tile has no form for {op.name}")


def is_operand(value: SSAValue) -> bool:
    """Whether a contraction reads ``value``."""
    users = (use.operation for use in value.uses)
    return any(isinstance(op, ContractionOp) and value in op.inputs for op in users)


def _arithmetic(printed: Printed, op: Operation) -> Text:
    """Arithmetic on dimensions."""
    operands = printed.operands(op)
    if isinstance(assertion := op.attributes.get(ASSERTION), StringAttr):
        return call(f"assert_{assertion.data}", operands[1])
    if op.name in BINARY:
        return binary(op.name, *operands)
    return call(SIZE_FUNCTIONS[op.name], *operands)


def _index_constant(printed: Printed, op: arith.ConstantOp) -> Text:
    """A number among dimensions."""
    if not isinstance(op.value, IntegerAttr):
        raise TileError.at(op, f"Tile has no form for {op.value}")
    return literal(op.value.value.data)


def _dim(printed: Printed, op: tensor.DimOp) -> Text:
    """Size of an axis: a name in the header, or the size given to a contraction."""
    axis = constant_integer(op.index)
    if axis is not None and (op.source, axis) in printed.dims:
        return Text(printed.dims[op.source, axis])
    source = op.source.owner
    if axis is not None and isinstance(source, ContractionOp):
        shape = shape_of(tensor_type(source.result)) or ()
        return printed.sizes(shape, source.sizes)[axis]
    if axis is None:
        raise TileError.at(op, "Tile has no form for a dimension that is not known")
    return call("dim", printed.texts[op.source], axis)


def _constant(printed: Printed, op: ConstantOp) -> Text:
    """A number; with a cast if it is of a type of its own."""
    number = literal(op.number)
    element_type = tensor_type(op.result).element_type
    if is_weak(element_type) and isinstance(op.number, int) and is_operand(op.result):
        # A name for a bare integer would be one for a dimension.
        return call("as_int", number, 32)
    return number if is_weak(element_type) else _cast_to(op, number)


def _size(printed: Printed, op: SizeOp) -> Text:
    """A dimension as a number."""
    return printed.texts[op.size]


def _elementwise(printed: Printed, op: ElementwiseOp) -> Text:
    """An operator or a function."""
    operands = printed.operands(op)
    if op.name in PREFIX:
        return prefix(PREFIX[op.name], *operands)
    if op.name not in BINARY:
        return call(op.name.removeprefix("tile."), *operands)
    text = binary(op.name, *operands)
    if isinstance(op, CompareOp) and printed.of_sizes.issuperset(op.operands):
        # Comparisons of dimensions are dimensions, 1 or 0.
        return call("as_bool", text)
    return text


def _select(printed: Printed, op: SelectOp) -> Text:
    """A choice."""
    return select(*printed.operands(op))


def _ident(printed: Printed, op: IdentOp) -> Text:
    """A copy."""
    return call("ident", printed.texts[op.operand])


def _cast(printed: Printed, op: CastOp) -> Text:
    """A cast."""
    return _cast_to(op, printed.texts[op.operand])


def _position(printed: Printed, op: IndexOp) -> Text:
    """A position along an axis."""
    return call("index", printed.texts[op.operand], op.axis.value.data)


def _stop_gradient(printed: Printed, op: CustomGradientOp) -> Text:
    """A custom gradient by nothing."""
    return call("stop_gradient", printed.texts[op.value])


def _reshape(printed: Printed, op: ops.ReshapeOp) -> Text:
    """A reshape."""
    shape = shape_of(tensor_type(op.result)) or ()
    return call("reshape", printed.texts[op.operand], *printed.sizes(shape, op.sizes))


def _special(printed: Printed, op: TileOp) -> Text:
    """A function of tensors."""
    if isinstance(op, ops.ScatterOp) and op.parts is not None:
        raise TileError.at(op, "Tile has no form for a scatter in parts")
    return call(op.name.removeprefix("tile."), *printed.operands(op))


def _prng_value(printed: Printed, op: ops.PrngValueOp) -> Text:
    """Random numbers; the step that draws them is a statement of its own."""
    step = printed.names.reserve("Step")
    printed.steps[op.result] = step
    shape = shape_of(tensor_type(op.result)) or ()
    drawn = call("prng_step", printed.texts[op.operand], *printed.sizes(shape, op.sizes))
    printed.lines.append(f"{step} = {drawn};")
    return call("prng_value", step)


def _prng_state(printed: Printed, op: ops.PrngStateOp) -> Text:
    """The state after a step."""
    drawn = op.drawn.owner
    if not isinstance(drawn, ops.PrngValueOp) or drawn.operand != op.state:
        raise TileError.at(op, "Tile has no form for a random state that is not after a step")
    return call("prng_state", printed.steps[op.drawn])


def _cast_to(op: CastOp | ConstantOp, value: Text) -> Text:
    """A value with a cast to an op's type."""
    element_type = str(tensor_type(op.result).element_type)
    if element_type == "i1":
        return call("as_bool", value)
    if element_type not in CAST_OF:
        raise TileError.at(op, f"Tile has no form for a cast to {element_type}")
    function, width = CAST_OF[element_type]
    return call(function, value, width)


EXPRESSIONS: dict[type[Operation], Callable[[Printed, Any], Text]] = {
    arith.ConstantOp: _index_constant,
    tensor.DimOp: _dim,
    **dict.fromkeys(SIZE_OPS.values(), _arithmetic),
    ConstantOp: _constant,
    SizeOp: _size,
    SelectOp: _select,
    IdentOp: _ident,
    CastOp: _cast,
    IndexOp: _position,
    ElementwiseOp: _elementwise,
    ops.ReshapeOp: _reshape,
    CustomGradientOp: _stop_gradient,
    ops.PrngValueOp: _prng_value,
    ops.PrngStateOp: _prng_state,
    **dict.fromkeys((ops.GatherOp, ops.ScatterOp, ops.ShapeOp, ops.SumToOp), _special),
}
"""Writers of the results by kind of op; the first kind that fits counts."""
