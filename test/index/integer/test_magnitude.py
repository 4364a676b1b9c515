"""Bounds of the numbers from which index expressions are computed."""

from __future__ import annotations

import pytest

from tiledialect.dialects.index_syntax import index_of
from tiledialect.index.integer.magnitude import magnitude


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("7", 7),
        ("i - 5", 15),
        ("-3*i + 2*j", 230),
        ("i*i*j", 10_000),
        ("(i*1000) floordiv 7 + 1", 10_001),
        # The multiple of 7 that is taken off may be further from 0 than the dividend.
        ("(i*1000) mod 7", 10_007),
        ("((i*1000) mod 7) * j", 10_007),
        ("((i*1000) mod 7) * j * j", 70_000),
        ("max(i, 30 - j)", 130),
    ],
)
def test_value_bounds(text: str, bound: int):
    assert magnitude(index_of(text), {"i": 10, "j": 100}) == bound
