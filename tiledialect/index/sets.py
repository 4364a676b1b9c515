"""Exact questions about the points of a contraction.

Everything is decided over the integers, with no size too large; only the two questions about
coverage, and whether a guard follows from others, may be given up. So may be, where dozens of
indices with unrelated coefficients are entangled, which is the least box, and whether there are
points. The questions are put to the components of the space (``component``), whose answers are
remembered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from math import ceil, floor, gcd
from typing import Any

import numpy as np
import numpy.typing as npt

from tiledialect.index import domain
from tiledialect.index.component import PlacedComponent
from tiledialect.index.contraction import IndexSpace, UnboundedIndexError
from tiledialect.index.domain import Box, RowTest, UnboundedVariableError
from tiledialect.index.expr import IndexExpr, Range
from tiledialect.rounding import ceil_div

LARGEST_GUARD = 2**31
"""Guards in larger numbers are reduced, so that index arithmetic does not overflow."""


class GuardKind(Enum):
    """Kind of a guard's test of its expression."""

    LOWER = "0 <= {expr}"
    UPPER = "{expr} < {bound}"
    DIVISIBLE = "({expr}) % {bound} == 0"


@dataclass(frozen=True)
class Guard:
    """A test that a loop nest has to make; ``expr`` has integer coefficients.

    ``source`` says where it comes from: the position in ``all_constraints`` of the space.
    """

    kind: GuardKind
    expr: IndexExpr
    bound: int
    source: int

    def holds(self, point: Mapping[str, int]) -> bool:
        """Whether the test succeeds there."""
        value = self.expr.evaluate(point)
        if self.kind is GuardKind.LOWER:
            return value >= 0
        return value < self.bound if self.kind is GuardKind.UPPER else value % self.bound == 0

    def __str__(self) -> str:
        return self.kind.value.format(expr=self.expr, bound=self.bound)

    def reduced(self, ranges: Mapping[str, Range]) -> Guard:
        """A test that succeeds at the same places inside ``ranges``, in the smallest numbers."""
        fixed = {name: r.lower for name, r in ranges.items() if r.extent == 1}
        expr = self.expr.substitute(fixed)
        if self.kind is GuardKind.DIVISIBLE:
            half = self.bound // 2
            terms = ((m, Fraction((int(c) + half) % self.bound - half)) for m, c in expr)
            return replace(self, expr=IndexExpr.collect(terms))
        offset, free = int(expr.constant), expr - expr.constant
        scale = gcd(*(int(c) for _, c in free)) or 1
        free = free / scale
        lower, upper = interval(free, ranges)
        wanted = -offset if self.kind is GuardKind.LOWER else self.bound - offset
        # ``free`` is an integer, so it need not be compared with anything between two of them.
        limit = min(max(ceil_div(wanted, scale), lower), upper + 1)
        if self.kind is GuardKind.LOWER:
            return replace(self, expr=free - limit)
        return replace(self, expr=free, bound=limit)


def interval(expr: IndexExpr, ranges: Mapping[str, Range]) -> tuple[int, int]:
    """Least and greatest value of ``expr`` in a box that is not empty."""
    ends = [(c * ranges[m[0]].lower, c * (ranges[m[0]].upper - 1)) for m, c in expr if m]
    lower, upper = sum(map(min, ends)), sum(map(max, ends))
    return ceil(expr.constant + lower), floor(expr.constant + upper)


def magnitude(expr: IndexExpr, ranges: Mapping[str, Range]) -> int:
    """No number that comes up where ``expr`` is evaluated in a box is larger.

    Fractions are avoided by scaling. Whatever the order of the terms, no partial sum is larger.
    """
    sizes = (max(abs(ranges[m[0]].lower), abs(ranges[m[0]].upper - 1)) if m else 1 for m, _ in expr)
    scale = expr.denominator
    return sum((int(abs(c) * scale) * n for (_, c), n in zip(expr, sizes, strict=True)), scale)


@dataclass(frozen=True)
class Collision:
    """Two different points of a space that write the same element of the output."""

    first: dict[str, int]
    second: dict[str, int]
    output: tuple[int, ...]

    @property
    def element(self) -> str:
        """Text of the element's place."""
        return ", ".join(map(str, self.output))

    @property
    def points(self) -> str:
        """Text of the points."""
        texts = (
            ", ".join(f"{name} = {value}" for name, value in point.items())
            for point in (self.first, self.second)
        )
        return " and ".join(texts)


