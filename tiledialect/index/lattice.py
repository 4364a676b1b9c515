"""Exact linear algebra on small matrices: over the rationals, and over the integers.

A lattice is the set of all integer combinations of the rows of a matrix. Its *row Hermite normal
form* is the one basis that is upper triangular with a positive diagonal, in which every entry
above a pivot is at least 0 and less than the pivot. The algorithms are the textbook ones (H.
Cohen, A Course in Computational Algebraic Number Theory, section 2.4); the matrices of index
spaces have some ten rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

Vector = Sequence[int] | Sequence[Fraction]
Matrix = list[list[Fraction]]


class Echelon:
    """A reduced row echelon form that grows: the row of each pivot column, which is 1 there."""

    def __init__(self, rows: Sequence[Vector] = ()):
        self.pivots: dict[int, list[Fraction]] = {}
        for row in rows:
            self.add(row)

    def add(self, vector: Vector) -> bool:
        """Add a row; whether it is linearly independent of those before it."""
        row = [Fraction(x) for x in vector]
        for column, pivot_row in self.pivots.items():
            row = _without(row, row[column], pivot_row)
        column = next((i for i, x in enumerate(row) if x), None)
        if column is None:
            return False
        row = [x / row[column] if x else x for x in row]
        for other, pivot_row in self.pivots.items():
            self.pivots[other] = _without(pivot_row, pivot_row[column], row)
        self.pivots[column] = row
        return True


def _without(row: list[Fraction], factor: Fraction, other: list[Fraction]) -> list[Fraction]:
    return [x - factor * y if y else x for x, y in zip(row, other, strict=True)] if factor else row


def rank(rows: Sequence[Vector]) -> int:
    """Number of linearly independent rows."""
    return len(Echelon(rows).pivots)


def first_undetermined(rows: Sequence[Vector], size: int) -> int | None:
    """The first of ``size`` unknowns that the values of these linear forms do not determine."""
    pivots = Echelon(rows).pivots
    for i in range(size):
        row = pivots.get(i, ())
        if not row or any(x for j, x in enumerate(row) if j != i):
            return i
    return None


def inverse(matrix: Sequence[Vector]) -> Matrix:
    """The inverse of a regular square matrix."""
    size = len(matrix)
    identity = [[Fraction(i == j) for j in range(size)] for i in range(size)]
    both = Echelon(
        [[*map(Fraction, row), *unit] for row, unit in zip(matrix, identity, strict=True)]
    )
    return [both.pivots[i][size:] for i in range(size)]


def hermite(rows: Sequence[Vector]) -> Matrix:
    """The row Hermite normal form of the lattice that the rows generate, without zero rows."""
    scale = lcm(*(Fraction(x).denominator for row in rows for x in row))
    basis = _integer_hermite([[int(x * scale) for x in row] for row in rows])
    return [[Fraction(x, scale) for x in row] for row in basis]


def _integer_hermite(rows: list[list[int]]) -> list[list[int]]:
    rest, basis = rows, list[list[int]]()
    for column in range(len(rows[0]) if rows else 0):
        pivot, rest = _eliminate(rest, column)
        if pivot is None:
            continue
        basis = [_reduced(row, row[column] // pivot[column], pivot) for row in basis]
        basis.append(pivot)
    return basis


def _eliminate(rows: list[list[int]], column: int) -> tuple[list[int] | None, list[list[int]]]:
    """Row with the greatest common divisor of a column, and the others, 0 there."""
    zero = [row for row in rows if not row[column]]
    others = [row for row in rows if row[column]]
    if not others:
        return None, zero
    while len(others) > 1:  # Euclid's algorithm on all of them at once
        others.sort(key=lambda row: abs(row[column]))
        pivot = others[0]
        reduced = [_reduced(row, row[column] // pivot[column], pivot) for row in others[1:]]
        zero += (row for row in reduced if not row[column])
        others = [pivot, *(row for row in reduced if row[column])]
    pivot = others[0]
    return pivot if pivot[column] > 0 else [-x for x in pivot], zero


def _reduced(row: list[int], factor: int, other: list[int]) -> list[int]:
    return [x - factor * y for x, y in zip(row, other, strict=True)] if factor else row


def is_member(vector: Vector, basis: Matrix) -> bool:
    """Whether the lattice with this Hermite normal form holds the vector."""
    row = [Fraction(x) for x in vector]
    for pivot in basis:
        column = next(i for i, x in enumerate(pivot) if x)
        factor = row[column] / pivot[column]
        if factor.denominator != 1:
            return False
        row = _without(row, factor, pivot)
    return not any(row)


def dual(basis: Matrix) -> Matrix:
    """The dual of the full lattice with this basis, as its Hermite normal form.

    It contains the vectors whose product with every vector of the lattice is an integer.
    """
    transposed = [list(column) for column in zip(*inverse(basis), strict=True)]
    return hermite(transposed)
