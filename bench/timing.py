"""Times of several contestants that compute the same, taken in turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil
from statistics import median
from typing import Any

ROUNDS = 9
LEAST = 0.02
"""The seconds that a round takes at least, by calling as often as it needs."""
MOST_CALLS = 500
PAUSE = 0.02
"""Seconds until the threads of the previous contestant sleep, and occupy no core."""


@dataclass(frozen=True)
class Contestant:
    """Something that computes a result, perhaps without waiting for it."""

    run: Callable[[], Any]
    finish: Callable[[], Any] = lambda: None
    """Wait until all launched work is done."""
    to_numpy: Callable[[Any], Any] = lambda result: result

    def seconds(self, calls: int) -> float:
        """Seconds of one call among several."""
        start = time.perf_counter()
        for _ in range(calls):
            self.run()
        self.finish()
        return (time.perf_counter() - start) / calls


Times = Mapping[str, list[float]]
"""Seconds of a call of each contestant in each round."""


def interleaved(
    contestants: Mapping[str, Contestant], rounds: int = ROUNDS, least: float = LEAST
) -> Times:
    """Times of interleaved rounds; the first contestant alternates."""
    calls: dict[str, int] = {}
    for name, contestant in contestants.items():
        # The first call may compile, and the second may still look for the best algorithm.
        contestant.seconds(2)
        calls[name] = min(MOST_CALLS, ceil(least / contestant.seconds(1)))
    times: dict[str, list[float]] = {name: [] for name in contestants}
    names = list(contestants)
    for k in range(rounds):
        start = k % len(names)
        for name in (*names[start:], *names[:start]):
            time.sleep(PAUSE)
            # Its own threads are awake when the time begins, and the processor's clock is up.
            contestants[name].seconds(calls[name])
            times[name].append(contestants[name].seconds(calls[name]))
    return times


def ratio(ours: list[float], theirs: list[float]) -> float:
    """Speed in multiples of a peer's: the median of the rounds' ratios."""
    return median(b / a for a, b in zip(ours, theirs, strict=True))
