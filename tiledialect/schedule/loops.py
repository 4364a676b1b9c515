"""Schedules: the loop levels of a kernel, their roles, and the tiles of operands near them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from math import gcd, prod

from xdsl.utils.str_enum import StrEnum

from tiledialect.index.expr import Range


class ScheduleError(ValueError):
    """A schedule that does not fit its kernel."""


class Role(StrEnum):
    """Executor of the steps of a loop level: a grid of work-groups or work-items, or a loop."""

    GROUP = "group"
    LOCAL = "local"
    SERIAL = "serial"
    UNROLL = "unroll"
    VECTOR = "vector"

    __hash__ = str.__hash__
    """The hash of strings: an enumeration's is slow, and schedules are hashed by the thousand."""


PARALLEL = (Role.GROUP, Role.LOCAL)
"""The roles whose steps run at the same time, on axis `x`, `y` or `z` of the grid or group."""
LONG_LANES = 8
"""Lanes of vectors that only CPUs have."""
LOADED_LANES = 2
"""Fewest lanes of a long vector for each vector of a row from which they are shuffled: with more
vectors they are loaded one by one."""
SHORT_ROW = 4
"""Rows that are shorter than this are no vectors: neighbours of other rows are lanes then."""
UNROLLED = (Role.UNROLL, Role.VECTOR)
"""The roles whose steps stand one after the other in the kernel."""


@dataclass(frozen=True)
class LoopLevel:
    """Loop of a schedule: ``index`` grows by ``stride`` with each of ``extent`` steps.

    ``axis`` is ``x``, ``y`` or ``z`` for the roles ``group`` and ``local``, else empty. An index
    is its lower bound plus the sum of its levels' steps times their strides.
    """

    index: str
    stride: int
    extent: int
    role: Role
    axis: str = ""

    @property
    def step(self) -> str:
        """The index and how far a step moves it, as in ``32*i``."""
        return self.index if self.stride == 1 else f"{self.stride}*{self.index}"

    def __str__(self) -> str:
        role = f"{self.role}.{self.axis}" if self.axis else str(self.role)
        return f"{role} {self.step} : {self.extent}"


COPIED_BYTES = (4, 8, 16)
"""Numbers of bytes that one asynchronous copy can move."""


@dataclass(frozen=True)
class Stage:
    """A tile of an operand that is copied to nearer memory before its use.

    The tile holds the footprint of the loops inside the place of the copy: the levels after ``at``
    (None: all that are not ``group`` or ``local``), and, for local memory, the levels of all
    work-items of the group.
    """

    operand: int
    """Number of an input of the kernel; past those, of a value that a row kernel computes."""
    local: bool
    """Whether the tile lies in local memory, else in the work-item's registers."""
    at: tuple[str, int] | None = None
    """Index and stride of the level in each step of which the tile is copied."""
    copies: int = 1
    """Number of buffers: with 2, the next tile is fetched while this one is used; with more, later
    ones too."""
    asynchronous: bool = False
    """Whether data fetched ahead goes to local memory by itself, not through registers."""
    pad: int = 0
    """Number of elements by which the rows of the tile are padded."""
    rotate: int = 0
    """The size of the pieces of rows that change places, in each row differently."""
    order: tuple[int, ...] = ()
    """The axes of the operand from slowest to fastest in the tile; empty: as in the operand."""
    vector: int = 1
    """Number of neighbours that one copy moves."""

    def __str__(self) -> str:
        """Text without the operand: ``local at 16*k copies 2``."""
        text = "local" if self.local else "private"
        if self.at is not None:
            text += f" at {LoopLevel(*self.at, 0, Role.SERIAL).step}"
        if self.asynchronous:
            text += " async"
        for word, value, default in (
            ("copies", self.copies, 1),
            ("pad", self.pad, 0),
            ("rotate", self.rotate, 0),
            ("vector", self.vector, 1),
        ):
            if value != default:
                text += f" {word} {value}"
        if self.order:
            text += f" order ({', '.join(map(str, self.order))})"
        return text


