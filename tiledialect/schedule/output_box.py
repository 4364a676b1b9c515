"""Output boxes: values of the output variables that name every element of an output once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from tiledialect.index import sets
from tiledialect.index.contraction import IndexSpace
from tiledialect.index.expr import Constraint, IndexExpr, Range
from tiledialect.index.sets import Collision
from tiledialect.rounding import ceil_div

Ranges = Mapping[str, Range]

MOST_WASTE = 4
"""Most points of a box of digits for each element."""


@dataclass(frozen=True)
class OutputBox:
    """A box of the output variables in which every element of the output has one point.

    Other points of the box may lie outside the output; a kernel must test for that along the
    ``overshooting`` axes.
    """

    ranges: Ranges
    overshooting: tuple[int, ...]


def output_box(space: IndexSpace) -> OutputBox | None:
    """The box for the output variables.

    There is one if each output index is plus or minus a variable plus a constant, or a sum of
    digits such as `v_0 + 3*v_1` plus a constant, or 0 on an axis of size 1, and no two share a
    variable.
    """
    ranges: dict[str, Range] = {}
    overshooting: list[int] = []
    for axis, (expr, size) in enumerate(zip(space.output, space.output_shape, strict=True)):
        names = expr.names
        if expr.denominator != 1 or not ranges.keys().isdisjoint(names):
            return None
        offset = int(expr.constant)
        if not names and (offset, size) == (0, 1):
            continue
        if len(names) == 1 and expr.coefficient(names[0]) == -1:
            ranges[names[0]] = Range(offset - size + 1, offset + 1)
            continue
        digits = _digits(expr, offset, size)
        if digits is None:
            return None
        ranges |= digits
        if prod(r.extent for r in digits.values()) != size:
            overshooting.append(axis)
    return OutputBox(ranges, tuple(overshooting))


def _digits(expr: IndexExpr, offset: int, size: int) -> dict[str, Range] | None:
    """The range of each digit of ``0 <= expr < size``; None if they are no digits."""
    ordered = sorted(expr.names, key=expr.coefficient)
    weights = [int(expr.coefficient(name)) for name in ordered]
    if not weights or weights[0] != 1 or any(b % a or a == b for a, b in pairwise(weights)):
        return None
    radices = (b // a for a, b in pairwise(weights))
    ranges = {n: Range(0, radix) for n, radix in zip(ordered, radices, strict=False)}
    for name, weight in reversed([*zip(ordered, weights, strict=True)]):
        # Where the top digit has a single value, the next one is the top of the rest.
        ranges[name] = Range(-offset // weight, ceil_div(size - offset, weight))
        if ranges[name].extent != 1:
            break
        offset += weight * ranges[name].lower
    return ranges if prod(r.extent for r in ranges.values()) <= MOST_WASTE * size else None


def widened(space: IndexSpace, ranges: Ranges) -> Ranges:
    """Ranges of a contraction's points, widened to visit every output element.

    They are unchanged where no box of the output variables does that.
    """
    box = output_box(space)
    if box is None or not all(_contains(box.ranges[n], ranges[n]) for n in box.ranges):
        return ranges
    return {**ranges, **box.ranges}


def visited(space: IndexSpace, ranges: Ranges) -> OutputBox | None:
    """The output box, if loops over ``ranges`` run through just that."""
    box = output_box(space)
    if box is None or any(ranges[n] != box.ranges[n] for n in box.ranges):
        return None
    return box


def leaves_unwritten(space: IndexSpace, ranges: Ranges) -> bool:
    """Whether loops over ``ranges`` may leave elements of the output out, to be filled before."""
    return visited(space, ranges) is None and not sets.covers_output(space)


def always_lands(space: IndexSpace, ranges: Ranges) -> bool:
    """Whether every value of the output variables that loops over ``ranges`` visit has a point.

    Of an output box, only those values count that name an element.
    """
    if visited(space, ranges) is not None:
        return sets.covers_output(space)
    box = sets.ranges(space)
    return sets.is_full(space) and all(ranges[n] == box[n] for n in space.output_variables)


def shared_element(space: IndexSpace, ranges: Ranges) -> Collision | None:
    """Two values of the output variables inside ``ranges`` that name one element, if there are.

    A kernel needs that there are none: its work-items would write one element at the same time.
    """
    if visited(space, ranges) is not None:
        return None
    inside = tuple(
        Constraint(IndexExpr.of(n) - ranges[n].lower, IndexExpr.of(ranges[n].extent))
        for n in space.output_variables
    )
    return sets.collision(IndexSpace(space.output, space.output_shape, constraints=inside))


def _contains(outer: Range, inner: Range) -> bool:
    return inner.extent == 0 or (outer.lower <= inner.lower and inner.upper <= outer.upper)
