"""Each target of `fuzz.py` has its turn, and what it finds ends the run."""

from __future__ import annotations

import math

import pytest
from fuzz import check_with
from hypothesis import strategies as st


def test_a_turn_that_is_over():
    seen: list[int] = []
    check_with(st.integers(), seen.append, 1, end=-math.inf)
    assert not seen


def test_a_finding():
    def check(number: int) -> None:
        assert number < 1000

    with pytest.raises(AssertionError):
        check_with(st.integers(), check, 1, end=math.inf)
