"""The space of a kernel's schedules: roles of loop levels, their sizes and order, and stages.

Each index is cut into levels from the innermost one on, each with a role and a number of steps; the
last one takes the rest. The levels of a role have an order, and axes by it: schedules that differ
in axes alone are equal. Each operand may have a tile in local memory and one in registers.
`decisions_of` is the inverse: the decisions that make a schedule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

from tiledialect import caches
from tiledialect.lazy import lazy
from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.estimate import modelled
from tiledialect.schedule.cost.facts import Facts
from tiledialect.schedule.loops import (
    PARALLEL,
    LoopLevel,
    Role,
    Schedule,
    ScheduleError,
    Stage,
    check,
)
from tiledialect.schedule.search.candidates.levels import Levels
from tiledialect.schedule.search.choice import exceeded, in_sub_groups
from tiledialect.schedule.search.decisions import Chooser, DeadEndError, Decisions, Option

MOST_LEVELS = 6
"""Most levels of an index."""
MOST_STEPS_OF_BODY = 1 << 10
"""Most steps of unrolled levels together: beyond that, compilers take minutes."""
COMMON_SIZES = 16
"""Steps up to which every number is an option; beyond, there are divisors, powers and quotients."""
MOST_PARTS = 128
"""Parts up to which an index is cut into any number of them."""
VECTORS = (2, 4, 8, 16)
"""Lanes of OpenCL's vectors; of 3 there are some in no loop."""
ROLES = tuple(map(str, (Role.VECTOR, Role.UNROLL, Role.LOCAL, Role.SERIAL, Role.GROUP)))
"""Roles of levels, from the innermost to the outermost."""
PLACES = ("none", "local", "private", "local private")
"""Memories in which an operand may have tiles."""
PADS = (0, 1, 2, 4, 8, 16)
ROTATIONS = (0, 4, 8, 16, 32)
MOST_AXES = 4
"""Axes of an operand up to which all their orders are options."""


