"""Long chains of elementwise ops, which must be no deep recursion."""

from __future__ import annotations

import sys

import numpy as np

import tiledialect as td

STEPS = 300
"""Of two ops or more each: several calls for each op are more than Python goes in."""
NUMBERS = np.arange(4, dtype=np.float32)


def summed(step: str) -> td.Function:
    """The sum of what a number of steps from `X` to `Y` make of a vector."""
    chain = "".join(f" Y{k + 1} = {step.replace('X', f'Y{k}')};" for k in range(STEPS))
    return td.compile(f"function (Y0[N]) -> (S) {{{chain} S[] = +(Y{STEPS}[i]); }}")


def test_a_long_chain_is_summed():
    assert sys.getrecursionlimit() < 4 * STEPS
    f = summed("X * 0.9 + 0.5")
    np.testing.assert_allclose(f(NUMBERS), 20, rtol=1e-5)
    np.testing.assert_allclose(f.gradient()(NUMBERS, np.float32(1)), 0.9**STEPS, rtol=1e-3)


def test_a_long_chain_of_choices_is_summed():
    f = summed("(X < 2 ? X + 1 : X)")
    np.testing.assert_array_equal(f(NUMBERS), 2 + 2 + 2 + 3)


def test_a_long_chain_of_factors_of_rows_is_summed():
    chain = "".join(f" Y{k + 1} = Y{k} * M;" for k in range(STEPS))
    source = f"M[i, 0: N, 1] = >(X[i, j]); Y0 = X - M; {chain} S[i: N] = +(Y{STEPS}[i, j]);"
    f = td.compile(f"function (X[N, K]) -> (S) {{ {source} }}")
    x = np.array([[1, 1, 0.5], [-1, -2, -1.25]], np.float32)
    np.testing.assert_allclose(f(x), [-0.5, -1.25], rtol=1e-6)