@dataclass(frozen=True)
class GlobalStage:
    """An operand that a separate kernel copies in global memory, its axes in an order.

    The orders of its other stages, and their axes without an order, refer to the axes of the
    operand and of its copy alike.
    """

    operand: int
    """Number of the input of the kernel."""
    order: tuple[int, ...]
    """The axes of the operand from slowest to fastest in the copy."""
    pad: int = 0
    """Number of zeros by which the rows of the copy are padded."""

    def __str__(self) -> str:
        """Text without the operand: ``global order (1, 0) pad 4``."""
        pad = f" pad {self.pad}" if self.pad else ""
        return f"global order ({', '.join(map(str, self.order))}){pad}"


@dataclass(frozen=True)
class Placement:
    """An instruction that takes the place of the innermost box of a contraction."""

    name: str
    """Name of an entry of the table `tiledialect.schedule.instructions`."""
    steps: tuple[tuple[str, int], ...]
    """The index along each axis of its box, and how far a step along the axis moves it."""

    def __str__(self) -> str:
        steps = (LoopLevel(*step, 0, Role.SERIAL).step for step in self.steps)
        return f"{self.name} <{', '.join(steps)}>"


@dataclass(frozen=True)
class Schedule:
    """Schedule of a kernel: its loop levels, outermost first, stages, and options."""

    levels: tuple[LoopLevel, ...] = ()
    stages: tuple[Stage, ...] = field(default=())
    instruction: Placement | None = None
    sub_groups: int = 0
    """Number of neighbouring work-items that join shared values without local memory; 0: none
    do."""
    global_stages: tuple[GlobalStage, ...] = ()
    """Copies made before the kernel; `tile-loop-tiling` makes kernels of them."""
    one_pass: bool = False
    """Whether lone work-items guess means while they read a row, and need no pass for them alone;
    groups that share rows without keeping them do so anyway."""

    def extents(self, role: Role) -> tuple[int, int, int]:
        """The steps of a parallel role along x, y and z."""
        x, y, z = (
            prod(level.extent for level in self.levels if (level.role, level.axis) == (role, axis))
            for axis in "xyz"
        )
        return x, y, z

    @property
    def work_items(self) -> int:
        """Number of work-items in a work-group."""
        return prod(self.extents(Role.LOCAL))

    def with_axes(self, operand: int, axis: Callable[[int], int]) -> Schedule:
        """Schedule with other names of an operand's axes in its stages."""
        stages = (
            replace(s, order=tuple(map(axis, s.order))) if s.operand == operand else s
            for s in self.stages
        )
        return replace(self, stages=tuple(stages))


@dataclass(frozen=True)
class LoopIndex:
    """An index of a kernel: its range, and whether it moves the output."""

    name: str
    range: Range
    is_output: bool


MOST_REACHED = 1 << 62
"""Most values that the loops over an index have together: numbers of 64 bits count them."""
MOST_ITEMS = (1 << 31) - 1
"""Most work-items that a group can have at all; a device has its own limit."""
MOST_UNROLLED = 1 << 14
"""Most copies of a body in a kernel: beyond that, no compiler terminates."""


def check(
    indices: Sequence[LoopIndex],
    schedule: Schedule,
    ranks: Sequence[int],
    names: Sequence[str] = (),
) -> None:
    """Refuse a schedule by which a kernel cannot run.

    The levels of an index, by falling stride, must be a mixed-radix system: each stride is the next
    one's stride times its extent, the last is 1, and together they reach the whole range. Parallel
    levels come before the others, and vectors last. Sub-groups lie along x, and share summed
    indices. ``ranks`` are the ranks of the values that can be staged: the inputs, and the values
    that a row kernel computes; ``names`` are the user's names for them.

    Raises:
        ScheduleError: the schedule is not legal; the message names the index or the stage.
    """
    _check_levels(indices, schedule.levels)
    if schedule.work_items > MOST_ITEMS:
        raise ScheduleError(f"no device has work-groups of {schedule.work_items} work-items")
    _check_order(indices, schedule.levels)
    _check_sub_groups(indices, schedule)
    if schedule.one_pass and schedule.stages:
        raise ScheduleError("one_pass allows no stages: staged values are for several passes")
    for stage in schedule.stages:
        if not 0 <= stage.operand < len(ranks):
            raise ScheduleError(f"there is no input {stage.operand} to stage")
    called = [f"{names[s.operand] if names else f'input {s.operand}'} {s}" for s in schedule.stages]
    for stage, text in zip(schedule.stages, called, strict=True):
        _check_stage(stage, text, schedule, ranks[stage.operand])
    for stage, text in zip(schedule.stages, called, strict=True):
        _check_inside(stage, text, schedule)


