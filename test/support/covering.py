"""Few combinations of values that hold every pair of values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

Combination = tuple[Any, ...]


def pairwise(*values: Sequence[Any]) -> list[Combination]:
    """Combinations of one value of each sequence, among them every pair of values of two of them.

    Each is the first of those left with the most pairs that none before it has.
    """
    left = [*product(*(range(len(v)) for v in values))]
    missing = {pair for case in left for pair in _pairs(case)}
    found: list[Combination] = []
    while missing:
        best = max(left, key=lambda case: len(missing & _pairs(case)))
        missing -= _pairs(best)
        found.append(tuple(v[k] for v, k in zip(values, best, strict=True)))
    return found


def _pairs(case: Sequence[int]) -> set[tuple[tuple[int, int], tuple[int, int]]]:
    return {*combinations(enumerate(case), 2)}
