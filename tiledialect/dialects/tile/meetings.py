"""Operands that an op promotes to one type, and the choices left open until types are known.

A number without a width of its own, such as 0.5 or a position, takes the width that it meets. Where
an op has only such numbers, or integers beside a real one, the IR of a program whose inputs have
no types yet leaves the element type of the result open (`!tile.any`), and `tile-specialize`
decides it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Operation, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.base import make_type, shape_of, tensor_type
from tiledialect.dialects.tile.combinations import COMPARED
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.custom_gradient import CustomGradientOp
from tiledialect.dialects.tile.elementwise.base import CompareOp
from tiledialect.dialects.tile.elementwise.ops import CastOp, ElementwiseOp, IdentOp, IndexOp
from tiledialect.dialects.tile.scan import ScanOp
from tiledialect.dialects.tile.special import (
    GatherOp,
    PrngValueOp,
    ReshapeOp,
    ScatterOp,
    ShapeOp,
    SumToOp,
)
from tiledialect.ir.names import with_type

MOVES = (ReshapeOp, SumToOp, GatherOp, ScatterOp, ScanOp, CustomGradientOp)
"""The ops whose result has the type of the first operand."""


@dataclass(frozen=True)
class Meeting:
    """Operands of an op that are promoted to one type."""

    op: Operation
    positions: tuple[int, ...]
    gives_result: bool = True
    """Whether the op's result is of that type; else the operands are only compared."""

    @property
    def values(self) -> tuple[SSAValue, ...]:
        """The operands."""
        return tuple(self.op.operands[k] for k in self.positions)

    @property
    def result(self) -> SSAValue | None:
        """The value of their type, if there is one."""
        return self.op.results[0] if self.gives_result else None


def meetings(op: Operation) -> Sequence[Meeting]:
    """The groups of operands of an op that meet in one type."""
    if isinstance(op, CastOp | IndexOp):
        return ()
    if isinstance(op, ElementwiseOp):
        count = len(op.operands)
        positions = tuple(range(count - len(op.values), count))
        return (Meeting(op, positions, not isinstance(op, CompareOp)),)
    if isinstance(op, ContractionOp):
        count = COMPARED.get(op.combination.data, 0)
        combined = tuple(range(count, len(op.inputs)))
        default = () if op.default is None else (len(op.operands) - 1,)
        groups = (Meeting(op, tuple(range(count)), False), Meeting(op, (*combined, *default)))
        return tuple(m for m in groups if m.positions)
    if isinstance(op, ScanOp) and op.start is not None:
        return (Meeting(op, (0, 1)),)
    if isinstance(op, MOVES):
        return (Meeting(op, (0,)),)
    return ()


def element_type(value: SSAValue) -> Attribute:
    """Element type of a tensor; the type of another value."""
    return getattr(value.type, "element_type", value.type)


def is_draw(value: SSAValue) -> bool:
    """Whether a value is random numbers as they are drawn, which any type of 32 bits holds."""
    while isinstance(value.owner, IdentOp | ReshapeOp):
        value = value.owner.operand
    return isinstance(value.owner, PrngValueOp)


def is_real_of_width(value: SSAValue) -> bool:
    """Whether a value holds reals of a type that is known, and not by itself alone."""
    t = element_type(value)
    return et.is_float(t) and t != et.real and not is_draw(value)


def lacks_width(value: SSAValue) -> bool:
    """Whether a value holds integers that have a type by themselves alone.

    These are numbers of the program's text, sizes, positions and bools.
    """
    t = element_type(value)
    return t in (et.index, i1) or isinstance(value.owner, IndexOp | ShapeOp)


def by_itself(meeting: Meeting) -> bool:
    """Whether no operand says the width of the result: it has one by itself alone."""
    result = meeting.result
    if result is None or is_draw(result):
        return False
    if et.is_float(element_type(result)):
        return not any(map(is_real_of_width, meeting.values))
    return element_type(result) != i1 and all(map(lacks_width, meeting.values))


def leave_open(op: Operation) -> None:
    """Leave the element type of an op's result open where it is one by itself alone."""
    for meeting in meetings(op):
        result = meeting.result
        if result is None or not by_itself(meeting) or et.is_weak(element_type(result)):
            continue
        opened = make_type(shape_of(tensor_type(result)), et.any_type)
        if isinstance(op, CustomGradientOp):
            with_type(op.cotangent, opened)
        with_type(result, opened)
