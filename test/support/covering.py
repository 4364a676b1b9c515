"""Samples of values: few combinations with every pair of values, and half of a list."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations, product
from typing import Any, TypeVar
from zlib import crc32

T = TypeVar("T")
Combination = tuple[Any, ...]
Value = tuple[int, Hashable]
"""The place of a value in a combination, and what it is known by."""


def pairwise(*values: Sequence[Any]) -> list[Combination]:
    """Combinations of one value of each sequence, among them every pair of values of two of them."""
    every = [*product(*(range(len(v)) for v in values))]
    found = (every[k] for k in covering(every, 2))
    return [tuple(v[k] for v, k in zip(values, case, strict=True)) for case in found]


def covering(cases: Sequence[Sequence[Hashable]], strength: int) -> list[int]:
    """Numbers of few cases that hold all that the cases hold of so many values at once.

    Each is the first of those left with the most that none before it has.
    """
    held = [_held(case, strength) for case in cases]
    missing = set[tuple[Value, ...]]().union(*held)
    found: list[int] = []
    while missing:
        best = max(range(len(held)), key=lambda k: len(missing & held[k]))
        missing -= held[best]
        found.append(best)
    return found


def half(values: Sequence[T]) -> list[T]:
    """Half of some values, chosen by a hash of their names."""
    by_hash = sorted(values, key=lambda value: crc32(str(value).encode()))
    chosen = {*map(str, by_hash[::2])}
    return [value for value in values if str(value) in chosen]


def _held(case: Sequence[Hashable], strength: int) -> set[tuple[Value, ...]]:
    return {*combinations(enumerate(case), min(strength, len(case)))}
