"""Random schedules of contractions with long loops, on every device.

`pytest test/test_given_schedules.py --examples 10000` tries a hundred; `make fuzz` goes on.
"""

from __future__ import annotations

import pytest
from given_schedules import Given, agrees, given_schedules
from hypothesis import given, note
from test_random_programs import searching

import tiledialect as td


def test_given_schedules(device: td.Device, request: pytest.FixtureRequest):
    @searching(request.config.getoption("--examples") // 100)
    @given(given_schedules())
    def check(made: Given) -> None:
        note(made.scheduled)
        agrees(made, device)

    check()