def _check_levels(indices: Sequence[LoopIndex], levels: Sequence[LoopLevel]) -> None:
    names = {index.name for index in indices}
    for level in levels:
        if level.index not in names:
            raise ScheduleError(
                f"the schedule has a loop over {level.index}, which is no index of the kernel; its "
                f"indices are: {', '.join(index.name for index in indices) or 'none'}"
            )
    copies = prod(x.extent for x in levels if x.role in UNROLLED)
    if copies > MOST_UNROLLED:
        raise ScheduleError(
            f"the unrolled loops (unroll, vector) have {copies} steps together; the limit is "
            f"{MOST_UNROLLED}"
        )
    for index in indices:
        reach = 1
        own = (x for x in levels if x.index == index.name)
        for level in sorted(own, key=lambda x: (x.stride, x.extent)):
            if level.stride != reach:
                raise ScheduleError(
                    f"the loops over {index.name} have a gap or an overlap at stride {level.stride}"
                )
            reach *= level.extent
        if reach > MOST_REACHED:
            raise ScheduleError(
                f"the loops over {index.name} reach {reach} values; the limit is {MOST_REACHED}"
            )
        if reach < index.range.extent:
            raise ScheduleError(
                f"the loops over {index.name} reach {reach} of its {index.range.extent} values"
            )


def _check_order(indices: Sequence[LoopIndex], levels: Sequence[LoopLevel]) -> None:
    reduced = {index.name for index in indices if not index.is_output}
    rest = list(levels)
    while rest and rest[0].role in PARALLEL:
        rest.pop(0)
    for level in rest:
        if level.role in PARALLEL:
            raise ScheduleError(f"the loop {level} must come before the loops inside a work-item")
    for level in levels:
        if level.role is Role.GROUP and level.index in reduced:
            raise ScheduleError(
                f"{level.index} is summed over, so no work-group can have it to itself: "
                "split the reduction first (tile-split-reduction)"
            )
        if level.role is Role.VECTOR and level is not levels[-1]:
            raise ScheduleError(f"the vector over {level.index} must be the innermost loop")


def _check_sub_groups(indices: Sequence[LoopIndex], schedule: Schedule) -> None:
    size, items = schedule.sub_groups, schedule.extents(Role.LOCAL)[0]
    if not size:
        return
    if size < 2 or size & (size - 1):
        raise ScheduleError(f"sub_groups must be a power of two from 2 on, got {size}")
    if items % size:
        raise ScheduleError(f"sub_groups {size} must divide the {items} work-items along x")
    summed = {index.name for index in indices if not index.is_output}
    if sub_group_share(schedule, summed) == 1:
        raise ScheduleError(
            f"sub-groups of {size} have nothing to join: the innermost local.x loop must be over "
            "an index that is summed over, and of an even number of steps"
        )


def sub_group_share(schedule: Schedule, summed: Collection[str]) -> int:
    """Number of neighbours in a sub-group that work on the same element and divide its sum."""
    neighbours = 1
    for level in reversed(schedule.levels):
        if (level.role, level.axis) == (Role.LOCAL, "x"):
            if level.index not in summed:
                break
            neighbours *= level.extent
    return gcd(neighbours, max(schedule.sub_groups, 1))


LEAST_ALIGNED_ROW = 512
"""Number of elements of a row from which its vectors begin at multiples of themselves in memory.

They are 32 cache lines of floats: a line more at each end is little compared to them, also for
short vectors, of which not each would be in two lines.
"""


def ends_in_power_of_two(extent: int, lanes: int) -> bool:
    """Whether a row ends in a half, a quarter… of a vector, which is as fast as a whole one.

    Other ends are several of these; there the last vector is shifted inwards over elements that are
    done (`lowering/tile_to_nest/rows/row_vector_tails.py`).
    """
    rest = extent % lanes
    return rest > 0 and rest & (rest - 1) == 0


