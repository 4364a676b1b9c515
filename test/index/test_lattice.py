"""Exact linear algebra: what the normal forms promise, on random matrices."""

from fractions import Fraction
from itertools import product

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tiledialect.index.lattice import (
    Echelon,
    dual,
    first_undetermined,
    hermite,
    inverse,
    is_member,
    rank,
)

numbers = st.fractions(-4, 4, max_denominator=6)


def matrices(rows: st.SearchStrategy[int], columns: int):
    row = st.lists(numbers, min_size=columns, max_size=columns)
    return rows.flatmap(lambda count: st.lists(row, min_size=count, max_size=count))


def times(a, b):
    return [
        [sum(x * y for x, y in zip(row, column, strict=True)) for column in zip(*b, strict=True)]
        for row in a
    ]


def is_hermite(matrix):
    pivots = [next(i for i, x in enumerate(row) if x) for row in matrix]
    if pivots != sorted(set(pivots)):
        return False
    return all(
        matrix[k][column] > 0
        and all(0 <= matrix[above][column] < matrix[k][column] for above in range(k))
        for k, column in enumerate(pivots)
    )


@given(matrices(st.integers(0, 5), 3))
@settings(max_examples=20, deadline=None)
def test_hermite(rows):
    form = hermite(rows)
    assert is_hermite(form)
    assert all(is_member(row, form) for row in rows)
    assert len(form) == rank(rows)
    # The rows of the form are in the lattice of the rows: adding them changes nothing.
    assert hermite([*form, *rows]) == form
    if len(rows) == len(form) == 3:
        quotient = times(rows, inverse(form))
        assert all(x.denominator == 1 for row in quotient for x in row)
        assert all(x.denominator == 1 for row in inverse(quotient) for x in row)


@given(matrices(st.just(3), 3))
@settings(max_examples=20, deadline=None)
def test_inverse_and_dual(rows):
    assume(rank(rows) == 3)
    identity = [[Fraction(i == j) for j in range(3)] for i in range(3)]
    assert times(rows, inverse(rows)) == identity
    form = dual(rows)
    assert is_hermite(form)
    assert all(
        x.denominator == 1 for row in times(form, list(zip(*rows, strict=True))) for x in row
    )
    assert dual(form) == hermite(rows)


@given(matrices(st.integers(1, 3), 2), st.tuples(numbers, numbers))
@settings(max_examples=20, deadline=None)
def test_membership(rows, vector):
    sums = {
        tuple(
            sum((f * x for f, x in zip(factors, column, strict=True)), Fraction(0))
            for column in zip(*rows, strict=True)
        )
        for factors in product(range(-3, 4), repeat=len(rows))
    }
    form = hermite(rows)
    assert all(is_member(v, form) for v in sums)
    assert is_member(vector, form) == (hermite([*rows, vector]) == form)


def test_first_undetermined():
    assert first_undetermined([], 0) is None
    assert first_undetermined([[1, 0], [1, 1]], 2) is None
    assert first_undetermined([[1, 0, 0], [0, 1, 1]], 3) == 1
    assert first_undetermined([[0, 1]], 2) == 0


def test_echelon_tells_dependent_rows():
    form = Echelon()
    assert [form.add(row) for row in ([0, 2, 4], [0, 1, 2], [1, 1, 1], [3, 4, 5], [0, 0, 1])] == [
        True,
        False,
        True,
        False,
        True,
    ]
