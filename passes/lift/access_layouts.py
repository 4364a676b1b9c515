"""Accesses of contractions as layout patterns: an array with an axis for each index."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from xdsl.dialects.tensor import ExtractOp

from tiledialect import lift
from tiledialect.dialects.tile.base import tensor_type
from tiledialect.index.expr import IndexExpr, Range
from tiledialect.lift.tracing import emit
from tiledialect.lift.values import Value

Ranges = dict[str, Range]
Array = tuple[Value, tuple[str, ...]]
"""Array, and the index that each of its axes stands for."""


@dataclass(frozen=True)
class Term:
    """Index in an expression: its coefficient and its range."""

    name: str
    coefficient: int
    range: Range

    @property
    def stride(self) -> int:
        """Distance of neighbours."""
        return abs(self.coefficient)

    @property
    def least(self) -> int:
        """Least value of the term."""
        first, last = self.range.lower, self.range.upper - 1
        return self.coefficient * (first if self.coefficient > 0 else last)


@dataclass(frozen=True)
class Axis:
    """Index expression: its least value, and its terms from the largest stride on."""

    least: int
    terms: tuple[Term, ...]

    @staticmethod
    def of(expr: IndexExpr, ranges: Ranges) -> Axis:
        """Expression over the indices' ranges."""
        terms = [Term(n, int(expr.coefficient(n)), ranges[n]) for n in expr.names]
        terms.sort(key=lambda term: -term.stride)
        return Axis(int(expr.constant) + sum(t.least for t in terms), tuple(terms))

    def within(self, size: int) -> bool:
        """Whether all values are at least 0 and less than ``size``."""
        return self.least >= 0 and self.least + self.span <= size

    @property
    def span(self) -> int:
        """Number of integers from its least to its greatest value, both included."""
        return 1 + sum(t.stride * (t.range.extent - 1) for t in self.terms)


def mapped(function: lift.Function, depth: int) -> lift.Function:
    """Map the function over the elements so many axes further in."""
    return reduce(lambda f, _: lift.map(f), range(depth), function)


# -- operands as arrays over indices ---------------------------------------------------------------


def over_indices(x: Value, access: Sequence[IndexExpr], ranges: Ranges) -> Array:
    """Operand as an array with an axis for each index, padded with 0 beyond its edges."""
    if not access:
        t = tensor_type(x.ssa)
        return Value(emit(lambda: ExtractOp(x.ssa, [], t.element_type), None)), ()
    names: tuple[str, ...] = ()
    for k, expr in reversed([*enumerate(access)]):
        axis = Axis.of(expr, ranges)
        (size, *_) = x.array_type("operand").get_shape()[k:]
        for function, depth in _steps(axis, size):
            x = x >> mapped(function, k + depth)
        names = (*(t.name for t in axis.terms), *names)
    return _diagonals((x, names), ranges)


def _diagonals(array: Array, ranges: Ranges) -> Array:
    """Array with one axis for each index, where several are of the same."""
    x, names = array
    while twice := next((n for k, n in enumerate(names) if n in names[:k]), None):
        first = names.index(twice)
        again = names.index(twice, first + 1)
        places = [str(k) for k in range(len(names))]
        moved = [*places[: first + 1], places[again], *places[first + 1 : again]]
        x, _ = in_order((x, tuple(places)), [*moved, *places[again + 1 :]])
        diagonal = lift.join >> lift.slide(1, ranges[twice].extent + 1) >> lift.join
        x, names = x >> mapped(diagonal, first), (*names[:again], *names[again + 1 :])
    return x, names


def _steps(axis: Axis, size: int) -> list[tuple[lift.Function, int]]:
    """Functions that split an axis into one for each index, each with its depth."""
    found: list[tuple[lift.Function, int]] = []
    left, right = max(0, -axis.least), max(0, axis.least + axis.span - size)
    if left or right:
        found.append((lift.pad_constant(left, right, 0), 0))
    start = axis.least + left
    if (start, axis.span) != (0, left + size + right):
        found.append((lift.slice(start, start + axis.span), 0))
    if not axis.terms:
        return [*found, (lift.at(0), 0)]
    rest = axis.span
    for depth, term in enumerate(axis.terms):
        rest -= term.stride * (term.range.extent - 1)
        if (rest, term.stride) != (1, 1) or term is not axis.terms[-1]:
            found.append((lift.slide(rest, term.stride), depth))
    if axis.terms[-1].stride != 1:
        found.append((lift.join, len(axis.terms) - 1))
    backwards = [depth for depth, term in enumerate(axis.terms) if term.coefficient < 0]
    return [*found, *((lift.gather(lift.reverse), depth) for depth in backwards)]


def in_order(array: Array, order: Sequence[str]) -> Array:
    """Reorder the axes of an array, by transposes of neighbours."""
    x, names = array[0], [*array[1]]
    for end in range(len(names) - 1, 0, -1):
        for k in range(end):
            if order.index(names[k]) > order.index(names[k + 1]):
                x = x >> mapped(lift.transpose, k)
                names[k : k + 2] = names[k + 1], names[k]
    return x, tuple(names)


# -- the computation -------------------------------------------------------------------------------
