"""Where in one allocation each of several buffers lies that do not all live at the same time."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Lifetime:
    """A buffer: its size, and the first and the last moment at which it is needed."""

    size: int
    first: int
    last: int


@dataclass(frozen=True)
class MemoryPlan:
    """Where each buffer begins, and how much there must be for all of them."""

    offsets: tuple[int, ...]
    size: int


ORDERS: tuple[Callable[[Lifetime], tuple[int, int]], ...] = (
    lambda b: (-b.size, b.first),
    lambda b: (b.first, -b.size),
    lambda b: (b.first - b.last, -b.size),
    lambda b: (-b.size * (b.last - b.first + 1), b.first),
)
"""In which order buffers are placed: none is the best for every program."""

GOOD = 1.02
"""How much more than the least that is possible needs no better plan."""
ATTEMPTS = 24
"""How often what ends highest is placed earlier instead."""


def largest_alive(buffers: Sequence[Lifetime]) -> int:
    """The size of those that are alive together, at the moment when it is the largest."""
    changes: dict[int, int] = {}
    for b in buffers:
        changes[b.first] = changes.get(b.first, 0) + b.size
        changes[b.last + 1] = changes.get(b.last + 1, 0) - b.size
    alive = largest = 0
    for moment in sorted(changes):
        alive += changes[moment]
        largest = max(largest, alive)
    return largest


def plan_memory(buffers: Sequence[Lifetime]) -> MemoryPlan:
    """A plan that is hardly larger than what is alive together.

    Each buffer goes to the lowest place that is free while it lives. The best of several orders is
    taken; where none is good, what ends highest is placed first, a few times.
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
    """The order in which what ends where the plan ends comes first."""
    highest = {k for k, b in enumerate(buffers) if plan.offsets[k] + b.size == plan.size}
    return sorted(order, key=lambda k: k not in highest)


def _place(buffers: Sequence[Lifetime], order: Sequence[int]) -> MemoryPlan:
    """Place each buffer in turn as low as possible."""
    offsets = [0] * len(buffers)
    placed: list[tuple[int, int, int, int]] = []
    """Start, end, and first and last moment of each."""
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
