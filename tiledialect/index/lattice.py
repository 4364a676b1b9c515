"""Exact linear algebra on small matrices: over the rationals, and over the integers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Vector = Sequence[int] | Sequence[Fraction]


def reduced_echelon(rows: Sequence[Vector]) -> dict[int, list[Fraction]]:
    """The reduced row echelon form: for each pivot column its row, which is 1 there."""
    pivots: dict[int, list[Fraction]] = {}
    for vector in rows:
        row = [Fraction(x) for x in vector]
        for column, pivot_row in pivots.items():
            row = _without(row, row[column], pivot_row)
        column = next((i for i, x in enumerate(row) if x), None)
        if column is None:
            continue
        row = [x / row[column] for x in row]
        for other, pivot_row in pivots.items():
            pivots[other] = _without(pivot_row, pivot_row[column], row)
        pivots[column] = row
    return pivots


def _without(row: list[Fraction], factor: Fraction, other: list[Fraction]) -> list[Fraction]:
    return [x - factor * y if y else x for x, y in zip(row, other, strict=True)] if factor else row


def rank(rows: Sequence[Vector]) -> int:
    """How many of the rows are linearly independent."""
    return len(reduced_echelon(rows))


def first_undetermined(rows: Sequence[Vector], size: int) -> int | None:
    """The first of ``size`` unknowns that the values of these linear forms do not determine."""
    pivots = reduced_echelon(rows)
    for i in range(size):
        row = pivots.get(i, ())
        if not row or any(x for j, x in enumerate(row) if j != i):
            return i
    return None
