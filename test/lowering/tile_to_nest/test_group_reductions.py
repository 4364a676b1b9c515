"""Sums that work-items share, by trees of every form, on every device."""

from __future__ import annotations

import numpy as np
import pytest

import tiledialect as td

PRODUCT = "function (A[M, L], B[L, N]) -> (C) { C[i, j: M, N] = %s(A[i, k] * B[k, j]); }"
COUNTED = "function (A[M, L]) -> (C) { C[i: M] = >(A[i, k]); }"
SCHEDULES = (
    # Those that share a sum are far apart, neighbours, and between others.
    "<local.x k : 4, local.x 4*j : 6, serial 4*k : 15, unroll i : 6, vector j : 4>",
    "<local.x 4*j : 6, local.x k : 4, serial 4*k : 15, unroll i : 6, vector j : 4>",
    "<group.x 3*i : 2, local.x 3*i : 1, local.x k : 4, local.x 4*j : 6, local.x 4*k : 2, "
    "serial 8*k : 8, unroll i : 3, vector j : 4>",
    # As many as no power of two, along several axes.
    "<local.x j : 24, local.y k : 3, serial 3*k : 20, unroll i : 6>",
    "<group.x 2*i : 3, local.y 4*k : 7, local.x 4*j : 6, local.z 28*k : 2, serial 56*k : 2, "
    "serial k : 4, unroll i : 2, vector j : 4>",
    "<group.y i : 6, local.x 2*k : 5, local.z j : 12, serial 10*k : 6, unroll 12*j : 2, vector k : 2>",
    # Accumulators that have no registers of their own.
    "<local.x k : 2, serial 2*i : 3, serial 8*j : 3, serial 2*k : 30, unroll i : 2, vector j : 8>",
)


@pytest.mark.covering(1)
@pytest.mark.parametrize("aggregation", ["+", ">"])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.filterwarnings("ignore::tiledialect.TileWarning")
def test_every_form_of_the_tree(device: td.Device, schedule: str, aggregation: str):
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, shape).astype(np.float32) for shape in ((6, 60), (60, 24)))
    expected = a @ b if aggregation == "+" else (a[:, :, None] * b).max(1)
    f = td.compile(PRODUCT % aggregation, device=device).with_schedules({"C": schedule})
    np.testing.assert_array_equal(f(a, b), expected)


@pytest.mark.filterwarnings("ignore::tiledialect.TileWarning")
def test_all_have_a_maximum_that_is_counted(device: td.Device):
    a = np.random.default_rng(0).integers(0, 3, (5, 44)).astype(np.float32)
    f = td.compile(COUNTED, device=device).gradient("A")
    d = np.arange(1, 6, dtype=np.float32)
    largest = a == a.max(1, keepdims=True)
    np.testing.assert_allclose(f(a, d), largest * (d / largest.sum(1))[:, None], rtol=1e-6)
