"""Schedules of contractions: a hierarchy of tiles in registers, items, sub-groups and blocks.

An item has a tile of sums in registers: vectors along the index of the lanes, and rows along
others. On CPUs it is alone in its group, and has a block of tiles one after the other; operands are
staged once for the block, or for parts of it. On GPUs the items of a group have neighbouring tiles,
and the innermost sum is cut into chunks, at each of which operands are staged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import NamedTuple

from tiledialect.lazy import lazy
from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.facts import Facts, Tensor, steps_of
from tiledialect.schedule.loops import LoopLevel, Role, Schedule, Stage
from tiledialect.schedule.search.candidates.levels import Levels, power_below
from tiledialect.schedule.search.candidates.roles import Roles

MOST_STEPS = 32
"""Most unrolled steps of a short sum on CPUs."""
BODY = 128
"""Most operations on vectors in the innermost body on CPUs."""
SQUARE = 8
"""Rows and columns of the squares by which operands are transposed: each is a register."""
FOUR = 4
"""Lanes of a vector of a GPU's item, and neighbouring rows of it in tiles of fours."""

Sizes = tuple[tuple[str, int], ...]
"""Numbers of steps by index."""


class Shape(NamedTuple):
    """Sizes of the levels of a contraction's schedule, and places of its operands."""

    lanes: int
    columns: int
    """Vectors of a tile."""
    tile: Sizes = ()
    """Rows of a tile, outermost first."""
    by_vectors: bool = False
    """Whether a vector meets all elements of its step before the next vector is read."""
    items: Sizes = ()
    """Items of a sub-group, innermost first."""
    sub_groups: Sizes = ()
    """Sub-groups, or further items, of a group, innermost first."""
    fours: bool = False
    """Whether rows come in fours that items share out."""
    chunk: int = 0
    """Steps of the innermost sum at which operands are staged; 0: they are not staged so."""
    shared: int = 1
    """Items that share the steps of a chunk."""
    taps: tuple[str, ...] = ()
    """The taps inside the chunks; others are around them."""
    unrolled: int = 0
    """Most unrolled copies of the multiplication of a chunk."""
    blocks: Sizes = ()
    """Numbers of tiles of a work-group along indices, outermost first."""
    parts: tuple[int, ...] = ()
    """Number of parts in which the outermost sums are made."""
    staged: tuple[int, ...] = ()
    """The operands in local memory."""
    inside: str = ""
    """The index in each tile of which operands are staged; empty: once for the group."""
    copies: int = 1
    """Buffers of the operands of a chunk."""

    @property
    def group(self) -> int:
        """Work-items of a group."""
        return prod(count for _, count in (*self.items, *self.sub_groups)) * self.shared

    @property
    def has_classes(self) -> bool:
        """Whether an item of a GPU has accumulators for several short indices besides its rows."""
        return len(self.tile) > 2

    @property
    def rows(self) -> int:
        """Rows of a tile along all indices."""
        return prod(count for _, count in self.tile)


class Tiles:
    """The schedules of shapes with the same tiles and items."""

    def __init__(self, facts: Facts, r: Roles, s: Shape):
        self.facts = facts
        self.roles = r
        self.levels = Levels(facts)
        """The levels of a tile, and of the items that have tiles."""
        for name, count, role in levels_of(facts, r, s):
            self.levels.add(name, count, role, "x" if role is Role.LOCAL else "")
        self._with_sums: dict[tuple[int, ...], Levels] = {}
        """These and those of short sums, for each number of parts."""

    @lazy
    def counts(self) -> Mapping[str, int]:
        """Number of tiles along each output index."""
        return {name: self.levels.rest(name) for name in (*self.roles.rows, self.roles.along)}

    @lazy
    def copies(self) -> int:
        """Number of copies of a multiplication in a tile."""
        return prod(x.extent for x in self.levels.inner)

    def in_chunks(self, s: Shape) -> Schedule:
        """The schedule of a GPU, whose operands are staged for chunks of the innermost sum."""
        facts, r, levels = self.facts, self.roles, self.levels.copy()
        count = len(levels.inner)
        _chunks(levels, r, s)
        sums = levels.inner[: len(levels.inner) - count]
        stages = (*_local_of_chunk(facts, r, s), *_private(facts, r, s, sums))
        apart = (*r.alone, *(n for n in r.inner if n not in r.rows))
        grid = (*apart, *reversed(r.rows), r.along)
        return levels.schedule(stages, grid, has_all_axes=True)

    def in_blocks(self, s: Shape) -> Schedule:
        """The schedule of a CPU, whose operands are staged for blocks of tiles."""
        facts, r = self.facts, self.roles
        if s.parts not in self._with_sums:
            self._with_sums[s.parts] = _short_sums(self.levels.copy(), r, s)
        levels = self._with_sums[s.parts].copy()
        for name, count in reversed(s.blocks):
            levels.loop(name, count)
        count = len(levels.inner)
        if s.parts:
            levels.whole(r.sums)
        outer = levels.inner[: len(levels.inner) - count]
        stages = _packed(facts, r, s, outer, levels.inner) if s.staged else ()
        return levels.schedule(stages, (*reversed(r.rows), r.along))


