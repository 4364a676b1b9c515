"""Schedules of contractions on GPUs, made of the numbers that candidates consist of."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.facts import Facts, Tensor
from tiledialect.schedule.default_schedule import on_grid
from tiledialect.schedule.loops import LoopLevel, Role, Schedule, Stage
from tiledialect.schedule.search.candidates.gpu_roles import Roles
from tiledialect.schedule.search.candidates.loops import digits, kept

MOST_UNROLLED = (640, 1152)
"""Most copies of a multiplication in an item: of a small body, or a large one."""
MOST_UNROLLED_PLAIN = (1152, 2304)
"""Most copies without taps, whose absence makes the body simpler."""


@dataclass(frozen=True)
class Shape:
    """The numbers that make a schedule."""

    warps: tuple[int, int]
    """Sub-groups of a group along `m` and `n`."""
    lanes: tuple[int, int]
    """Items of a sub-group along `m` and `n`."""
    third: int
    """Items of a group along the third output index."""
    tile: tuple[int, int]
    """Accumulators of an item along `m` and `n`."""
    fours: bool = False
    """Whether accumulators along `m` come in fours that items share out."""
    inner: tuple[str, ...] = ()
    """The short indices for all of whose values an item has accumulators."""
    shared: int = 1
    """Items that share the steps of a chunk."""
    all_local: bool = False
    """Whether an operand that the tile moves both ways, which each item reads for itself, is staged
    too."""
    chunk: int = 8
    taps_inside: bool = True
    copies: int = 2
    unrolled: int = MOST_UNROLLED[0]

    @property
    def has_classes(self) -> bool:
        """Whether an item has accumulators for several short indices."""
        return len(self.inner) > 1

    @property
    def items(self) -> int:
        """Work-items of a group."""
        return prod((*self.warps, *self.lanes, self.third, self.shared))


class Builder:
    """The schedule of a shape."""

    def __init__(self, facts: Facts, r: Roles, shape: Shape):
        self.facts = facts
        self.roles = r
        self.shape = shape

    def schedule(self) -> Schedule:
        """The levels, then the stages."""
        r, s, extents = self.roles, self.shape, self.facts.extents
        rows, m = self._rows()
        columns, n = self._columns()
        third = r.third if r.third not in s.inner else None
        high, b = digits(third, [(s.third, Role.LOCAL, "x")]) if third else (1, [])
        inner = [LoopLevel(name, 1, extents[name], Role.UNROLL) for name in s.inner]
        tiled = ((third, high), (r.m, rows), (r.n, columns))
        single = [*r.rest, *(x for x in r.inner if x not in (*s.inner, third))]
        blocks = [(name, 1, extents[name]) for name in single]
        blocks += [(name, reach, ceil_div(extents[name], reach)) for name, reach in tiled if name]
        parts = [LoopLevel(r.k, s.chunk // s.shared, s.shared, Role.LOCAL, "x")]
        items = [*parts, *b, *_by_role(m, Role.LOCAL), *_by_role(n, Role.LOCAL)]
        # The items of whole sub-groups are outside.
        warp = {name: x * t for name, x, t in zip((r.m, r.n), s.lanes, s.tile, strict=True)}
        items.sort(key=lambda level: level.stride < warp.get(level.index, level.stride))
        body = [*inner, *_by_role(m, Role.UNROLL), *_by_role(n, Role.UNROLL)]
        body += _by_role(n, Role.VECTOR)
        sums = self._sums(prod(level.extent for level in body))
        return Schedule((*on_grid(blocks), *kept(items), *sums, *kept(body)), self._stages(sums))

    def _rows(self) -> tuple[int, list[LoopLevel]]:
        """Number of values of `m` in a group, and the levels, innermost first."""
        s, local, unroll = self.shape, (Role.LOCAL, "x"), (Role.UNROLL, "")
        if not s.fours:
            return digits(self.roles.m, [(s.tile[0], *unroll), (s.lanes[0], *local)])
        parts = (4, s.lanes[0], s.tile[0] // 4, s.warps[0])
        roles = (unroll, local, unroll, local)
        return digits(self.roles.m, [(p, *role) for p, role in zip(parts, roles, strict=True)])

    def _columns(self) -> tuple[int, list[LoopLevel]]:
        """Number of values of `n` in a group, and the levels, innermost first."""
        s, local = self.shape, (Role.LOCAL, "x")
        parts = (4, s.lanes[1], s.tile[1] // 4, s.warps[1])
        roles = ((Role.VECTOR, ""), local, (Role.UNROLL, ""), local)
        return digits(self.roles.n, [(p, *role) for p, role in zip(parts, roles, strict=True)])

    def _sums(self, body: int) -> list[LoopLevel]:
        """The levels of the summed indices, outermost first."""
        r, s, extents = self.roles, self.shape, self.facts.extents
        outer = [LoopLevel(name, 1, extents[name], Role.SERIAL) for name in r.outer]
        chunks = LoopLevel(r.k, s.chunk, ceil_div(extents[r.k], s.chunk), Role.SERIAL)
        own = s.chunk // s.shared
        steps = [LoopLevel(r.k, 1, own, Role.UNROLL)] if s.chunk > 1 else []
        taps = [LoopLevel(name, 1, extents[name], Role.UNROLL) for name in r.taps]
        inner = [*steps, *taps] if s.taps_inside else steps
        around = [] if s.taps_inside else [_serial(tap) for tap in taps]
        # A body larger than the instruction cache stays a loop, the outermost first.
        for k, level in enumerate(inner):
            if body * prod(x.extent for x in inner[k:]) > s.unrolled:
                inner[k] = _serial(level)
        return [*outer, *around, chunks, *inner]

    def _stages(self, sums: list[LoopLevel]) -> tuple[Stage, ...]:
        r, s = self.roles, self.shape
        staged = [t for t in self.facts.inputs if t.names]
        local = [t for t in staged if s.all_local or not {r.n, r.m} <= t.names]
        last = sums[-1].index, sums[-1].stride
        private = [
            Stage(
                t.number,
                local=False,
                at=self._window(t, sums) or last,
                vector=4 if r.n in t.names or s.fours or s.has_classes else 2,
            )
            for t in staged
        ]
        return (*(self._local(t, (r.k, s.chunk)) for t in local), *private)

    def _window(self, tensor: Tensor, sums: list[LoopLevel]) -> tuple[str, int] | None:
        """The level inside which the last tap and the neighbours of a tile make a window."""
        tap = sums[-1]
        moved = {self.roles.m, self.roles.n, *(self.shape.inner if self.shape.has_classes else ())}
        for moves in tensor.affine_access.moves:
            if tap.role is Role.UNROLL and tap.index in moves and moved & moves.keys():
                return (sums[-2].index, sums[-2].stride) if len(sums) > 1 else None
        return None

    def _local(self, tensor: Tensor, at: tuple[str, int]) -> Stage:
        """The stage of an operand: its axis along `m` or `n` lies fastest."""
        r, rank = self.roles, len(tensor.shape)
        along = r.n if r.n in tensor.names else r.m
        axis = next(
            (k for k, moves in enumerate(tensor.affine_access.moves) if along in moves), rank - 1
        )
        order = (*(k for k in range(rank) if k != axis), axis)
        if self.shape.has_classes and along not in tensor.names:
            # The reads of all items in a step of the sum are adjacent.
            order = tuple(
                sorted(range(rank), key=lambda k: r.k not in tensor.affine_access.moves[k])
            )
        is_plain = order == tuple(range(rank))
        return Stage(
            tensor.number,
            local=True,
            at=at,
            copies=self.shape.copies,
            # With turned roles neighbours in memory are along the sum or taps, and stored apart.
            pad=0 if is_plain or not (self.shape.fours or r.is_turned) else 4,
            order=() if is_plain else order,
            vector=4,
        )


def _serial(level: LoopLevel) -> LoopLevel:
    return LoopLevel(level.index, level.stride, level.extent, Role.SERIAL)


def _by_role(levels: list[LoopLevel], role: Role) -> list[LoopLevel]:
    """The levels of a role, outermost first."""
    return [level for level in reversed(levels) if level.role is role]
