"""Interval analysis of a system of inequalities: a box around it, and often its corners.

It costs little however many unknowns there are, where an exact answer can take very long.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf

Inequality = tuple[Mapping[int, int], int]
"""Inequality of a linear form, its coefficients and a constant: it is 0 or more."""

Interval = tuple[int | float, int | float]
"""The least and the greatest value, an infinity where there is none."""

EVERYTHING: Interval = (-inf, inf)

_ROUNDS = 8
"""Chains of inequalities that take longer are left to others."""


def tightened(rows: Sequence[Inequality], box: Sequence[Interval]) -> list[Interval] | None:
    """A part of a box that holds all solutions inside it; None where that shows there is none."""
    found = list(box)
    for _ in range(_ROUNDS):
        before = list(found)
        if not all(_tighten(row, found) for row in rows):
            return None
        if found == before:
            break
    return found


def _tighten(row: Inequality, box: list[Interval]) -> bool:
    """Tighten the box by one inequality; whether anything can be left."""
    form, constant = row
    most = {i: c * box[i][c > 0] for i, c in form.items() if c}
    open_ended = [i for i, value in most.items() if value == inf]
    if len(open_ended) > 1:
        return True
    total = constant + sum(value for value in most.values() if value != inf)
    if not open_ended and total < 0:
        return False
    for i in open_ended or most:
        rest, coefficient = total - (0 if open_ended else most[i]), form[i]
        lower, upper = box[i]
        if coefficient > 0:
            lower = max(lower, -(rest // coefficient))
        else:
            upper = min(upper, rest // -coefficient)
        if lower > upper:
            return False
        box[i] = lower, upper
    return True


def solution(
    rows: Sequence[Inequality], box: Sequence[Interval], values: Iterable[tuple[int, int | float]]
) -> list[int] | None:
    """A solution where the given unknowns have the given values, if intervals show the others."""
    fixed = list(box)
    for unknown, value in values:
        if abs(value) == inf:
            return None
        fixed[unknown] = value, value
    point = tightened(rows, fixed)
    if point is None or any(lower != upper for lower, upper in point):
        return None
    found = [int(lower) for lower, _ in point]
    holds = all(
        constant + sum(c * found[i] for i, c in form.items()) >= 0 for form, constant in rows
    )
    return found if holds else None