def is_last_group_short(extent: int, group: int, together: int) -> bool:
    """Whether the last group has fewer rows than are unrolled together.

    Its rows cannot be shifted inwards, over rows of another group
    (`lowering/tile_to_nest/vector_tails.py`).
    """
    return group < extent and 0 < extent % group < together


def first_unrolled(levels: Sequence[LoopLevel]) -> int:
    """Number of the first of the innermost unrolled levels."""
    k = len(levels)
    while k and levels[k - 1].role in UNROLLED:
        k -= 1
    return k


SUMS_OF_STEP = 8
"""Fewest additions that a core has in flight: so many sums need not wait for one another."""


def separate_sums(levels: Sequence[LoopLevel], outputs: Collection[str]) -> tuple[int, ...]:
    """Summed levels whose steps have separate sums, which are added up at the end.

    These are the lanes of the innermost vector and, where a work-item is alone in its group, the
    adjacent vectors: a step that adds to few sums would wait for each addition.
    """
    last = len(levels) - 1
    if last < 0 or levels[last].role is not Role.VECTOR or levels[last].index in outputs:
        return ()
    unrolled = first_unrolled(levels)
    first = next(k for k, x in enumerate(levels) if x.index not in outputs)
    is_alone = not any(x.role is Role.LOCAL for x in levels)
    if not is_alone or any(x.index in outputs for x in levels[first:unrolled]):
        return (last,)
    found = [last]
    sums = prod(x.extent for x in levels[unrolled:] if x.index in outputs)
    for k in range(last - 1, max(first, unrolled) - 1, -1):
        if levels[k].index not in outputs and sums * levels[k].extent <= SUMS_OF_STEP:
            sums *= levels[k].extent
            found.insert(0, k)
    return tuple(found)


def place_of(stage: Stage, levels: Sequence[LoopLevel]) -> int:
    """Number of levels outside the place where a stage is copied."""
    for number, level in enumerate(levels):
        if level.role not in PARALLEL and stage.at == (level.index, level.stride):
            return number + 1
    return sum(level.role in PARALLEL for level in levels)


def _check_stage(stage: Stage, text: str, schedule: Schedule, rank: int) -> None:
    inside = [x for x in schedule.levels if x.role not in PARALLEL]
    if stage.at is not None and stage.at not in [(x.index, x.stride) for x in inside]:
        there = ", ".join(x.step for x in inside) or "none"
        raise ScheduleError(
            f"the stage '{text}' must be at a loop inside a work-item; these are: {there}"
        )
    if stage.order and sorted(stage.order) != list(range(rank)):
        raise ScheduleError(f"the stage '{text}' must order the axes 0 to {rank - 1}")
    if stage.asynchronous and stage.copies not in (2, 3, 4):
        raise ScheduleError(f"the stage '{text}' must have 2, 3 or 4 copies to be fetched into")
    if not stage.asynchronous and stage.copies not in (1, 2):
        raise ScheduleError(f"the stage '{text}' can have 1 or 2 copies, or more with async")
    if not stage.local and (stage.copies > 1 or stage.pad or stage.rotate):
        raise ScheduleError(
            f"the stage '{text}' is in registers: it has no copies, no padding and no rotated rows"
        )
    if stage.vector < 1:
        raise ScheduleError(f"the stage '{text}' moves at least one element")


def _check_inside(stage: Stage, text: str, schedule: Schedule) -> None:
    """Refuse tiles that would be copied from an incomplete or later tile."""
    place = place_of(stage, schedule.levels)
    for outer in schedule.stages:
        if outer is stage or outer.operand != stage.operand:
            continue
        outer_place = place_of(outer, schedule.levels)
        if stage.local and not outer.local and outer_place < place:
            raise ScheduleError(
                f"the stage '{text}' in local memory is inside a stage of the same operand in "
                "registers"
            )
        if stage.local and outer.local and outer_place == place:
            raise ScheduleError(f"the stage '{text}' is at the place of another one")
        if stage.copies > 1 and outer_place < place:
            raise ScheduleError(
                f"the stage '{text}' cannot be fetched ahead: it is copied from a tile"
            )
