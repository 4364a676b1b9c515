"""Helpers of all families: splitting of indices into digits, and selection of the best."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Sequence
from math import inf
from operator import itemgetter
from typing import TypeVar

from tiledialect.schedule.loops import LoopLevel, Role

T = TypeVar("T")
Digit = tuple[int, Role, str]
"""Number of steps of a level, its role, and its axis."""


def digits(index: str, inner: Sequence[Digit]) -> tuple[int, list[LoopLevel]]:
    """The levels of an index from the innermost on, and how many values they reach."""
    reach, found = 1, list[LoopLevel]()
    for extent, role, axis in inner:
        found.append(LoopLevel(index, reach, extent, role, axis))
        reach *= extent
    return reach, found


def kept(levels: Iterable[LoopLevel]) -> tuple[LoopLevel, ...]:
    """The levels that have more than one step."""
    return tuple(level for level in levels if level.extent > 1)


def fastest(count: int, found: Iterable[T], seconds: Callable[[T, float], float]) -> list[T]:
    """The given number of items of fewest seconds, the fastest first.

    ``seconds`` gets a bound, and may return it where the seconds are no fewer.
    """
    kept: list[tuple[float, T]] = []
    for one in found:
        below = kept[-1][0] if len(kept) == count else inf
        taken = seconds(one, below)
        if taken < below:
            insort(kept, (taken, one), key=itemgetter(0))
            del kept[count:]
    return [one for _, one in kept]
