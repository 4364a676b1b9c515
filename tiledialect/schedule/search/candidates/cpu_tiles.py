"""Schedules of contractions on CPUs, made of the numbers that candidates consist of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from tiledialect.lazy import lazy
from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.facts import Facts, Tensor, steps_of
from tiledialect.schedule.default_schedule import on_grid
from tiledialect.schedule.loops import LoopLevel, Role, Schedule, Stage
from tiledialect.schedule.search.candidates.loops import kept

MOST_UNROLLED = 32
"""Most unrolled steps of a short sum."""
BODY = 128
"""Most operations on vectors in the innermost body."""
SQUARE = 8
"""Rows and columns of the squares by which operands are transposed: each is a register."""


@dataclass(frozen=True)
class Roles:
    """Roles of the indices of a contraction."""

    n: str
    rows: tuple[str, ...]
    """The other output indices, in the order in which a group takes several values of them."""
    sums: tuple[str, ...]
    """The summed indices, outermost first."""
    lanes: tuple[int, ...]
    """The vectors that are tried."""


class Shape(NamedTuple):
    """The numbers that make a schedule."""

    lanes: int
    columns: int
    tile: tuple[tuple[str, int], ...] = ()
    """Numbers of rows of the tile along indices."""
    blocks: tuple[tuple[str, int], ...] = ()
    """Numbers of tiles of a work-group along indices, outermost first."""
    parts: tuple[int, ...] = ()
    """Number of parts in which the outermost sums are made."""
    packed: tuple[int, ...] = ()
    """The operands that are staged."""
    by_vectors: bool = False
    """Whether a vector meets all elements of its step before the next vector is read."""
    inside: str = ""
    """The index in each tile of which operands are staged; empty: once for the group."""


def has_vectors(facts: Facts, r: Roles, name: str) -> bool:
    """Whether rows along an index read vectors of their own."""
    return any(name in t.names for t in facts.inputs if r.n in t.names)


class _Sums(NamedTuple):
    """Levels of the summed indices: around the tiles, inside, and unrolled."""

    outer: tuple[LoopLevel, ...]
    inside: tuple[LoopLevel, ...]
    written: tuple[LoopLevel, ...]


class Builder:
    """The schedules of a tile in blocks."""

    def __init__(self, facts: Facts, r: Roles, tile: Shape):
        self.facts = facts
        self.roles = r
        self.tile = tile
        self.steps = dict(tile.tile) | {r.n: tile.lanes * tile.columns}
        """Extent of a tile along each output index."""
        self._sums_of: dict[tuple[int, ...], _Sums] = {}

    @lazy
    def counts(self) -> Mapping[str, int]:
        """Number of tiles along each output index."""
        names = (*self.roles.rows, self.roles.n)
        return {n: ceil_div(self.facts.extents[n], self.steps.get(n, 1)) for n in names}

    def unrolled(self) -> set[str]:
        """The indices that move within the innermost body."""
        written = self._sums(()).written
        return {self.roles.n, *dict(self.tile.tile), *(x.index for x in written)}

    def known(self) -> frozenset[str]:
        """The indices that have one value in each part of the body: tests of them are none."""
        rows = {name for name, count in self.tile.tile if count == self.facts.extents[name]}
        taps = {x.index for x in self._sums(()).written if x.extent == self.facts.extents[x.index]}
        alone = {name for name, count in self.facts.extents.items() if count == 1}
        return frozenset(rows | taps | alone)

    @lazy
    def _body(self) -> tuple[LoopLevel, ...]:
        """The levels of the tile."""
        r, s = self.roles, self.tile
        rows = [LoopLevel(n, 1, count, Role.UNROLL) for n, count in s.tile]
        tile = [*rows, LoopLevel(r.n, s.lanes, s.columns, Role.UNROLL)]
        if s.by_vectors:
            tile.sort(key=lambda level: not has_vectors(self.facts, r, level.index))
        return kept((*tile, LoopLevel(r.n, 1, s.lanes, Role.VECTOR)))

    def schedule(self, s: Shape) -> Schedule:
        """The levels, then the stages."""
        r, counts, steps = self.roles, self.counts, self.steps
        blocks = dict(s.blocks)
        grid = [
            (n, steps.get(n, 1) * blocks.get(n, 1), ceil_div(counts[n], blocks.get(n, 1)))
            for n in (*reversed(r.rows), r.n)
        ]
        grid = [block for block in grid if block[2] > 1]
        serial = [LoopLevel(n, steps.get(n, 1), k, Role.SERIAL) for n, k in s.blocks if k > 1]
        sums = self._sums(s.parts)
        inner = (*sums.outer, *serial, *sums.inside, *sums.written, *self._body)
        return Schedule((*on_grid(grid), *inner), tuple(self._stages(s, sums.outer, inner)))

    def _sums(self, parts: tuple[int, ...]) -> _Sums:
        if parts not in self._sums_of:
            self._sums_of[parts] = _Sums(*map(kept, self._summed(parts)))
        return self._sums_of[parts]

    def _summed(
        self, numbers: tuple[int, ...]
    ) -> tuple[list[LoopLevel], list[LoopLevel], list[LoopLevel]]:
        """Levels of the summed indices, the outermost of which are in so many parts."""
        r, extents = self.roles, self.facts.extents
        outer: list[LoopLevel] = []
        left = {name: extents[name] for name in r.sums}
        for name, parts in zip(r.sums, numbers, strict=False):
            left[name] = ceil_div(extents[name], parts)
            count = ceil_div(extents[name], left[name])
            outer.append(LoopLevel(name, left[name], count, Role.SERIAL))
        room = min(MOST_UNROLLED, max(1, BODY // self._vectors))
        sums: list[LoopLevel] = []
        written: list[LoopLevel] = []
        for name in reversed(r.sums):
            size = left[name]
            if not sums and size <= room:
                written.insert(0, LoopLevel(name, 1, size, Role.UNROLL))
                room //= size
                continue
            few = next((k for k in (4, 3, 2) if k <= room and size % k == 0), 1)
            if sums or written:
                few = 1
            if few > 1:
                written.insert(0, LoopLevel(name, 1, few, Role.UNROLL))
            sums.insert(0, LoopLevel(name, few, size // few, Role.SERIAL))
        return outer, sums, written

    @property
    def _vectors(self) -> int:
        return self.tile.columns * prod(count for _, count in self.tile.tile)

    def _stages(
        self, s: Shape, outer: Sequence[LoopLevel], inner: Sequence[LoopLevel]
    ) -> Iterator[Stage]:
        """A stage of each packed operand, with the axis along `n` fastest."""
        r = self.roles
        for tensor in self.facts.inputs:
            if tensor.number not in s.packed:
                continue
            rank = len(tensor.shape)
            axes = [k for k, moves in enumerate(tensor.affine_access.moves) if r.n in moves]
            last = axes[-1] if axes else rank - 1
            order = (*(k for k in range(rank) if k != last), last)
            place = outer[-1] if outer else None
            if s.inside and s.inside in tensor.names:
                place = next((x for x in inner if x.index == s.inside), place)
            yield Stage(
                tensor.number,
                local=True,
                at=(place.index, place.stride) if place is not None else None,
                order=() if order == tuple(range(rank)) else order,
                vector=self._together(tensor, inner, place, is_transposed=last != rank - 1),
            )

    def _together(
        self,
        tensor: Tensor,
        inner: Sequence[LoopLevel],
        place: LoopLevel | None,
        *,
        is_transposed: bool,
    ) -> int:
        """Number of neighbours that are copied at once: rows, or the sides of squares."""
        inside = inner[inner.index(place) + 1 :] if place is not None else inner
        row = min(tensor.affine_access.extents(steps_of(inside))[-1], tensor.shape[-1])
        most = SQUARE if is_transposed else self.tile.lanes
        return min(most, self.tile.lanes, 1 << (row.bit_length() - 1))
