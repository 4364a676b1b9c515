"""Footprints: the elements of operands that loops touch; tiles are footprints copied nearer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd

from tiledialect.index.expr import IndexExpr, Range
from tiledialect.schedule.loops import LoopLevel, Role, Schedule, Stage, place_of

UNROLLED_COPIES = 16
"""Number of steps up to which a shared copy is unrolled and can be fetched ahead."""


def step_name(number: int) -> str:
    """Name of a level's step in affine expressions."""
    return f"step{number}"


def index_values(ranges: Mapping[str, Range], levels: Sequence[LoopLevel]) -> dict[str, IndexExpr]:
    """Each index as its lower end plus the steps of its levels."""
    values = {name: IndexExpr.of(r.lower) for name, r in ranges.items()}
    for number, level in enumerate(levels):
        values[level.index] += level.stride * IndexExpr.of(step_name(number))
    return values


@dataclass(frozen=True)
class Dimension:
    """A dimension of a footprint: ``stride*t`` along an axis of the tensor, ``0 <= t < extent``."""

    axis: int
    stride: int
    extent: int
    terms: IndexExpr
    """Movement along it by the steps inside, at least 0."""

    @property
    def position(self) -> IndexExpr:
        """Position of the access along it."""
        return self.terms / self.stride


@dataclass(frozen=True)
class Footprint:
    """The elements of a tensor that loops touch: a box, with a base along each axis.

    An axis has several dimensions where the loops leave gaps, as `16*i + j`, `j < 4`, does.
    """

    base: tuple[IndexExpr, ...]
    dimensions: tuple[Dimension, ...]

    @property
    def extents(self) -> tuple[int, ...]:
        """The size of each dimension."""
        return tuple(d.extent for d in self.dimensions)

    def ordered(self, order: Sequence[int]) -> Footprint:
        """The dimensions along the axes in this order."""
        return Footprint(
            self.base,
            tuple(d for axis in order for d in self.dimensions if d.axis == axis),
        )


def footprint(
    access: Sequence[IndexExpr], levels: Sequence[LoopLevel], inside: Iterable[int]
) -> Footprint:
    """Footprint of the levels ``inside``, for fixed other levels.

    Interval arithmetic on the affine ``access``, an expression of steps for each axis, gives it.
    """
    extents = {step_name(k): levels[k].extent for k in inside}
    base: list[IndexExpr] = []
    dimensions: list[Dimension] = []
    for axis, expr in enumerate(access):
        moving = {n: int(expr.coefficient(n)) for n in expr.names if n in extents}
        base.append(expr.substitute({n: extents[n] - 1 if c < 0 else 0 for n, c in moving.items()}))
        dimensions += _dimensions(axis, moving, extents)
    return Footprint(tuple(base), tuple(dimensions))


def _dimensions(
    axis: int, moving: Mapping[str, int], extents: Mapping[str, int]
) -> list[Dimension]:
    """The dimensions along an axis: coefficients that leave no gap go together."""
    groups: list[list[str]] = []
    reach = 0
    for name in sorted(moving, key=lambda n: abs(moving[n])):
        size = abs(moving[name])
        if not groups or size > reach + abs(moving[groups[-1][0]]):
            groups.append([])
            reach = 0
        groups[-1].append(name)
        reach += size * (extents[name] - 1)
    found: list[Dimension] = []
    for names in reversed(groups):
        stride = gcd(*(moving[n] for n in names))
        terms = IndexExpr()
        for n in names:
            step = IndexExpr.of(n)
            terms += moving[n] * step if moving[n] > 0 else -moving[n] * (extents[n] - 1 - step)
        last = sum(abs(moving[n]) * (extents[n] - 1) for n in names)
        found.append(Dimension(axis, stride, last // stride + 1, terms))
    return found or [Dimension(axis, 1, 1, IndexExpr())]


def stage_footprint(stage: Stage, access: Sequence[IndexExpr], schedule: Schedule) -> Footprint:
    """The tile of a stage."""
    levels, place = schedule.levels, place_of(stage, schedule.levels)
    inside = [
        k
        for k, level in enumerate(levels)
        if k >= place or (stage.local and level.role is Role.LOCAL)
    ]
    found = footprint(access, levels, inside)
    return found.ordered(stage.order) if stage.order else found
