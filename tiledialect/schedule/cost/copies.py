"""Copies of operands' tiles that a schedule's stages make, and where elements lie in them."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, prod
from typing import NamedTuple

from tiledialect.schedule.cost.facts import AffineAccess, Steps
from tiledialect.schedule.loops import Stage


class Copy(NamedTuple):
    """A stage, the place of its copy, and its tile."""

    stage: Stage
    access: AffineAccess | None
    """Access of the operand; None for a value that the kernel computes."""
    place: int
    """Number of levels outside."""
    inside: Steps
    """The levels that move its tile."""

    @property
    def size(self) -> int:
        """Number of elements of the tile."""
        return prod(self.access.extents(self.inside)) if self.access is not None else 0

    @property
    def width(self) -> int:
        """Number of elements in a piece of the tile: a vector if it divides rows in memory."""
        extents = self.access.extents(self.inside) if self.access is not None else ()
        return self.stage.vector if extents and extents[-1] % self.stage.vector == 0 else 1

    def distances(self, steps: Iterable[tuple[str, int, int]]) -> list[int]:
        """Number of elements of the tile by which each step moves."""
        access = self.access
        if access is None:
            return [0 for _ in steps]
        axes = list(zip(access.moves, self.pitches(access), strict=True))
        return [
            sum(
                pitch * access.apart(axis, self.inside).get(abs(moves[name]) * stride, 0)
                for axis, (moves, pitch) in enumerate(axes)
                if name in moves
            )
            for name, stride, _ in steps
        ]

    def pitches(self, access: AffineAccess) -> list[int]:
        """Distance between neighbours along each axis of the tile."""
        extents, stage = access.extents(self.inside), self.stage
        found, pitch, pad = [0] * len(extents), 1, stage.pad
        for axis in reversed(stage.order or range(len(extents))):
            found[axis] = pitch
            pitch, pad = pitch * extents[axis] + pad, 0
        return found

    def stores(
        self, access: AffineAccess, items: int
    ) -> tuple[tuple[tuple[int, int], ...], int, int]:
        """Stores of the tile by so many items: their steps, stores of each item for a piece, and
        elements of each store."""
        extents, pitches, vector = access.extents(self.inside), self.pitches(access), self.width
        steps: list[tuple[int, int]] = []
        left = items
        # Neighbouring items take neighbouring pieces in memory.
        pieces = [*extents[:-1], extents[-1] // vector]
        for axis in reversed(range(len(extents))):
            count = min(pieces[axis], left)
            if count > 1:
                steps.append((pitches[axis] * (vector if axis == len(extents) - 1 else 1), count))
                left = ceil(left / count)
        stores, width = (1, vector) if pitches[-1] == 1 else (vector, 1)
        return tuple(steps), stores, width
