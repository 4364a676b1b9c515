"""Inverses of the index maps of scatters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiledialect as td
from tiledialect import lift
from tiledialect.dialects.lift.attributes import IndexMap
from tiledialect.index.integer.expressions import Expr, floordiv, mod
from tiledialect.index.integer.ranges import Env
from tiledialect.lowering.lift_to_nest.views.index_maps import inverse

INDEX = Expr.var("i")


@st.composite
def moved_digits(draw):
    """A map that moves the digits of an index, of which some count down; and the size."""
    bases = draw(st.lists(st.integers(2, 5), min_size=1, max_size=4))
    order = draw(st.permutations(range(len(bases))))
    weights, size = [0] * len(bases), 1
    for k in order:
        weights[k], size = size, size * bases[k]
    total, low = Expr(), 1
    for base, weight in zip(bases, weights, strict=True):
        digit = mod(floordiv(INDEX, low), base)
        total += weight * (base - 1 - digit if draw(st.booleans()) else digit)
        low *= base
    return total, size


@settings(max_examples=60, deadline=None)
@given(moved_digits())
def test_digits(case):
    expr, size = case
    found = inverse(IndexMap("i", expr), Expr.const(size), Env())
    assert found is not None
    for k in range(size):
        assert found.expr.evaluate({found.variable: expr.evaluate({"i": k})}) == k


@pytest.mark.parametrize("factor", [1, 3, 5, -7])
def test_multiples(factor):
    expr = mod(INDEX * factor + 4, 16)
    found = inverse(IndexMap("i", expr), Expr.const(16), Env())
    assert found is not None
    assert [found.expr.evaluate({"i": expr.evaluate({"i": k})}) for k in range(16)] == [*range(16)]


@pytest.mark.parametrize("expr", [mod(INDEX * 2, 16), Expr.const(0), floordiv(INDEX, 2) * 2])
def test_what_is_no_permutation(expr):
    assert inverse(IndexMap("i", expr), Expr.const(16), Env()) is None


@lift.fun
def pairs_swapped(x: lift.array(24)):
    """Reads of scattered elements are inlined: one kernel, no memory of its own."""
    swapped = x >> lift.scatter(lambda i: i + 1 - 2 * (i % 2))
    turned = swapped >> lift.scatter(lambda i: 5 * i % 24)
    return turned >> lift.slide(3, 1) >> lift.map(lift.reduce(lift.add, 0.0))


def test_read_through(device: td.Device):
    x = np.arange(24, dtype=np.float32)
    f = td.compile(pairs_swapped, device=device)
    np.testing.assert_array_equal(f(x), f.reference(x))
    assert f.opencl(x).count("__kernel ") == 1
