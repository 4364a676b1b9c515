"""The comparison itself: what it lets pass, and what not."""

from __future__ import annotations

import numpy as np
import pytest
from compare import LARGEST, assert_close

ONE = np.ones((2, 3), np.float32)


@pytest.mark.parametrize(
    "actual",
    [
        ONE.astype(np.float64),
        ONE.reshape(3, 2),
        ONE * 1.001,
        np.where(np.arange(3) == 1, np.nan, ONE).astype(np.float32),
        np.where(np.arange(3) == 1, np.inf, ONE).astype(np.float32),
    ],
)
def test_what_differs_fails(actual: np.ndarray):
    with pytest.raises(AssertionError):
        assert_close(actual, ONE)


def test_rounding_passes():
    assert_close(np.nextafter(ONE, np.float32(2)), ONE)
    values = np.random.default_rng(0).normal(size=10_000).astype(np.float32)
    narrow = np.cumsum(values, dtype=np.float32)[-1:]
    assert_close(narrow, values.sum(dtype=np.float64)[None].astype(np.float32), length=10_000)


def test_a_lost_term_fails():
    values = np.random.default_rng(0).normal(size=10_000)
    with pytest.raises(AssertionError):
        assert_close(values[1:].sum()[None], values.sum()[None], length=10_000)


def test_small_elements_beside_large_ones_count():
    mixed = np.float32([1e6, 1.0])
    with pytest.raises(AssertionError, match=r"1 of 2 elements, first at \[1\]"):
        assert_close(np.float32([1e6, 1.01]), mixed)
    assert_close(np.float32([1e6, 1.01]), mixed, scale=LARGEST)
    assert_close(np.float32([1e6, 1.01]), mixed, scale=np.array([1e6, 1e4]))


def test_integers_are_exact():
    with pytest.raises(AssertionError, match=r"2 of 3 elements, first at \[1\]"):
        assert_close(np.array([1, 2, 4]), np.array([1, 3, 5]))


def test_nan_and_infinity_must_match():
    odd = np.array([np.nan, np.inf, -np.inf, 1])
    assert_close(odd.copy(), odd)
    with pytest.raises(AssertionError):
        assert_close(-odd, odd)
    with pytest.raises(AssertionError):
        assert_close(np.array([1.0, 1, 1, 1]), odd)
