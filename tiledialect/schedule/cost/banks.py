"""Banks of a GPU's local memory."""

from __future__ import annotations

from collections import Counter

from tiledialect import caches

BANKS, WORD = 32, 4
"""Number of banks, and the bytes that each delivers in a cycle."""


@caches.BANK_CYCLES
def busiest_bank(steps: tuple[tuple[int, int], ...], width: int) -> int:
    """Most different words that lanes access in one bank, each lane a run of neighbours.

    ``steps`` are strides in words, with the numbers of lanes.
    """
    places = {0}
    for stride, extent in steps:
        places = {place + k * stride for place in places for k in range(extent)}
    words = {place + k for place in places for k in range(width)}
    return max(Counter(word % BANKS for word in words).values())