@caches.SIZES
def sizes(rest: int, most: int) -> Sequence[int]:
    """Numbers of steps of a level, from 2 to a limit, of an index that has ``rest`` values left.

    Small numbers, and those that share the rest evenly or are powers of two, or three times as
    much; up to four times as many as there are values, as work-items may have nothing to do.
    """
    if rest < 2:
        return []
    bits = (rest - 1).bit_length() + 2
    found = {*range(2, min(COMMON_SIZES, rest) + 1), rest}
    found |= {factor << k for k in range(1, bits + 1) for factor in (1, 3)}
    found |= {ceil_div(rest, k) for k in range(1, min(rest, MOST_PARTS))}
    found |= {rest // k for k in range(1, COMMON_SIZES) if rest % k == 0}
    return sorted(n for n in found if 2 <= n <= min(most, 1 << bits))


@dataclass
class _Builder:
    """Levels and stages of one schedule while its decisions are made."""

    facts: Facts
    device: Device
    chooser: Chooser

    def __post_init__(self):
        self.levels = Levels(self.facts)

    def schedule(self) -> Schedule:
        """Schedule of the decisions.

        Raises a ``DeadEndError`` if the kernel cannot run it, or the device has no room for it.
        """
        for index in self._indices:
            self._cut(index)
        self._order()
        stages = tuple(s for n in self._staged for s in self._stages(n))
        # In the order of candidates: equal schedules have equal texts.
        stages = (*(s for s in stages if s.local), *(s for s in stages if not s.local))
        found = replace(self.levels.schedule(stages), one_pass=self._one_pass(stages))
        found = in_sub_groups(self.facts, found, self.device)
        try:
            last = max((s.operand for s in stages), default=-1)
            check(self.facts.indices, found, [self._ranks.get(n, 0) for n in range(last + 1)])
        except ScheduleError as error:
            raise DeadEndError(str(error)) from None
        if reason := exceeded(modelled(self.facts, found, self.device)):
            raise DeadEndError(reason)
        return found

    @lazy
    def _indices(self) -> list[str]:
        """Indices with a choice, the one that runs along the output's memory first."""
        strides: Mapping[str, int] = self.facts.outputs[0].strides if self.facts.outputs else {}
        moving = [n for n, extent in self.facts.extents.items() if extent > 1]
        return sorted(moving, key=lambda n: (strides.get(n, 0) == 0, strides.get(n, 0)))

    # -- levels ------------------------------------------------------------------------------

    def _cut(self, index: str) -> None:
        """Add the levels of an index, innermost first."""
        inner: list[Role] = []
        while (rest := self.levels.rest(index)) > 1:
            name, roles = f"{index} {len(inner)}", self._roles(index, inner)
            role = Role(str(self.chooser.choose(name, roles, ROLES)))
            most = self._most(role)
            options = sizes(rest, most)
            if role is Role.VECTOR:
                options = [n for n in options if n in VECTORS]
            inner.append(role)
            if len(inner) == MOST_LEVELS:
                options = [rest] if rest <= most else []
            steps = self.chooser.choose(f"{name} steps", options)
            assert isinstance(steps, int)
            self.levels.add(index, steps, role, "x" if role is Role.LOCAL else "")

    def _roles(self, index: str, inner: Sequence[Role]) -> list[Option]:
        """Roles that the next level of an index may have."""
        is_output = index in self.facts.output_indices
        last = len(inner) + 1 == MOST_LEVELS
        if inner and inner[-1] is Role.GROUP:
            return [str(Role.GROUP)]
        found: list[Option] = []
        for role in map(Role, ROLES):
            if role is Role.VECTOR and (inner or self.levels.steps(role) > 1):
                continue
            if (role is Role.GROUP and not is_output) or self._most(role) < 2:
                continue
            if last and role is not (Role.GROUP if is_output else Role.SERIAL):
                continue
            found.append(str(role))
        return found

    def _most(self, role: Role) -> int:
        """Most steps that a further level of a role may have."""
        if role is Role.LOCAL:
            return self.device.max_work_group_size // self.levels.steps(role)
        if role is Role.VECTOR:
            return max(VECTORS)
        if role is Role.UNROLL:
            return MOST_STEPS_OF_BODY // self.levels.steps(role)
        return 1 << 31

    def _order(self) -> None:
        """Order groups, items and loops among themselves; the vector is inside all."""
        levels = self.levels
        levels.groups = self._ordered(GROUPS, levels.groups)
        levels.items = self._ordered(ITEMS, levels.items)
        lanes = [x for x in levels.inner if x.role is Role.VECTOR]
        loops = [x for x in levels.inner if x.role is not Role.VECTOR]
        levels.inner = [*self._ordered(LOOPS, loops), *lanes]

    def _ordered(self, name: str, levels: Sequence[LoopLevel]) -> list[LoopLevel]:
        left = {n: [x for x in levels if x.index == n] for n in self._indices}
        found: list[LoopLevel] = []
        for number in range(len(levels)):
            names = [n for n, own in left.items() if own]
            if len(names) > 1:
                names = [str(self.chooser.choose(f"{name} {number}", names, self._indices))]
            found.append(left[names[0]].pop(0))
        return found

    # -- stages ------------------------------------------------------------------------------

    @lazy
    def _ranks(self) -> Mapping[int, int]:
        return {t.number: len(t.shape) for t in self.facts.inputs}

    @lazy
    def _staged(self) -> tuple[int, ...]:
        """Numbers of the values that may have tiles."""
        names = {t.number for t in self.facts.inputs if t.names}
        return tuple(sorted({*names, *self.facts.kept}))

    def _stages(self, number: int) -> Iterable[Stage]:
        places: Sequence[Option] = PLACES
        if self.facts.is_rows or not self._may_be_local(number):
            places = [p for p in PLACES if "local" not in p]
        wanted = str(self.chooser.choose(f"stage {number}", places, PLACES)).split()
        for place in wanted if wanted != ["none"] else ():
            yield self._stage(number, local=place == "local")

    def _may_be_local(self, number: int) -> bool:
        return self.device.local_mem_size > 0 and number in self._ranks

    def _stage(self, number: int, *, local: bool) -> Stage:
        inside = self.levels.inner
        name = f"stage {number} {'local' if local else 'private'}"
        place = self.chooser.choose(f"{name} at", [*range(len(inside) + 1)])
        assert isinstance(place, int)
        level = inside[place - 1] if place else None
        vector = self.chooser.choose(f"{name} vector", [1, *VECTORS])
        assert isinstance(vector, int)
        stage = Stage(
            number, local, (level.index, level.stride) if level is not None else None, vector=vector
        )
        return self._tile(name, stage) if local else stage

    def _tile(self, name: str, stage: Stage) -> Stage:
        """The stage with the options of local memory."""
        ways = ["1", *(("2",) if stage.at is not None else ())]
        if stage.at is not None and self.device.compute_capability:
            ways += ["2 async", "3 async", "4 async"]
        copies, _, alone = str(self.chooser.choose(f"{name} copies", ways, WAYS)).partition(" ")
        rank = self._ranks[stage.operand]
        orders = _orders(rank) if rank <= MOST_AXES else [""]
        order = str(self.chooser.choose(f"{name} order {rank}", orders))
        pad = self.chooser.choose(f"{name} pad", PADS)
        rotate = self.chooser.choose(f"{name} rotate", ROTATIONS if pad == 0 else (0,))
        assert isinstance(pad, int) and isinstance(rotate, int)
        return replace(
            stage,
            copies=int(copies),
            asynchronous=bool(alone),
            order=tuple(map(int, order.split())),
            pad=pad,
            rotate=rotate,
        )

    def _one_pass(self, stages: Sequence[Stage]) -> bool:
        if not self.facts.guessed or stages:
            return False
        return self.chooser.choose("one pass", ["no", "yes"]) == "yes"


GROUPS, ITEMS, LOOPS = "order of groups", "order of items", "order of loops"
ORDERED: Mapping[str, tuple[Role, ...]] = {
    GROUPS: (Role.GROUP,),
    ITEMS: (Role.LOCAL,),
    LOOPS: (Role.SERIAL, Role.UNROLL),
}
"""Roles whose levels have an order together, from the outermost on."""
AXES = "zyx"
"""Axes of the grid and of groups, the last one the fastest."""


def without_axes(levels: Iterable[LoopLevel]) -> list[LoopLevel]:
    """Levels without axes; those of groups and of items in the order in which they follow one
    another, the fastest last."""
    found = list(levels)
    parallel = [
        replace(x, axis="")
        for role in PARALLEL
        for x in sorted((x for x in found if x.role is role), key=lambda x: AXES.index(x.axis))
    ]
    return [*parallel, *(x for x in found if x.role not in PARALLEL)]


WAYS = ("1", "2", "2 async", "3 async", "4 async")
"""Numbers of buffers of a tile, and whether these are filled asynchronously."""


def _orders(rank: int) -> list[str]:
    """Orders of axes as text; the operand's own is empty."""
    own = tuple(range(rank))
    return ["", *(" ".join(map(str, p)) for p in permutations(own) if p != own)]


def schedule_of(facts: Facts, device: Device, chooser: Chooser) -> Schedule:
    """A legal schedule of a kernel that fits a device, made of decisions.

    Raises:
        DeadEndError: the decisions leave no option, or the schedule needs more than there is.
    """
    return _Builder(facts, device, chooser).schedule()


def decisions_of(facts: Facts, schedule: Schedule) -> Decisions:
    """The decisions that make a schedule, or the one nearest to it in the space."""
    found: dict[str, Option] = {}
    levels = without_axes(x for x in schedule.levels if x.extent > 1)
    for index in facts.extents:
        own = sorted((x for x in levels if x.index == index), key=lambda x: x.stride)
        for number, level in enumerate(own):
            found[f"{index} {number}"] = str(level.role)
            found[f"{index} {number} steps"] = level.extent
    for name, roles in ORDERED.items():
        for number, level in enumerate(x for x in levels if x.role in roles):
            found[f"{name} {number}"] = level.index
    for operand in {t.number for t in facts.inputs} | {s.operand for s in schedule.stages}:
        found |= _decisions_of_stages(facts, schedule, operand)
    found["one pass"] = "yes" if schedule.one_pass else "no"
    return found


def _decisions_of_stages(facts: Facts, schedule: Schedule, operand: int) -> Decisions:
    own = {s.local: s for s in schedule.stages if s.operand == operand}
    words = [word for local, word in ((True, "local"), (False, "private")) if local in own]
    found: dict[str, Option] = {f"stage {operand}": " ".join(words) or "none"}
    rank = next((len(t.shape) for t in facts.inputs if t.number == operand), 0)
    for local, stage in own.items():
        name = f"stage {operand} {'local' if local else 'private'}"
        found[f"{name} at"] = _place(schedule, stage)
        found[f"{name} vector"] = stage.vector
        found[f"{name} copies"] = f"{stage.copies}{' async' if stage.asynchronous else ''}"
        found[f"{name} order {rank}"] = " ".join(map(str, stage.order))
        found[f"{name} pad"] = stage.pad
        found[f"{name} rotate"] = stage.rotate
    return found


def _place(schedule: Schedule, stage: Stage) -> int:
    """Number of loops inside a work-item that a stage is in, without those of a single step."""
    place = 0
    for level in (x for x in schedule.levels if x.role not in PARALLEL):
        place += level.extent > 1
        if stage.at == (level.index, level.stride):
            return place
    return 0