def ranges(space: IndexSpace) -> dict[str, Range]:
    """The least box that holds all points: the range of each variable.

    It may be wider where dozens of indices make it too hard to tell. Where there is no point, every
    range is ``0..0``. Raises ``UnboundedIndexError`` naming the
    first index that nothing bounds.
    """
    boxes = [_bounding_box(space, part) for part in space.components]
    found = {
        name: Range(lower, upper)
        for part, box in zip(space.components, boxes, strict=True)
        for name, (lower, upper) in zip(part.names, box, strict=True)
    }
    if is_empty(space):
        return dict.fromkeys(space.variables, Range(0, 0))
    return {name: found[name] for name in space.variables}


def _bounding_box(space: IndexSpace, part: PlacedComponent) -> Box:
    try:
        return domain.bounding_box(part.component)
    except UnboundedVariableError as error:
        raise UnboundedIndexError(part.names[error.variable]) from None


def is_empty(space: IndexSpace) -> bool:
    """Whether there is known to be no point, so that nothing is written."""
    return any(domain.is_empty(part.component) for part in space.components)


def guards(space: IndexSpace, ranges: Mapping[str, Range]) -> tuple[Guard, ...]:
    """Tests of a loop nest over the box ``ranges`` for it to visit exactly the points.

    Where the box holds a point, none of the guards follows from the others; with none, the box is
    the domain. They are in the order of ``all_constraints``, those of one expression together.
    """
    found: list[Guard] = []
    for part in space.components:
        box = tuple((ranges[name].lower, ranges[name].upper) for name in part.names)
        conditions = domain.guards(part.component, box)
        for number, test in conditions:
            guard = _guard(space, part, number, test)
            small = max(magnitude(guard.expr, ranges), abs(guard.bound)) < LARGEST_GUARD
            found.append(guard if small else guard.reduced(ranges))
    return tuple(sorted(found, key=lambda guard: guard.source))


def tested_axes(space: IndexSpace, ranges: Mapping[str, Range]) -> tuple[int, ...]:
    """The axes of the first operand along which points of loops over ``ranges`` may be outside.

    Those accesses are tested, unless a copy has padding there.
    """
    tested = {guard.source - len(space.output) for guard in guards(space, ranges)}
    return tuple(k for k in range(len(space.inputs[0])) if k in tested)


def _guard(space: IndexSpace, part: PlacedComponent, number: int, test: RowTest) -> Guard:
    row, source = part.component.rows[number], part.rows[number]
    expr = space.all_constraints()[source].expr * row.divisor
    if test is RowTest.LOWER:
        return Guard(GuardKind.LOWER, expr, 0, source)
    if test is RowTest.UPPER:
        return Guard(GuardKind.UPPER, expr, row.bound * row.divisor, source)
    return Guard(GuardKind.DIVISIBLE, expr, row.divisor, source)


def collision(space: IndexSpace) -> Collision | None:
    """Two points that write the same element, if there are such."""
    if is_empty(space):
        return None
    for part in space.components:
        pair = domain.collision(part.component)
        if pair is not None:
            return _extended(space, part, *pair)
    return None


def _extended(
    space: IndexSpace, part: PlacedComponent, first: tuple[int, ...], second: tuple[int, ...]
) -> Collision | None:
    """Two points of a space from two of one of its parts."""
    rest: dict[str, int] = {}
    for other in space.components:
        values = domain.sample(other.component)
        if values is None:
            return None
        rest |= zip(other.names, values, strict=True)
    one = rest | dict(zip(part.names, first, strict=True))
    two = rest | dict(zip(part.names, second, strict=True))
    return Collision(one, two, tuple(int(index.evaluate(one)) for index in space.output))


def covers_output(space: IndexSpace) -> bool:
    """Whether every element of the output is written, so that nothing needs to be filled in.

    It may be false where that is too hard to tell, as with unrelated coefficients in the hundreds.
    """
    if 0 in space.output_shape:
        return True
    return all(domain.covers_output(part.component) for part in space.components)


def is_full(space: IndexSpace) -> bool:
    """Whether every combination of the output's variables inside ``ranges`` has a point.

    A loop nest over them writes at every step. A space without points is not full. It may be false
    where that is too hard to tell.
    """
    return not is_empty(space) and all(domain.is_full(part.component) for part in space.components)


def points(space: IndexSpace) -> npt.NDArray[Any]:
    """All points, one per row, a column for each of ``space.variables``; meant for small spaces.

    The type is ``int64``, or ``object`` (Python's integers) where that could overflow.
    """
    ranges(space)
    found = np.zeros((1, 0), np.int64)
    names: list[str] = []
    for part in space.components:
        more = domain.points(part.component)
        found = np.hstack([np.repeat(found, len(more), axis=0), np.tile(more, (len(found), 1))])
        names += part.names
    return found[:, [names.index(name) for name in space.variables]]
