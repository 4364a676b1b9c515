"""Few combinations with every pair of values."""

from __future__ import annotations

from itertools import combinations, product

from covering import of_all_words, pairwise


def test_every_pair_is_there():
    values = ("abcd", (1, 2, 3, 4), (True, False), "xyz")
    found = pairwise(*values)
    assert len(found) < 24
    for one, other in combinations(range(len(values)), 2):
        assert {(c[one], c[other]) for c in found} == {*product(values[one], values[other])}


def test_all_combinations_of_two():
    assert sorted(pairwise("ab", "cde")) == sorted(product("ab", "cde"))


def test_all_words_are_there_in_the_order_of_the_values():
    values = [f"{op}_{dtype}" for op in ("sum", "product", "mean") for dtype in ("f32", "f16")]
    found = of_all_words(values)
    assert found == ["sum_f32", "product_f16", "mean_f32"]