def levels_of(facts: Facts, r: Roles, s: Shape) -> Iterator[tuple[str, int, Role]]:
    """Index, steps and role of the levels of a tile, and of the items and sub-groups that have
    tiles, innermost first."""
    yield r.along, s.lanes, Role.VECTOR
    items = dict(s.items)
    yield r.along, items.get(r.along, 1), Role.LOCAL
    unrolled = [*s.tile, (r.along, s.columns)]
    if s.by_vectors:
        unrolled.sort(key=lambda x: not has_vectors(facts, r, x[0]))
    for name, count in reversed(unrolled):
        near = FOUR if s.fours and name == r.rows[0] else count
        yield name, near, Role.UNROLL
        if name in items and name != r.along:
            yield name, items[name], Role.LOCAL
            yield name, count // near, Role.UNROLL
    yield from ((name, count, Role.LOCAL) for name, count in s.sub_groups)


def reach_of(facts: Facts, r: Roles, s: Shape) -> dict[str, int]:
    """Number of values of each index that the levels of a tile reach, where these are several."""
    found: dict[str, int] = {}
    for name, count, _ in levels_of(facts, r, s):
        found[name] = found.get(name, 1) * count
    return found


def has_vectors(facts: Facts, r: Roles, name: str) -> bool:
    """Whether rows along an index read vectors of their own."""
    return any(name in t.names for t in facts.inputs if r.along in t.names)


def written_out(facts: Facts, r: Roles, s: Shape) -> tuple[set[str], frozenset[str]]:
    """The indices that move within the innermost body of a CPU; and those that have one value in
    each part of it, so that tests of them are none."""
    levels = _short_sums(Levels(facts), r, s)
    sums = ((x.index, x.extent) for x in levels.inner if x.role is Role.UNROLL)
    steps = dict((*s.tile, *sums))
    known = (name for name, extent in facts.extents.items() if steps.get(name, 1) == extent)
    return {r.along, *steps}, frozenset(known)


# -- sums ------------------------------------------------------------------------------------------


