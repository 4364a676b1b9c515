"""Digits of elements' numbers, against division by NumPy."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tiledialect.index.digits import digits, joined
from tiledialect.index.expr import IndexExpr, Range

NAMES = ("i", "j", "k")


@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 12), st.integers(1, 4)), min_size=1, max_size=3),
    st.integers(0, 10),
)
def test_digits(sizes, terms, constant):
    ranges = {name: Range(0, extent) for name, (_, extent) in zip(NAMES, terms, strict=False)}
    own = dict(zip(NAMES, (c for c, _ in terms), strict=False))
    found = digits(IndexExpr.linear(own, constant), sizes, ranges)
    if found is None:
        return
    assert joined(found, sizes) == IndexExpr.linear(own, constant)
    for point in np.ndindex(*(r.extent for r in ranges.values())):
        values = dict(zip(ranges, point, strict=True))
        number = int(joined(found, sizes).evaluate(values))
        places = [int(e.evaluate(values)) for e in found]
        first, rest = divmod(number, int(np.prod(sizes[1:])))
        assert places == [first, *map(int, np.unravel_index(rest, sizes[1:]))]


def test_digits_of_batch_and_heads():
    number = IndexExpr.linear({"b": 6, "h": 3, "e": 1})
    ranges = {"b": Range(0, 5), "h": Range(0, 2), "e": Range(0, 3)}
    assert digits(number, (5, 6), ranges) == (IndexExpr.of("b"), IndexExpr.linear({"h": 3, "e": 1}))
    assert digits(number, (5, 3, 2), ranges) is None
