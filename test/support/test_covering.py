"""Few combinations with every pair of values."""

from __future__ import annotations

from itertools import combinations, product

from covering import half, pairwise


def test_every_pair_is_there():
    values = ("abcd", (1, 2, 3, 4), (True, False), "xyz")
    found = pairwise(*values)
    assert len(found) < 24
    for one, other in combinations(range(len(values)), 2):
        assert {(c[one], c[other]) for c in found} == {*product(values[one], values[other])}


def test_all_combinations_of_two():
    assert sorted(pairwise("ab", "cde")) == sorted(product("ab", "cde"))


def test_half_in_their_order():
    values = [f"value {k}" for k in range(101)]
    found = half(values)
    assert len(found) == 51
    assert found == [value for value in values if value in found]
