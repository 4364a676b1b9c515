"""Samples of values: few combinations with every pair of values, few names with every word."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from itertools import combinations, product
from typing import Any, TypeVar

T = TypeVar("T")
Combination = tuple[Any, ...]


def pairwise(*values: Sequence[Any]) -> list[Combination]:
    """Combinations of one value of each sequence, among them every pair of values of two of them."""
    every = [*product(*(range(len(v)) for v in values))]
    found = (every[k] for k in covering(every, 2))
    return [tuple(v[k] for v, k in zip(values, case, strict=True)) for case in found]


def covering(cases: Sequence[Sequence[Hashable] | frozenset[Hashable]], strength: int) -> list[int]:
    """Numbers of few cases that hold all that the cases hold of so many values at once.

    The values of a case are known by their places, or are a set. Each case is the first of those
    left with the most that none before it has.
    """
    held = [_held(case, strength) for case in cases]
    missing = set[tuple[Hashable, ...]]().union(*held)
    found: list[int] = []
    while missing:
        best = max(range(len(held)), key=lambda k: len(missing & held[k]))
        missing -= held[best]
        found.append(best)
    return found


def words(name: str) -> frozenset[Hashable]:
    """Words and numbers of a name."""
    return frozenset(re.findall(r"[^\W\d_]+|\d+", name))


def of_all_words(values: Sequence[T]) -> list[T]:
    """Few of some values, whose names have all words of the names."""
    return [values[k] for k in sorted(covering([words(str(value)) for value in values], 1))]


def _held(
    case: Sequence[Hashable] | frozenset[Hashable], strength: int
) -> set[tuple[Hashable, ...]]:
    values = sorted(case, key=str) if isinstance(case, frozenset) else enumerate(case)
    return {*combinations(values, min(strength, len(case)))}
