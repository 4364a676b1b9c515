"""The builder of all schedules that are proposed: levels put together from the innermost one on.

Each call adds levels around those before; the order of calls is the hierarchy: vectors, unrolled
steps and work-items, loops, and the rest of the output on the grid.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod
from typing import Self

from tiledialect.schedule.cost.device import LINE, Device
from tiledialect.schedule.cost.facts import Facts, Tensor
from tiledialect.schedule.default_schedule import on_grid
from tiledialect.schedule.loops import LoopLevel, Role, Schedule, Stage

ACCESS = 16
"""Number of bytes that a work-item of a GPU moves at once."""
ITEMS = 256
"""Number of work-items of a group on GPUs."""
GROUPS = 8
"""Number of groups of a core of a CPU, so that all end at about the same time."""
GROUPS_TRIED = (1, 4, 16, 64)
"""Fewest work-groups for each core, in candidates that differ in it."""
LEAST_WORK = 1 << 13
"""Fewest points of a group on CPUs, where starting one costs about a microsecond."""
MOST_WORK = 1 << 17
"""Most points of a group, so that large kernels have many groups."""


class Levels:
    """The levels of a schedule, from the innermost digit of each index on."""

    def __init__(self, facts: Facts):
        self.facts = facts
        self.reach = dict.fromkeys(facts.extents, 1)
        """Number of values of each index that the levels reach."""
        self.groups: list[LoopLevel] = []
        """Levels of groups beside the rest of output indices, outermost first."""
        self.items: list[LoopLevel] = []
        """Levels of work-items, outermost first."""
        self.inner: list[LoopLevel] = []
        """Levels inside a work-item, outermost first."""

    def copy(self) -> Levels:
        """A copy, to which other levels may be added."""
        found = Levels(self.facts)
        found.reach, found.groups = {**self.reach}, [*self.groups]
        found.items, found.inner = [*self.items], [*self.inner]
        return found

    def rest(self, index: str) -> int:
        """Number of steps that an index has left."""
        return -(-self.facts.extents[index] // self.reach[index])

    @property
    def points(self) -> int:
        """Number of steps of the levels so far."""
        return prod(self.reach.values())

    def steps(self, role: Role) -> int:
        """Number of steps of the levels of a role."""
        return prod(x.extent for x in (*self.items, *self.inner) if x.role is role)

    def add(
        self, index: str, extent: int, role: Role, axis: str = "", *, is_place: bool = False
    ) -> Self:
        """Add a level around the existing ones of its kind.

        One of a single step is left out, unless it is a place where tiles are copied.
        """
        if extent > 1 or is_place:
            reach = self.reach[index]
            level = LoopLevel(index, reach, extent, role, axis)
            around = self.groups if role is Role.GROUP else self.inner
            (self.items if role is Role.LOCAL else around).insert(0, level)
            self.reach[index] = reach * extent
        return self

    def vector(self, index: str, lanes: int) -> Self:
        """Add lanes of a vector."""
        return self.add(index, lanes, Role.VECTOR)

    def unroll(self, index: str | None, most: int) -> Self:
        """Add unrolled steps of an index, if there is one, no more than it has left."""
        return self if index is None else self.add(index, min(most, self.rest(index)), Role.UNROLL)

    def loop(self, index: str, extent: int) -> Self:
        """Add a loop of so many steps."""
        return self.add(index, extent, Role.SERIAL)

    def item(self, index: str | None, count: int, axis: str = "x") -> Self:
        """Add so many work-items along an index, if there is one."""
        return self if index is None else self.add(index, count, Role.LOCAL, axis)

    def share(self, indices: Iterable[str], items: int) -> Self:
        """Give work-items to indices, the first one's next to one another."""
        for index in indices:
            count = min(items, power_above(self.rest(index)))
            self.item(index, count)
            items //= count
        return self

    def whole(self, indices: Iterable[str], role: Role = Role.SERIAL) -> Self:
        """Add loops over the rest of indices, the last one outermost."""
        for index in indices:
            self.add(index, self.rest(index), role)
        return self

    def work(self, indices: Iterable[str], points: int) -> Self:
        """Add loops over indices, as far as a work-item has no more than so many points."""
        for index in indices:
            count = even_share(self.rest(index), points)
            self.loop(index, count)
            points //= count
        return self

    def schedule(
        self,
        stages: Iterable[Stage] = (),
        grid: Iterable[str] = (),
        *,
        has_all_axes: bool = False,
    ) -> Schedule:
        """The schedule, with groups and the rest of output indices on the grid, perhaps in another
        order.

        With ``has_all_axes`` each of them has an axis even if it has a single step.
        """
        names = grid or self.facts.output_indices
        rest = [(n, self.reach[n], self.rest(n)) for n in names]
        left = rest if has_all_axes else [x for x in rest if x[2] > 1]
        groups = on_grid([*left, *((x.index, x.stride, x.extent) for x in self.groups)])
        return Schedule((*groups, *self.items, *self.inner), tuple(stages))


# -- sizes -----------------------------------------------------------------------------------------


def even_share(extent: int, most: int) -> int:
    """Share of an extent for each group: the wanted one, or one down to half of it that divides the
    extent."""
    most = max(1, min(extent, most))
    return next((n for n in range(most, most // 2, -1) if extent % n == 0), most)


def power_above(n: int) -> int:
    """The least power of two that is not less."""
    return 1 << max(n - 1, 0).bit_length()


def power_below(n: int) -> int:
    """The greatest power of two that is not more."""
    return 1 << max(n.bit_length() - 1, 0)


def lanes(device: Device, tensors: Iterable[Tensor], extent: int) -> int:
    """Number of neighbours that an access moves, for the widest of some tensors along an index."""
    widest = max(tensors, key=lambda tensor: tensor.bytes)
    if device.traits.has_vectors:
        return min(device.lanes(widest.type, widest.bytes), power_below(extent))
    width = max(1, ACCESS // widest.bytes)
    while extent % width:
        width //= 2
    return width


def vectors_of_line(tensor: Tensor, width: int, extent: int) -> int:
    """Number of vectors of a CPU in a line of its caches, if an index has a multiple of them."""
    count = max(1, LINE // (width * tensor.bytes))
    return count if extent % (width * count) == 0 else 1


def unrolls(extent: int, width: int, most: int) -> Iterator[int]:
    """Numbers of vectors to unroll: powers of two that leave no edge to test for, and 1."""
    count = 1
    while count * width <= extent and count <= most:
        if count == 1 or extent % (count * width) == 0:
            yield count
        count *= 2


def work_of_group(facts: Facts, device: Device, each: int) -> int:
    """Number of pieces of work of so many points in a group of a single work-item on a CPU."""
    share = facts.points // (device.compute_units * GROUPS)
    return max(1, min(max(share, LEAST_WORK), MOST_WORK) // max(each, 1))
