"""Transfer of schedules between kernels that differ from one another in sizes alone.

Most of a schedule determines how a tile is computed, which is as good for another batch size. The
rest is the number of tiles: the outermost loop over each index has more steps, or fewer. So where a
program is compiled for other shapes, the schedules for earlier shapes are tried first.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace

from tiledialect import caches
from tiledialect.index.expr import IndexExpr
from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.facts import Facts, Tensor
from tiledialect.schedule.loops import LoopLevel, Role, Schedule
from tiledialect.schedule.search.candidate import Candidate

STRETCHED = (Role.GROUP, Role.SERIAL)
"""Roles of loops that may have another number of steps: nothing is unrolled for each."""
WITH_SIZES = ("indices", "inputs", "outputs", "after", "constraints")
"""The fields of facts that hold sizes."""


@caches.SIZELESS_FACTS
def without_sizes(facts: Facts) -> Hashable:
    """The facts but for sizes: equal for kernels that differ in these alone."""
    rest = tuple(getattr(facts, f.name) for f in fields(facts) if f.name not in WITH_SIZES)
    tensors = tuple(tuple(map(_moves, t)) for t in (facts.inputs, facts.outputs, facts.after))
    indices = tuple((index.name, index.is_output) for index in facts.indices)
    constraints = tuple(_slope(c.expr) for c in facts.constraints)
    return indices, tensors, constraints, rest


def _moves(t: Tensor) -> Hashable:
    """The steps in a tensor by the indices, without its sizes."""
    access = None if t.access is None else tuple(map(_slope, t.access))
    return t.number, len(t.shape), access, t.type


def _slope(e: IndexExpr) -> Hashable:
    """An expression without its constant, which often depends on a size."""
    return tuple((name, e.coefficient(name)) for name in e.names)


def serves_batches(schedule: Schedule, facts: Facts) -> bool:
    """Whether a schedule can be stretched along the index that moves the first axis of the
    results."""
    first = {n for t in facts.outputs for e in (t.access or ())[:1] for n in e.names}
    outermost = {x.index: x for x in sorted(schedule.levels, key=lambda x: x.stride)}
    return all(x.role in STRETCHED for name, x in outermost.items() if name in first)


def stretches(schedule: Schedule, old: Facts, new: Facts) -> Iterator[Schedule]:
    """A kernel's schedule for other sizes: with more steps outside, or as many of more tiles each.

    Nothing if that takes more than that.
    """
    changed = [name for name, extent in new.extents.items() if extent != old.extents[name]]
    own = {name: _outermost_first(schedule, name) for name in changed}
    if all(levels and levels[0].role in STRETCHED for levels in own.values()):
        for way in (_longer, _shared_out):
            changes = {k: v for n in changed for k, v in way(own[n], new.extents[n]).items()}
            # Where all is one tile another one may be better.
            if all(changes.get(own[n][0], own[n][0]).extent > 1 for n in changed):
                yield _with(schedule, changes)


def fitted(schedule: Schedule, facts: Facts) -> Schedule:
    """A schedule of a kernel of other sizes with as many steps of its outermost loops as these
    sizes need, where nothing is unrolled for each step."""
    changes: dict[LoopLevel, LoopLevel] = {}
    for name, extent in facts.extents.items():
        levels = _outermost_first(schedule, name)
        if levels and levels[0].role in STRETCHED:
            changes |= _longer(levels, extent)
    return _with(schedule, changes)


def _with(schedule: Schedule, changes: Mapping[LoopLevel, LoopLevel]) -> Schedule:
    """A schedule with other levels in the place of some, and stages at them."""
    at = {(x.index, x.stride): (y.index, y.stride) for x, y in changes.items()}
    stages = (replace(s, at=at.get(s.at, s.at) if s.at else None) for s in schedule.stages)
    levels = (changes.get(x, x) for x in schedule.levels)
    return replace(schedule, levels=tuple(levels), stages=tuple(stages))


def _outermost_first(schedule: Schedule, name: str) -> list[LoopLevel]:
    """The levels of an index, from the outermost to the innermost."""
    return sorted((x for x in schedule.levels if x.index == name), key=lambda x: -x.stride)


def _longer(levels: Sequence[LoopLevel], extent: int) -> dict[LoopLevel, LoopLevel]:
    """The outermost level with as many steps as reach all values of the index."""
    outer = levels[0]
    return {outer: replace(outer, extent=ceil_div(extent, outer.stride))}


def _shared_out(levels: Sequence[LoopLevel], extent: int) -> dict[LoopLevel, LoopLevel]:
    """The outermost levels where work-groups share out the steps of the loop inside of them."""
    outer, *inside = levels
    if outer.role is not Role.GROUP or not inside or inside[0].role is not Role.SERIAL:
        return _longer(levels, extent)
    steps = ceil_div(extent, inside[0].stride)
    share = ceil_div(steps, outer.extent)
    groups = replace(outer, stride=share * inside[0].stride, extent=ceil_div(steps, share))
    return {outer: groups, inside[0]: replace(inside[0], extent=share)}


Searched = dict[Hashable, list[tuple[Facts, Schedule]]]
"""Schedules of earlier searches, by their kernels without sizes."""
REMEMBERED = 8
"""The number of sizes of a kernel that are remembered, the last ones."""


@dataclass(eq=False)
class KnownSchedules:
    """The schedules that were found for a program, for all shapes that it was compiled for."""

    searched: Searched = field(default_factory=Searched)
    """The schedules of shapes before."""
    fresh: Searched = field(default_factory=Searched)
    """Schedules of the shapes that it is compiled for now: these are no neighbours to one another,
    so that the schedules of the first shapes depend on nothing else."""
    chosen: dict[tuple[Facts, Device], Candidate | None] = field(
        default_factory=dict[tuple[Facts, Device], Candidate | None]
    )
    """The candidates that were chosen, for all sizes."""

    def note(self, facts: Facts, schedule: Schedule) -> None:
        """Remember a schedule that was searched for."""
        self.fresh.setdefault(without_sizes(facts), []).append((facts, schedule))

    def near(self, facts: Facts) -> tuple[Facts, list[Schedule]] | None:
        """The nearest kernel that was searched for, and its schedule in ways for these sizes."""

        def distance(found: tuple[Facts, Schedule]) -> int:
            old = found[0].extents
            return sum(extent != old[name] for name, extent in facts.extents.items())

        known = self.searched.get(without_sizes(facts), [])
        # The last one among equally near ones.
        for old, schedule in sorted(known, key=distance):
            if found := list(dict.fromkeys(stretches(schedule, old, facts))):
                return old, found
        return None

    def _settle(self) -> None:
        """Let found schedules serve other shapes."""
        for key, found in self.fresh.items():
            self.searched[key] = [*self.searched.get(key, ()), *found][-REMEMBERED:]
        self.fresh.clear()


_current: ContextVar[KnownSchedules | None] = ContextVar("known_schedules", default=None)


@contextmanager
def transferring(known: KnownSchedules) -> Generator[None]:
    """Choose schedules near those of other shapes of the same program."""
    token = _current.set(known)
    try:
        yield
    finally:
        _current.reset(token)
        known._settle()  # pyright: ignore[reportPrivateUsage]


def current() -> KnownSchedules | None:
    """Schedules of the program that is compiled now."""
    return _current.get()
