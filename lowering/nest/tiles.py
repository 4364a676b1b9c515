"""Tiles of operands: which elements the loops inside a place read, and copying them nearer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd

from tiledialect.index.expr import IndexExpr, Range
from tiledialect.schedule.leaves import PARALLEL, Leaf, Role, Schedule, Stage


def step_name(number: int) -> str:
    """What the step of a leaf is called in affine expressions."""
    return f"step{number}"


def index_values(ranges: Mapping[str, Range], leaves: Sequence[Leaf]) -> dict[str, IndexExpr]:
    """Each index as its lower end plus the steps of its leaves."""
    values = {name: IndexExpr.of(r.lower) for name, r in ranges.items()}
    for number, leaf in enumerate(leaves):
        values[leaf.index] += leaf.stride * IndexExpr.of(step_name(number))
    return values


@dataclass(frozen=True)
class Footprint:
    """A box of a tensor's elements: ``base + stride*t`` along each axis, ``0 <= t < extent``."""

    base: tuple[IndexExpr, ...]
    strides: tuple[int, ...]
    extents: tuple[int, ...]

    def position(self, access: Sequence[IndexExpr]) -> tuple[IndexExpr, ...]:
        """Where in the box the element at an access is."""
        return tuple(
            (expr - base) / stride
            for expr, base, stride in zip(access, self.base, self.strides, strict=True)
        )


def footprint(
    access: Sequence[IndexExpr], leaves: Sequence[Leaf], inside: Iterable[int]
) -> Footprint:
    """The least box that the accesses of the leaves ``inside`` touch, for fixed other leaves.

    By interval arithmetic on the affine ``access``, an expression of steps for each axis; what
    all of an axis's coefficients have in common is its stride.
    """
    extents = {step_name(k): leaves[k].extent for k in inside}
    base: list[IndexExpr] = []
    strides: list[int] = []
    sizes: list[int] = []
    for expr in access:
        moving = {n: int(expr.coefficient(n)) for n in expr.names if n in extents}
        stride = gcd(*moving.values()) or 1
        lowest = {n: extents[n] - 1 if c < 0 else 0 for n, c in moving.items()}
        base.append(expr.substitute(lowest))
        strides.append(stride)
        sizes.append(sum(abs(c) // stride * (extents[n] - 1) for n, c in moving.items()) + 1)
    return Footprint(tuple(base), tuple(strides), tuple(sizes))


def place_of(stage: Stage, leaves: Sequence[Leaf]) -> int:
    """How many leaves are outside the place where a stage is copied."""
    for number, leaf in enumerate(leaves):
        if leaf.role not in PARALLEL and stage.at == (leaf.index, leaf.stride):
            return number + 1
    return sum(leaf.role in PARALLEL for leaf in leaves)


def stage_footprint(stage: Stage, access: Sequence[IndexExpr], schedule: Schedule) -> Footprint:
    """The tile of a stage."""
    leaves, place = schedule.leaves, place_of(stage, schedule.leaves)
    inside = [
        k
        for k, leaf in enumerate(leaves)
        if k >= place or (stage.local and leaf.role is Role.LOCAL)
    ]
    return footprint(access, leaves, inside)
