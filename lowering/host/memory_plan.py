"""Plan of the places in one allocation of buffers with different lifetimes."""

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


def largest_alive(buffers: Sequence[Lifetime]) -> int:
    """Largest sum of the sizes of buffers that are alive together."""
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
