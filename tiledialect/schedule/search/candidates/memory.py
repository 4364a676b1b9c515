"""What the families of kernels that are bound by memory share: loops put together inside out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import prod

from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.device import LINE, Device, Kind
from tiledialect.schedule.cost.facts import Facts, Tensor
from tiledialect.schedule.default_schedule import on_grid
from tiledialect.schedule.loops import LoopLevel, Role, Schedule, Stage
from tiledialect.schedule.search.candidates.loops import kept

ACCESS = 16
"""How many bytes a work-item of a GPU moves at once."""
ITEMS = 256
"""How many work-items a group has on GPUs."""
GROUPS = 8
"""How many groups a core of a CPU gets, so that all end at about the same time."""
LEAST_WORK = 1 << 13
"""How many points a group has at least on CPUs, where starting one costs a microsecond or so."""
MOST_WORK = 1 << 17
"""And at most, so that those of a large kernel are many."""


class Loops:
    """The levels of a schedule, put together from the innermost digit of each index on."""

    def __init__(self, facts: Facts):
        self.facts = facts
        self.reach = dict.fromkeys(facts.extents, 1)
        self.locals: list[LoopLevel] = []
        self.inner: list[LoopLevel] = []

    def rest(self, index: str) -> int:
        """How many steps an index has left."""
        return ceil_div(self.facts.extents[index], self.reach[index])

    @property
    def points(self) -> int:
        """How many steps there are by now."""
        return prod(self.reach.values())

    def add(self, index: str, extent: int, role: Role, axis: str = "") -> None:
        """A loop around those of its kind that are there."""
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
        """Loops over all that is left of indices, the last one outermost."""
        for index in indices:
            self.add(index, self.rest(index), Role.SERIAL)

    def work(self, indices: Iterable[str], points: int) -> None:
        """Loops over indices, as far as a work-item has no more than so many points."""
        for index in indices:
            count = even_share(self.rest(index), points)
            self.add(index, count, Role.SERIAL)
            points //= count

    def schedule(self, stages: Iterable[Stage] = ()) -> Schedule:
        """What is left of output indices is on the grid."""
        left = (n for n in self.facts.output_indices if self.rest(n) > 1)
        grid = ((n, self.reach[n], self.rest(n)) for n in left)
        levels = (*on_grid(grid), *self.locals, *self.inner)
        return Schedule(kept(levels), tuple(stages))


def even_share(extent: int, most: int) -> int:
    """So many of an extent for each group, or up to half as many if that leaves no rest."""
    most = max(1, min(extent, most))
    return next((n for n in range(most, most // 2, -1) if extent % n == 0), most)


def power_above(n: int) -> int:
    """The least power of two that is not less."""
    return 1 << max(n - 1, 0).bit_length()


def power_below(n: int) -> int:
    """The greatest power of two that is not more."""
    return 1 << max(n.bit_length() - 1, 0)


def lanes(device: Device, tensors: Iterable[Tensor], extent: int) -> int:
    """How many neighbours an access moves, of the widest of some tensors along an index."""
    widest = max(tensors, key=lambda tensor: tensor.bytes)
    if device.kind is Kind.CPU:
        return min(device.lanes(widest.type, widest.bytes), power_below(extent))
    width = max(1, ACCESS // widest.bytes)
    while extent % width:
        width //= 2
    return width


def vectors_of_line(tensor: Tensor, width: int, extent: int) -> int:
    """How many vectors of a CPU are a line of its caches, if an index has a multiple of them."""
    count = max(1, LINE // (width * tensor.bytes))
    return count if extent % (width * count) == 0 else 1


def by_stride(tensor: Tensor, indices: Iterable[str], facts: Facts) -> list[str]:
    """The indices of several values that move a tensor, the fastest in memory first."""
    moving = [n for n in indices if facts.extents[n] > 1 and tensor.strides.get(n)]
    return sorted(moving, key=lambda n: abs(tensor.strides[n]))


def largest(facts: Facts) -> Tensor:
    """The largest tensor that is read."""
    return max(facts.inputs, key=lambda t: t.size)


def work_of_group(facts: Facts, device: Device) -> int:
    """How many points a group of a single work-item has on a CPU."""
    share = facts.points // (device.compute_units * GROUPS)
    return min(max(share, LEAST_WORK), MOST_WORK)


def are_known(tensors: Iterable[Tensor]) -> bool:
    """Whether it is known where tensors are accessed."""
    return all(t.access is not None for t in tensors)


def unrolls(extent: int, width: int, most: int) -> Iterator[int]:
    """How many vectors to write out: powers of two that leave no edge to test for, and 1."""
    count = 1
    while count * width <= extent and count <= most:
        if count == 1 or extent % (count * width) == 0:
            yield count
        count *= 2


def _columns_together(extent: int, width: int, most: int, device: Device) -> Iterable[int]:
    """How many vectors of columns to write out.

    Columns that vectors do not fill have an edge to test for anyway, however many there are; and
    their rows begin anywhere in a cache line, so that vectors on both sides of one fetch it twice.
    """
    if extent % width == 0:
        return unrolls(extent, width, most)
    whole = min(most, extent // width, device.whole_vectors)
    return [1 << n for n in range(whole.bit_length())]


def columns_on_cpu(
    facts: Facts, device: Device, summed: Iterable[str], rows: Sequence[str], most: int
) -> Iterator[Schedule]:
    """Up to ``most`` vectors of columns at a time; a work-item has as many as are worth a group."""
    first, summed = rows[0], list(summed)
    width = lanes(device, [largest(facts)], facts.extents[first])
    length = prod(facts.extents[n] for n in summed)
    others = 0 if facts.is_rows else prod(facts.extents[n] for n in rows[1:])
    near = 2 * length * facts.extents[first] * largest(facts).bytes <= device.second_cache
    may_be_whole = near and others >= GROUPS * device.compute_units
    for count in _columns_together(facts.extents[first], width, most, device):
        for whole in (False, True) if may_be_whole else (False,):
            loops = Loops(facts)
            loops.add(first, width, Role.VECTOR)
            loops.add(first, count, Role.UNROLL)
            loops.serial(summed)
            if whole:
                # All of a row is read after its beginning, and what follows comes along with it.
                loops.serial([first])
            work = length * loops.reach[first]
            loops.work(rows, max(1, work_of_group(facts, device) // work))
            yield loops.schedule()
