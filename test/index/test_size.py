"""Sizes: exact arithmetic with names."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tiledialect.dialects.lift.attributes import expression, size_of
from tiledialect.errors import TileError
from tiledialect.index.size import Size

N, M, n = map(Size.of, ("N", "M", "n"))


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (N + 2, "N + 2"),
        (2 - N, "-N + 2"),
        ((N + 2) / 4, "(N + 2) / 4"),
        (N / n, "N / n"),
        (N / (4 * n) + 1, "(N + 4*n) / (4*n)"),
        (N * N * M, "M*N*N"),
        (Size.of(10) / 4, "5 / 2"),
        (N - N, "0"),
    ],
)
def test_text(size: Size, text: str):
    assert str(size) == text
    assert size_of(text) == size


@pytest.mark.parametrize(
    ("size", "same"),
    [
        (4 * ((N + 2) / 4), N + 2),
        (n * (N / n), N),
        (M * N / M, N),
        ((N * N - 1) / (N + 1), N - 1),
        ((N + 2 - (n + 2) + n) / n, N / n),
        ((N / n).substitute({"n": 4, "N": 8 * M}), 2 * M),
        ((N - M).substitute({"N": M, "M": N}), M - N),
    ],
)
def test_equal_sizes_are_equal_values(size: Size, same: Size):
    assert size == same
    assert hash(size) == hash(same)


def test_both_signs_of_division_are_exact():
    assert size_of("N // 4") == size_of("N / 4") == N / 4


def test_properties():
    assert (N + 2).names == {"N"}
    assert N.name == "N"
    assert (N + 1).name is None
    assert (2 * N).name is None
    assert Size.of(3).value == 3
    assert (Size.of(3) / 2).value is None
    assert (Size.of(3) / 2).number == Fraction(3, 2)
    assert N.number is None
    assert Size().value == 0


def test_quotients_without_a_form_are_refused():
    with pytest.raises(ValueError, match=r"\(N\) / \(M \+ 1\) is not a sum of products"):
        _ = N / (M + 1)
    with pytest.raises(ZeroDivisionError, match="N is divided by 0"):
        _ = N / 0


@pytest.mark.parametrize("text", ["", "N +", "N 2", "N / 0", "N / (M + 1)", "2.5"])
def test_what_is_no_size_is_refused(text: str):
    with pytest.raises(TileError, match="is no size"):
        size_of(text)


names = st.sampled_from(["N", "M", "n"]).map(Size.of)
sizes = st.recursive(
    names | st.integers(-4, 4).map(Size.of),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda p: p[0] + p[1]),
        st.tuples(inner, inner).map(lambda p: p[0] - p[1]),
        st.tuples(inner, inner).map(lambda p: p[0] * p[1]),
        st.tuples(inner, names).map(lambda p: p[0] / p[1]),
        st.tuples(inner, st.integers(1, 5)).map(lambda p: p[0] / p[1]),
    ),
    max_leaves=6,
)
values = st.fixed_dictionaries({name: st.integers(1, 9) for name in ("N", "M", "n")})


@given(sizes, sizes, values)
def test_arithmetic_agrees_with_numbers(a: Size, b: Size, given: dict[str, int]):
    x, y = a.evaluate(given), b.evaluate(given)
    assert (a + b).evaluate(given) == x + y
    assert (a - b).evaluate(given) == x - y
    assert (a * b).evaluate(given) == x * y
    assert a.substitute(given).number == x
    assert size_of(str(a)) == a
    if b.terms:
        assert (a * b) / b == a


@given(sizes, values)
def test_address_arithmetic_agrees_where_a_size_is_an_integer(a: Size, given: dict[str, int]):
    x = a.evaluate(given)
    assume(x.denominator == 1)
    assert expression(a).evaluate(given) == x
