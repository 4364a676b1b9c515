"""Making ops one after the other, from values that may be literals."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import FileLineColLoc, IndexType, IntAttr, IntegerAttr, StringAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from tiledialect.dialects.tile.elementwise.ops import (
    ELEMENTWISE_OPS,
    ConstantOp,
    ElementwiseOp,
    SizeOp,
)
from tiledialect.dialects.tile.meetings import leave_open
from tiledialect.errors import SourceSpan, TileError
from tiledialect.ir.names import set_place
from tiledialect.ir.size_arithmetic import SIGNED

from .parser import LARGEST_INTEGER

Value: TypeAlias = int | SSAValue
"""Value of a name or an expression: a dimension or a tensor."""
Size: TypeAlias = int | SSAValue
"""A value that is a dimension: a literal, or of type `index`."""

ELEMENTWISE: dict[str, type[ElementwiseOp]] = {
    op.name.removeprefix("tile."): op for op in ELEMENTWISE_OPS if issubclass(op, ElementwiseOp)
}
ELEMENTWISE["cond"] = ELEMENTWISE["select"]


def is_size(value: Value) -> bool:
    """Whether ``value`` is a dimension."""
    return isinstance(value, int) or isinstance(value.type, IndexType)


class Appender:
    """Appends ops to a block."""

    def __init__(self, block: Block, filename: str):
        self.block = block
        self.filename = StringAttr(filename)
        self.constants: dict[int, SSAValue] = {}
        self.place: SourceSpan | None = None
        """Location of all ops, if it is not in the text of their own statement."""

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """Append to another block for a while."""
        outer, constants = self.block, self.constants
        self.block, self.constants = block, dict(constants)
        yield
        self.block, self.constants = outer, constants

    @contextmanager
    def at(self, place: SourceSpan) -> Generator[None]:
        """Say for a while that everything comes from one place, if that is not said already."""
        outer, self.place = self.place, self.place or place
        yield
        self.place = outer

    def add(self, op: Operation, span: SourceSpan) -> SSAValue:
        """Append an op for the text at ``span``; the value is its first result."""
        self.locate(op, span)
        leave_open(op)
        self.block.add_op(op)
        return op.results[0]

    def locate(self, op: Operation, span: SourceSpan) -> None:
        """Note in ``op`` where it comes from."""
        span = self.place or span
        place = FileLineColLoc(self.filename, IntAttr(span.line), IntAttr(span.column))
        set_place(op, place)

    def make(self, make: Callable[[], Operation], span: SourceSpan) -> SSAValue:
        """Append the op that ``make`` builds; its refusals are errors at ``span``."""
        try:
            return self.add(make(), span)
        except VerifyException as error:
            raise TileError(str(error), self.place or span) from None

    def tensor(self, value: Value, span: SourceSpan) -> SSAValue:
        """``value``, a tensor or a dimension, as a tensor."""
        if isinstance(value, int):
            return self.add(ConstantOp.of(value), span)
        return self.add(SizeOp.of(value), span) if is_size(value) else value

    def size(self, value: Size, span: SourceSpan) -> SSAValue:
        """``value`` as an operand of type `index`."""
        if isinstance(value, SSAValue):
            return value
        if value not in self.constants:
            constant = arith.ConstantOp(IntegerAttr(value, IndexType()))
            self.constants[value] = self.add(constant, span)
        return self.constants[value]

    def elementwise(self, function: str, arguments: list[Value], span: SourceSpan) -> SSAValue:
        """Append the elementwise op of this name."""
        operands = [self.tensor(argument, span) for argument in arguments]
        return self.make(lambda: ELEMENTWISE[function].make(*operands), span)


SIZE_OPS: dict[str, type[Operation]] = {
    "add": arith.AddiOp,
    "sub": arith.SubiOp,
    "mul": arith.MuliOp,
    "div": arith.DivSIOp,
    "rem": arith.RemSIOp,
    "max": arith.MaxSIOp,
    "min": arith.MinSIOp,
}


def size_arithmetic(
    appender: Appender, function: str, arguments: list[Size], span: SourceSpan
) -> Size:
    """A function of dimensions, computed at once where they are literals."""
    match function, arguments:
        case "neg", [a]:
            return size_arithmetic(appender, "sub", [0, a], span)
        case (("div" | "rem"), [_, 0]):
            raise TileError("a dimension is divided by 0 here", span)
        case _, [a, b]:
            op = SIZE_OPS[function]
        case _:
            raise AssertionError(f"{function} is not a function of dimensions")
    if isinstance(a, int) and isinstance(b, int):
        result = SIGNED[op](a, b)
        if abs(result) > LARGEST_INTEGER:
            raise TileError("the number does not fit 64 bits", span)
        # A quotient cut off to 0 stays, so that one can warn where a tensor is multiplied with it.
        if function != "div" or result or not a:
            return result
    operands = [appender.size(v, span) for v in (a, b)]
    return appender.add(op.create(operands=operands, result_types=[IndexType()]), span)
