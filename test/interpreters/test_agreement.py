"""Tolerances of comparisons: long sums are less exact, and wrong results are found all the same."""

from typing import Any

import numpy as np
import pytest

import tiledialect as td
from tiledialect import lift
from tiledialect.exploration import cases
from tiledialect.exploration.cases import cases_of
from tiledialect.interpreters.agreement import (
    ELEMENTS_AT_ONCE,
    counted_terms,
    disagreement,
    distance,
    tolerance,
)

N = 1 << 20


def dot(kind: str) -> td.Function:
    if kind == "tile":
        return td.compile("function dot(X[N], Y[N]) -> (O) { O[] = +(X[i] * Y[i]); }")

    @lift.fun
    def pattern(x: lift.array("N"), y: lift.array("N")):
        return lift.zip(x, y) >> lift.map(lift.mul) >> lift.reduce(lift.add, 0.0)

    return td.compile(pattern)


def test_tolerance_grows_with_the_root_of_the_number_of_terms():
    short, long, longer = (tolerance("float64", n) for n in (1, 1 << 34, 1 << 36))
    assert short == tolerance("float64") == 1e-10
    assert 2 < longer / long < 2.1
    assert tolerance("float32", 1 << 10) == 1e-4 < tolerance("float32", 1 << 20) < 1e-3
    assert tolerance("int32", 1 << 24) is None


def test_terms_are_those_of_the_reductions():
    x = np.ones(64, np.float32)
    for kind in ("tile", "lift"):
        with counted_terms() as terms:
            dot(kind).reference(x, x)
        assert terms.most == 64
    rows = td.compile("function f(A[M, K]) -> (S) { R[i: M] = +(A[i, k]); S[] = +(R[i]); }")
    with counted_terms() as terms:
        rows.reference(np.ones((8, 32), np.float32))
    assert terms.most == 40


def test_terms_of_sums_that_are_done_in_pieces():
    total = td.compile("function (A[N]) -> (B) { B[] = +(A[i]); }")
    for size in (1 << 20, 3 << 20):
        with counted_terms() as terms:
            total.reference(np.zeros(size, np.float32))
        assert terms.most == size


def test_terms_of_inner_reductions_count_for_each_of_the_outer():
    @lift.fun
    def total(x: lift.array("N", "M")):
        rows = lift.reduce(lambda s, row: row >> lift.reduce(lift.add, s), 0.0)
        return x >> rows

    with counted_terms() as terms:
        td.compile(total).reference(np.ones((4, 8), np.float32))
    assert terms.most in (32, 36)


def test_terms_outside_of_a_count_are_not_noted():
    dot("lift").reference(*np.ones((2, 8), np.float32))
    with counted_terms() as terms:
        pass
    assert terms.most == 1


def test_a_sum_one_after_the_other_agrees_and_a_wrong_one_does_not():
    random = np.random.default_rng(0)
    n = 1 << 23
    x, y = random.random((2, n), np.float32)
    products = x * y
    expected = np.asarray(np.dot(x.astype(np.float64), y), np.float32)
    # The sums of a device that adds all terms to one number.
    actual = np.asarray(np.add.accumulate(products, dtype=np.float32)[-1])
    assert disagreement(actual, expected)
    assert not disagreement(actual, expected, n)
    # 1 of 16 terms is left out, or counts twice.
    part = products[: n // 16].sum(dtype=np.float64)
    for wrong in (expected - part, expected + part):
        assert disagreement(np.asarray(wrong, np.float32), expected, n)


def test_cases_of_a_search_have_the_number_of_terms():
    function, x = dot("lift"), np.arange(N // 1024, dtype=np.float32)

    def reference(arrays):
        return [function.reference(*arrays)]

    assert [case.terms for case in cases_of([x, x], reference)] == [N // 1024] * 3


def test_large_arrays_are_compared_in_blocks():
    expected = np.zeros(3 * ELEMENTS_AT_ONCE + 1, np.float32)
    expected[0] = 4
    for place in (1, ELEMENTS_AT_ONCE, expected.size - 1):
        actual = expected.copy()
        actual[place] = 2
        assert distance(actual, expected) == 0.5
        actual[place] = np.nan
        assert np.isnan(distance(actual, expected))


def test_long_programs_are_compared_for_one_random_input(monkeypatch: pytest.MonkeyPatch):
    function = dot("tile")
    arrays = [np.arange(8, dtype=np.float32)] * 2

    def reference(own: Any) -> Any:
        return [function.reference(*own)]

    assert len(cases_of(arrays, reference)) == 3
    monkeypatch.setattr(cases, "LONG", 8)
    assert len(cases_of(arrays, reference)) == 2
