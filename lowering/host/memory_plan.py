"""Plan of the places in one allocation, and in results, of buffers with different lifetimes."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tiledialect.rounding import round_up


@dataclass(frozen=True)
class Lifetime:
    """A buffer: its size, and the first and the last moment at which it is needed."""

    size: int
    first: int
    last: int

    def meets(self, other: Lifetime) -> bool:
        """Whether both are needed at some moment."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class MemoryPlan:
    """Offset of each buffer, and the size of the allocation."""

    offsets: tuple[int, ...]
    size: int


ORDERS: tuple[Callable[[Lifetime], tuple[int, int]], ...] = (
    lambda b: (-b.size, b.first),
    lambda b: (b.first, -b.size),
    lambda b: (b.first - b.last, -b.size),
    lambda b: (-b.size * (b.last - b.first + 1), b.first),
)
"""Orders in which buffers are placed: none is the best for every program."""

GOOD = 1.02
"""Share of the least possible size up to which a plan is good enough."""
ATTEMPTS = 24
"""Most attempts in which the buffer that ends highest is placed earlier."""
SMALL = 1 << 16
"""Bytes of the smallest result that other buffers lie in, and of the smallest of these: caches hold
less."""


def largest_alive(buffers: Sequence[Lifetime]) -> int:
    """Largest sum of the sizes of buffers that are alive together."""
    return sum(buffers[k].size for k in _fullest(buffers))


def _fullest(buffers: Sequence[Lifetime]) -> list[int]:
    """Buffers that are alive at the moment when most memory is needed."""
    changes: dict[int, int] = {}
    for b in buffers:
        changes[b.first] = changes.get(b.first, 0) + b.size
        changes[b.last + 1] = changes.get(b.last + 1, 0) - b.size
    alive = most = fullest = 0
    for moment in sorted(changes):
        alive += changes[moment]
        if alive > most:
            most, fullest = alive, moment
    return [k for k, b in enumerate(buffers) if b.first <= fullest <= b.last]


def plan_memory(buffers: Sequence[Lifetime]) -> MemoryPlan:
    """A plan that is hardly larger than the buffers that are alive together.

    Each buffer goes to the lowest place that is free while it lives. The best of several orders is
    taken; where none is good, the buffer that ends highest is placed first, a few times.
    """
    enough = largest_alive(buffers) * GOOD
    numbers = range(len(buffers))
    orders = [sorted(numbers, key=[key(b) for b in buffers].__getitem__) for key in ORDERS]
    best = None
    for _ in range(ATTEMPTS):
        for k, order in enumerate(orders):
            plan = _place(buffers, order)
            if best is None or plan.size < best.size:
                best = plan
            if best.size <= enough:
                return best
            orders[k] = _highest_first(buffers, plan, order)
    assert best is not None
    return best


def _highest_first(
    buffers: Sequence[Lifetime], plan: MemoryPlan, order: Sequence[int]
) -> list[int]:
    """Order in which buffers that end where the plan ends come first."""
    highest = {k for k, b in enumerate(buffers) if plan.offsets[k] + b.size == plan.size}
    return sorted(order, key=lambda k: k not in highest)


def _place(buffers: Sequence[Lifetime], order: Sequence[int]) -> MemoryPlan:
    """Place each buffer in turn as low as possible."""
    offsets = [0] * len(buffers)
    placed: list[tuple[int, int, int, int]] = []
    """Start, end, and first and last moment of each buffer."""
    total = 0
    for k in order:
        b, offset = buffers[k], 0
        # They are in the order of their starts: the first gap that is large enough is the lowest.
        for start, end, first, last in placed:
            if first <= b.last and b.first <= last and end > offset:
                if start - offset >= b.size:
                    break
                offset = end
        offsets[k] = offset
        insort(placed, (offset, offset + b.size, b.first, b.last))
        total = max(total, offset + b.size)
    return MemoryPlan(tuple(offsets), total)


@dataclass(frozen=True)
class Place:
    """Part of a result in which a buffer lies until the result is written."""

    result: int
    offset: int


def places_in_results(
    buffers: Sequence[Lifetime], results: Sequence[Lifetime], alignment: int = 1
) -> dict[int, Place]:
    """Buffers that lie in results which nothing has been written to while they live.

    The largest ones of the moment when most memory is needed go there, the latest of equal ones
    first, until no fewer bytes would do. The rest stays in memory that serves all calls, and is
    warm.
    """
    places: dict[int, Place] = {}
    if not any(r.size >= SMALL for r in results):
        return places
    enough = largest_alive([*buffers, *results]) - sum(r.size for r in results)
    while True:
        rest = [k for k in range(len(buffers)) if k not in places]
        alive = [rest[k] for k in _fullest([buffers[k] for k in rest])]
        if sum(buffers[k].size for k in alive) <= max(0, enough):
            return places
        large = [k for k in alive if buffers[k].size >= SMALL]
        for k in sorted(large, key=lambda k: (-buffers[k].size, -buffers[k].last)):
            if (found := _free_place(k, buffers, results, places, alignment)) is not None:
                places[k] = found
                break
        else:
            return places


def _free_place(
    number: int,
    buffers: Sequence[Lifetime],
    results: Sequence[Lifetime],
    places: Mapping[int, Place],
    alignment: int,
) -> Place | None:
    """The lowest place of a buffer in a result; None if there is none."""
    own = buffers[number]
    for k, result in enumerate(results):
        if own.last >= result.first or result.size < SMALL:
            continue
        there = [(p.offset, buffers[b]) for b, p in places.items() if p.result == k]
        taken = sorted((at, at + b.size) for at, b in there if b.meets(own))
        offset = 0
        for start, end in taken:
            if start - offset >= own.size:
                break
            offset = max(offset, round_up(end, alignment))
        if offset + own.size <= result.size:
            return Place(k, offset)
    return None
