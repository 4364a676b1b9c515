"""Random schedules of contractions with long loops, on every device.

`pytest test/lowering/test_given_schedules.py --examples 10000` tries a hundred; `make fuzz` goes on.
"""

from __future__ import annotations

import numpy as np
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


def test_steps_counted_by_quotients_below_zero(device: td.Device):
    """Intel's compiler counts the steps of the last loop wrongly by `(2 - j) >> 2`."""
    text = "function (A[N, K], B[K, M]) -> (S) { S[i, j: N, M] = +(A[i, k] * B[k, j]); }"
    schedule = (
        "<local.x 2*k : 2, local.x k : 2, group.x 2*i : 4, group.x j : 4, unroll 12*j : 4, "
        "serial i : 2, serial 4*j : 3>"
    )
    random = np.random.default_rng(0)
    a, b = (random.integers(1, 5, shape).astype(np.float32) for shape in ((7, 3), (3, 31)))
    product = td.compile(text, device=device).with_schedules({"S": schedule})
    assert np.array_equal(product(a, b), a @ b)
    assert "((0 - j + 6) >> 2) - 1" in product.opencl(a, b)
