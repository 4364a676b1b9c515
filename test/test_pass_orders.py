"""Passes in any order end, with IR that verifies or a TileError."""

from __future__ import annotations

import pytest
from hypothesis import given
from pass_orders import Order, ends_well, orders
from test_random_programs import searching


def test_pass_orders(request: pytest.FixtureRequest):
    @searching(request.config.getoption("--examples") // 10)
    @given(orders())
    def check(order: Order) -> None:
        ends_well(order)

    check()