def _short_sums(levels: Levels, r: Roles, s: Shape) -> Levels:
    """Add loops over a part of the sums, the innermost of which are unrolled as far as a body has
    room."""
    parts = dict(zip(reversed(r.sums), s.parts, strict=False))
    room = min(MOST_STEPS, max(1, BODY // (s.columns * s.rows)))
    is_written = True
    for name in r.sums:
        size = ceil_div(levels.facts.extents[name], parts.get(name, 1))
        is_written = is_written and size <= room
        if is_written:
            levels.add(name, size, Role.UNROLL)
            room //= size
        else:
            few = next((k for k in (4, 3, 2) if k <= room and size % k == 0), 1)
            few = few if name == r.sums[0] else 1
            levels.add(name, few, Role.UNROLL).loop(name, size // few)
    return levels


def _chunks(levels: Levels, r: Roles, s: Shape) -> None:
    """Add loops over the chunks of the innermost sum, around its steps and taps.

    A body larger than the instruction cache stays a loop, the outermost first.
    """
    k = r.sums[0]
    inside = [(name, levels.facts.extents[name]) for name in reversed(r.taps) if name in s.taps]
    steps = [(k, s.chunk // s.shared)] if s.chunk > 1 else []
    copies = prod(x.extent for x in levels.inner)
    for name, count in (*inside, *steps):
        copies *= count
        role = Role.UNROLL if copies <= s.unrolled else Role.SERIAL
        levels.add(name, count, role, is_place=True)
    levels.item(k, s.shared).add(k, levels.rest(k), Role.SERIAL, is_place=True)
    levels.whole(name for name in reversed(r.taps) if name not in s.taps)
    levels.whole(r.sums[1:])


# -- stages ----------------------------------------------------------------------------------------


def _packed(
    facts: Facts, r: Roles, s: Shape, outer: Sequence[LoopLevel], inner: Sequence[LoopLevel]
) -> Iterator[Stage]:
    """A stage of each staged operand for a block or a part of it, with the axis of the lanes
    fastest."""
    for tensor in facts.inputs:
        if tensor.number in s.staged:
            order = with_fastest(tensor, r.along)
            place = outer[-1] if outer else None
            if s.inside and s.inside in tensor.names:
                place = next((x for x in inner if x.index == s.inside), place)
            inside = inner[inner.index(place) + 1 :] if place is not None else inner
            row = min(tensor.affine_access.extents(steps_of(inside))[-1], tensor.shape[-1])
            # Rows are copied at once, or the sides of squares.
            most = min(SQUARE, s.lanes) if order else s.lanes
            yield Stage(
                tensor.number,
                local=True,
                at=(place.index, place.stride) if place is not None else None,
                order=order,
                vector=min(most, power_below(row)),
            )


def with_fastest(tensor: Tensor, index: str) -> tuple[int, ...]:
    """The order of axes with the last one that an index moves fastest; empty: the operand's own."""
    rank = len(tensor.shape)
    axes = [k for k, moves in enumerate(tensor.affine_access.moves) if index in moves]
    if not axes or axes[-1] == rank - 1:
        return ()
    return (*(k for k in range(rank) if k != axes[-1]), axes[-1])


def _local_of_chunk(facts: Facts, r: Roles, s: Shape) -> Iterator[Stage]:
    """Stages of a chunk: the axis along the lanes, or else along rows, lies fastest."""
    for tensor in facts.inputs:
        if tensor.number not in s.staged:
            continue
        rank, moves = len(tensor.shape), tensor.affine_access.moves
        along = r.along if r.along in tensor.names else r.rows[0]
        axis = next((k for k in range(rank) if along in moves[k]), rank - 1)
        order = (*(k for k in range(rank) if k != axis), axis)
        if s.has_classes and along not in tensor.names:
            # The reads of all items in a step of the sum are adjacent.
            order = tuple(sorted(range(rank), key=lambda k: r.sums[0] not in moves[k]))
        is_plain = order == tuple(range(rank))
        yield Stage(
            tensor.number,
            local=True,
            at=(r.sums[0], s.chunk),
            copies=s.copies,
            # With turned roles neighbours in memory are along the sum or taps, and stored apart.
            pad=0 if is_plain or not (s.fours or r.is_turned) else FOUR,
            order=() if is_plain else order,
            vector=FOUR,
        )


def _private(facts: Facts, r: Roles, s: Shape, sums: Sequence[LoopLevel]) -> Iterator[Stage]:
    """Stages in registers, in the innermost sum, or around a tap whose elements make a window."""
    tap = sums[-1]
    moved = {name for name, _ in s.tile} if s.has_classes else {r.rows[0]}
    for tensor in facts.inputs:
        place = tap
        for moves in tensor.affine_access.moves:
            slides = tap.role is Role.UNROLL and tap.index in moves
            if slides and not moves.keys().isdisjoint({r.along, *moved}) and len(sums) > 1:
                place = sums[-2]
        if s.lanes == 1 and r.along in tensor.names:
            # Its elements are apart: there are no vectors of them to load.
            continue
        if tensor.names:
            is_wide = r.along in tensor.names or s.fours or s.has_classes
            at = place.index, place.stride
            yield Stage(tensor.number, local=False, at=at, vector=FOUR if is_wide else 2)
