"""Ops that need results that are there before."""

from __future__ import annotations

from xdsl.dialects.arith import AddfOp, ConstantOp
from xdsl.dialects.builtin import FloatAttr, f32
from xdsl.dialects.test import TestOp

from tiledialect.analysis.reachability import Reachability


def test_all_that_is_computed_of_a_result_needs_it():
    a, b = TestOp(result_types=[f32]).results[0], TestOp(result_types=[f32]).results[0]
    of_a, of_b = AddfOp(a, a).result, AddfOp(b, b).result
    both = AddfOp(of_a, of_b).result
    before = Reachability([of_a])
    assert of_a in before and a not in before and both not in before
    found = [before.reaches(v) for v in (both, of_a, a, b, of_b)]
    assert found == [True, True, False, False, False]


def test_ladders_of_many_ways_are_walked_once():
    first = ConstantOp(FloatAttr(1.0, f32)).result
    value = TestOp(result_types=[f32]).results[0]
    # There are 2^2000 ways from the end to the beginning.
    for _ in range(2000):
        value = AddfOp(value, value).result
    before = Reachability([first])
    assert not before.reaches(value)
    assert before.reaches(AddfOp(value, first).result)


def test_a_search_ends_before_the_results():
    early = TestOp(result_types=[f32]).results[0]
    made = AddfOp(early, early)
    after = AddfOp(early, made.result)
    order = {made: 1, after: 2}
    beginning = early.owner
    assert isinstance(beginning, TestOp)
    before = Reachability([made.result], order | {beginning: 0})
    assert before.reaches(after.result) and not before.reaches(early)
    # What comes first needs nothing, whatever its operands are: they are not looked at.
    beginning.operands = [after.result]
    assert not Reachability([made.result], order | {beginning: 0}).reaches(early)
    assert Reachability([made.result], order).reaches(early)
