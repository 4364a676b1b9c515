"""Arrays of patterns in Tile: an element is one of a tensor, at index expressions.

Axes have names; an element depends on its array's own axes and on the axes of maps around. So
layout patterns change index expressions, and patterns that compute make tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import SSAValue

from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.index.expr import Access, IndexExpr

ZERO = IndexExpr.of(0)


class NotCombiningError(Exception):
    """Error of a reduction's function that does not just combine its accumulator."""


@dataclass(frozen=True)
class Load:
    """Element of a tensor."""

    tensor: SSAValue
    index: Access

    def at(self, values: Mapping[str, IndexExpr]) -> Load:
        """Substitute other values of axes."""
        return Load(self.tensor, tuple(e.substitute(values) for e in self.index))

    @property
    def names(self) -> set[str]:
        """Axes of the element."""
        return {name for e in self.index for name in e.names}


@dataclass(frozen=True)
class Product:
    """Product of two or three elements, not computed yet: a sum of it is one contraction."""

    loads: tuple[Load, ...]

    def at(self, values: Mapping[str, IndexExpr]) -> Product:
        """Substitute other values of axes."""
        return Product(tuple(load.at(values) for load in self.loads))

    @property
    def names(self) -> set[str]:
        """Axes of the product."""
        return set[str]().union(*(load.names for load in self.loads))


@dataclass(frozen=True)
class AffineIndex:
    """Integer that is affine in indices along axes."""

    expr: IndexExpr

    def at(self, values: Mapping[str, IndexExpr]) -> AffineIndex:
        """Substitute other values of axes."""
        return AffineIndex(self.expr.substitute(values))

    @property
    def names(self) -> set[str]:
        """Axes of the integer."""
        return set(self.expr.names)


@dataclass(frozen=True)
class Running:
    """Element of an accumulator, and the value that the reduction's function combines with it."""

    accumulator: int
    index: Access
    aggregation: Aggregation | None = None
    terms: tuple[Element, ...] = ()

    def at(self, values: Mapping[str, IndexExpr]) -> Running:
        """Substitute other values of axes."""
        index = tuple(e.substitute(values) for e in self.index)
        terms = tuple(term.at(values) for term in self.terms)
        return Running(self.accumulator, index, self.aggregation, terms)

    @property
    def names(self) -> set[str]:
        """Axes of the element."""
        return {name for e in self.index for name in e.names}.union(*(t.names for t in self.terms))


Element: TypeAlias = Load | Product | AffineIndex | Running


@dataclass(frozen=True)
class Array:
    """Array, by the names of its own axes and its element there; a number has no axes."""

    axes: tuple[str, ...]
    element: Element

    def at(self, place: IndexExpr) -> Array:
        """Element, of as many axes less one; the first must not be two that are joined."""
        first, *rest = self.axes
        return Array(tuple(rest), self.element.at({first: place}))

    def over(self, *axes: str) -> Array:
        """Array of such arrays."""
        return Array((*axes, *self.axes), self.element)


Value: TypeAlias = "Array | tuple[Value, ...]"
"""Array or tuple; an array of tuples is a tuple of arrays."""


def each(function: Callable[..., Array], *values: Value) -> Value:
    """Apply the function to the components of tuples, one by one."""
    if isinstance(values[0], tuple):
        parts = zip(*(v for v in values if isinstance(v, tuple)), strict=True)
        return tuple(each(function, *part) for part in parts)
    return function(*values)


def arrays_in(value: Value) -> list[Array]:
    """Arrays of which a value consists."""
    return [a for part in value for a in arrays_in(part)] if isinstance(value, tuple) else [value]


COMBINE: dict[Aggregation, type[ew.BinaryOp]] = {
    Aggregation.add: ew.AddOp,
    Aggregation.mul: ew.MulOp,
    Aggregation.max: ew.MaxOp,
    Aggregation.min: ew.MinOp,
}
NEUTRAL = {
    Aggregation.add: 0.0,
    Aggregation.mul: 1.0,
    Aggregation.max: float("-inf"),
    Aggregation.min: float("inf"),
}
