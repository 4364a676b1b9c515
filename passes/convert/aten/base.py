"""Calls of ATen operators as their conversions see them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

from xdsl.dialects.builtin import f32, i1, i64
from xdsl.ir import Attribute, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.errors import TileError
from tiledialect.ir.tensor_builder import TensorBuilder
from tiledialect.operators.layout import cast, constant, element_type, shape
from tiledialect.operators.linear import Window

Number: TypeAlias = int | float | bool
Operand: TypeAlias = "SSAValue | Number"
"""A tensor, or a number in the place of one."""

Values: TypeAlias = "SSAValue | Sequence[SSAValue | None]"
"""The result of an operator, or its results; None for one that nothing uses."""


@dataclass(frozen=True)
class Memory:
    """Place of a tensor's elements in PyTorch's memory."""

    strides: tuple[int, ...]
    first: int


@dataclass(frozen=True)
class Call:
    """Call of an operator."""

    name: str
    """Name of the result in the graph."""
    op: str
    """Name of the operator with its overload."""
    types: tuple[Attribute | None, ...]
    """Element types of the results; None for one that is no tensor of the language."""
    random_state: Callable[[], SSAValue]
    """State of the generator for a draw of its own."""
    memory: Memory | None = None
    """Place of the first operand in memory, if it is known."""

    @property
    def type(self) -> Attribute:
        """Element type of the first result."""
        if (found := self.types[0] if self.types else None) is None:
            raise self.refusal("its result is no tensor of the language")
        return found

    def refusal(self, reason: str) -> TileError:
        """Error that the call cannot be converted."""
        return TileError(f"{self.op} ({self.name}) cannot be converted: {reason}")

    def axis(self, axis: int, rank: int) -> int:
        """An axis counted from the first one; a tensor without axes counts as one with one."""
        if not -max(1, rank) <= axis < max(1, rank):
            raise self.refusal(f"axis {axis} is none of {rank}")
        return axis % max(1, rank)

    def axes(self, axes: int | Sequence[int] | None, rank: int) -> list[int]:
        """Axes of a reduction, counted from the first one; all if none are given."""
        if rank == 0:
            return []
        if axes is None or axes == [] or axes == ():
            return [*range(rank)]
        return sorted({self.axis(k, rank) for k in ([axes] if isinstance(axes, int) else axes)})


Conversion: TypeAlias = Callable[..., Values]
"""Makes the results of a call from the builder, the call and all arguments of the operator.

Arguments come in the schema's order, with their defaults. Element types are attributes.
"""


def in_type(b: TensorBuilder, x: Operand, t: Attribute) -> SSAValue:
    """An operand in an element type, in which a number becomes a constant; integers wrap around."""
    if isinstance(x, SSAValue):
        return cast(b, x, t)
    if et.is_float(t):
        return constant(b, float(x), t)
    if t == i1:
        return constant(b, int(bool(x)), t)
    low, high = et.limits(t)
    if isinstance(x, float) and x in (inf, -inf):
        x = (low, high)[x > 0]
    return constant(b, (int(x) - low) % (high - low + 1) + low, t)


def each(numbers: int | Sequence[int], rank: int) -> list[int]:
    """A number for each axis, where one may stand for all."""
    if isinstance(numbers, int):
        return [numbers] * rank
    return [*numbers] if len(numbers) == rank else [numbers[0]] * rank


def windows_of(
    taps: Sequence[int], strides: Sequence[int], pads: Sequence[int], dilations: Sequence[int]
) -> list[Window]:
    """Windows of these numbers of taps, with the same padding at both ends of an axis."""
    numbers = (each(n, len(taps)) for n in (strides, pads, dilations))
    return [
        Window(tap, stride, pad, dilation=dilation)
        for tap, stride, pad, dilation in zip(taps, *numbers, strict=True)
    ]


def common_type(*operands: Operand) -> Attribute:
    """Element type in which operands meet by PyTorch's rules.

    Of bools, integers and reals the last wins; of one kind tensors without axes, and numbers after
    them, take the type of the others.
    """
    tensors = [x for x in operands if isinstance(x, SSAValue)]
    found: Attribute | None = None
    for group in ([x for x in tensors if shape(x)], [x for x in tensors if not shape(x)]):
        own: Attribute | None = None
        for x in group:
            t = element_type(x)
            own = t if own is None else et.promote(own, t)
        found = _wins(found, own)
    for x in operands:
        if not isinstance(x, SSAValue):
            found = _wins(found, i1 if isinstance(x, bool) else i64 if isinstance(x, int) else f32)
    assert found is not None
    return found


def _wins(first: Attribute | None, second: Attribute | None) -> Attribute | None:
    """The type that wins where one of a lower rank may not widen it."""
    if first is None or second is None:
        return first or second
    return second if _kind(second) > _kind(first) else first


def _kind(t: Attribute) -> int:
    return 2 if et.is_float(t) else int(t != i1)
