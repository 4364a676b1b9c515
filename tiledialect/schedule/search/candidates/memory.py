"""Helpers of the families of memory-bound kernels: loops built inside out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod

from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.device import LINE, Device
from tiledialect.schedule.cost.facts import Facts, Tensor
from tiledialect.schedule.default_schedule import on_grid
from tiledialect.schedule.loops import LoopLevel, Role, Schedule, Stage
from tiledialect.schedule.search.candidates.loops import kept

ACCESS = 16
"""Number of bytes that a work-item of a GPU moves at once."""
ITEMS = 256
"""Number of work-items of a group on GPUs."""
GROUPS = 8
"""Number of groups of a core of a CPU, so that all end at about the same time."""
LEAST_WORK = 1 << 13
"""Fewest points of a group on CPUs, where starting one costs about a microsecond."""
MOST_WORK = 1 << 17
"""Most points of a group, so that large kernels have many groups."""


class Loops:
    """The levels of a schedule, put together from the innermost digit of each index on."""

    def __init__(self, facts: Facts):
        self.facts = facts
        self.reach = dict.fromkeys(facts.extents, 1)
        self.locals: list[LoopLevel] = []
        self.inner: list[LoopLevel] = []

    def rest(self, index: str) -> int:
        """Number of steps that an index has left."""
        return ceil_div(self.facts.extents[index], self.reach[index])

    @property
    def points(self) -> int:
        """Number of steps of the loops so far."""
        return prod(self.reach.values())

    def add(self, index: str, extent: int, role: Role, axis: str = "") -> None:
        """Add a loop around the existing ones of its kind."""
        level = LoopLevel(index, self.reach[index], extent, role, axis)
        (self.locals if role is Role.LOCAL else self.inner).insert(0, level)
        self.reach[index] *= extent

    def share(self, indices: Iterable[str], items: int, axis: str = "x") -> int:
        """Give work-items to indices, the first one's next to one another; how many are left."""
        for index in indices:
            count = min(items, power_above(self.rest(index)))
            if count > 1:
                self.add(index, count, Role.LOCAL, axis)
                items //= count
        return items

    def serial(self, indices: Iterable[str]) -> None:
        """Add loops over the rest of indices, the last one outermost."""
        for index in indices:
            self.add(index, self.rest(index), Role.SERIAL)

    def work(self, indices: Iterable[str], points: int) -> None:
        """Loops over indices, as far as a work-item has no more than so many points."""
        for index in indices:
            count = even_share(self.rest(index), points)
            self.add(index, count, Role.SERIAL)
            points //= count

    def schedule(self, stages: Iterable[Stage] = ()) -> Schedule:
        """The schedule, with the rest of output indices on the grid."""
        left = (n for n in self.facts.output_indices if self.rest(n) > 1)
        grid = ((n, self.reach[n], self.rest(n)) for n in left)
        levels = (*on_grid(grid), *self.locals, *self.inner)
        return Schedule(kept(levels), tuple(stages))


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
    if device.is_cpu:
        return min(device.lanes(widest.type, widest.bytes), power_below(extent))
    width = max(1, ACCESS // widest.bytes)
    while extent % width:
        width //= 2
    return width


def vectors_of_line(tensor: Tensor, width: int, extent: int) -> int:
    """Number of vectors of a CPU in a line of its caches, if an index has a multiple of them."""
    count = max(1, LINE // (width * tensor.bytes))
    return count if extent % (width * count) == 0 else 1


def by_stride(tensor: Tensor, indices: Iterable[str], facts: Facts) -> list[str]:
    """The indices of several values that move a tensor, the fastest in memory first."""
    moving = [n for n in indices if facts.extents[n] > 1 and tensor.strides.get(n)]
    return sorted(moving, key=lambda n: abs(tensor.strides[n]))


def largest(facts: Facts) -> Tensor:
    """The largest tensor among the inputs."""
    return max(facts.inputs, key=lambda t: t.size)


def work_of_group(facts: Facts, device: Device) -> int:
    """Number of points of a group of a single work-item on a CPU."""
    share = facts.points // (device.compute_units * GROUPS)
    return min(max(share, LEAST_WORK), MOST_WORK)


def are_known(tensors: Iterable[Tensor]) -> bool:
    """Whether all accesses are affine."""
    return all(t.access is not None for t in tensors)


def unrolls(extent: int, width: int, most: int) -> Iterator[int]:
    """Numbers of vectors to unroll: powers of two that leave no edge to test for, and 1."""
    count = 1
    while count * width <= extent and count <= most:
        if count == 1 or extent % (count * width) == 0:
            yield count
        count *= 2


def _columns_together(extent: int, width: int, most: int, device: Device) -> Iterable[int]:
    """Numbers of vectors of columns to unroll.

    Columns that vectors do not fill have an edge to test for anyway, however many there are; and
    their rows begin anywhere in a cache line, so that the vectors before and after one fetch it
    twice.
    """
    if extent % width == 0:
        return unrolls(extent, width, most)
    whole = min(most, extent // width, device.whole_vectors)
    return [1 << n for n in range(whole.bit_length())]


def columns_on_cpu(
    facts: Facts, device: Device, summed: Iterable[str], rows: Sequence[str], most: int
) -> Iterator[Schedule]:
    """Schedules with up to ``most`` vectors of columns at a time, and enough of them for a
    group."""
    first, summed = rows[0], list(summed)
    width = lanes(device, [largest(facts)], facts.extents[first])
    length = prod(facts.extents[n] for n in summed)
    others = 0 if facts.is_rows else prod(facts.extents[n] for n in rows[1:])
    near = device.is_near(length * facts.extents[first] * largest(facts).bytes)
    may_be_whole = near and others >= GROUPS * device.compute_units
    for count in _columns_together(facts.extents[first], width, most, device):
        for whole in (False, True) if may_be_whole else (False,):
            loops = Loops(facts)
            loops.add(first, width, Role.VECTOR)
            loops.add(first, count, Role.UNROLL)
            loops.serial(summed)
            if whole:
                # All of a row is read after its beginning, and the next elements come with it.
                loops.serial([first])
            work = length * loops.reach[first]
            loops.work(rows, max(1, work_of_group(facts, device) // work))
            yield loops.schedule()
