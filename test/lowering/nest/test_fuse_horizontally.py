"""Kernels that are independent of one another: one launch, and the same results."""

from __future__ import annotations

import numpy as np
import pytest

import tiledialect as td
from tiledialect.platforms import INTEL, POCL

RANDOM = np.random.default_rng(5)

PRODUCTS = (
    "function (A[M, K], B[K, N], C[M, K]) -> (O, P) "
    "{ O[m, n: M, N] = +(A[m, k] * B[k, n]); P[m, n: M, N] = +(C[m, k] * B[k, n]); }"
)
TILE = "<group.y 8*m : 4, group.x 32*n : 2, local.x n : 32, {}> stage <{} local at 8*k, B local at 8*k>"
"""Tiles of 8 x 32 by groups of 64 or 128 work-items, which read both factors from local memory."""
LARGE = "local.y 2*m : 4, serial 8*k : 6, serial k : 8, unroll m : 2"
SMALL = "local.y 4*m : 2, serial 8*k : 6, serial k : 8, unroll m : 4"
SCHEDULES = {
    "equal": ((32, 48, 64), TILE.format(LARGE, "A"), TILE.format(LARGE, "C"), 1),
    "half": ((32, 48, 64), TILE.format(LARGE, "A"), TILE.format(SMALL, "C"), 1),
    "half before": ((32, 48, 64), TILE.format(SMALL, "A"), TILE.format(LARGE, "C"), 1),
    # The last tiles have edges, so that not all groups come to the same barriers.
    "edges": ((31, 48, 61), TILE.format(LARGE, "A"), TILE.format(SMALL, "C"), 2),
    "edges of equal": ((31, 48, 61), TILE.format(LARGE, "A"), TILE.format(LARGE, "C"), 1),
    "edges of items": (
        (31, 48, 64),
        TILE.format(LARGE, "A"),
        "<group.y 32*m : 1, group.x 8*n : 8, local.x n : 8, local.y 2*m : 16, serial 16*k : 3, "
        "serial k : 16, unroll m : 2> stage <B local at 16*k>",
        1,
    ),
}


def numbers(*shape: int) -> np.ndarray:
    """Whole numbers, whose sums are exact."""
    return RANDOM.integers(-4, 5, shape).astype(np.float32)


@pytest.mark.parametrize("device", td.devices(), ids=lambda device: device.id)
@pytest.mark.parametrize("name", SCHEDULES)
def test_groups_of_several_kernels(name: str, device: td.Device):
    (m, k, n), first, second, count = SCHEDULES[name]
    plain = td.compile(PRODUCTS, device=device)
    a, b, c = numbers(m, k), numbers(k, n), numbers(m, k)
    function = plain.with_schedules({"O": first, "P": second})
    text = function.opencl(a, b, c)
    if device.short_platform in (POCL.short, INTEL.short):
        assert "_and_" not in text
    else:
        assert text.count("__kernel") == count
    o, p = function(a, b, c)
    np.testing.assert_array_equal(o, a @ b)
    np.testing.assert_array_equal(p, c @ b)


@pytest.mark.parametrize("device", td.devices(), ids=lambda device: device.id)
def test_results_that_others_take_are_there(device: td.Device):
    function = td.compile(
        "function (X[N, M]) -> (A, B, C, D) { A[n: N] = +(X[n, m]); B[m: M] = >(X[n, m]);"
        " C[n: N] = =(A[N - 1 - n]); D[n, m: N, M] = +(B[m] * A[n]); }",
        device=device,
    )
    x = numbers(37, 29)
    a, b, c, d = function(x)
    np.testing.assert_array_equal(a, x.sum(1))
    np.testing.assert_array_equal(b, x.max(0))
    np.testing.assert_array_equal(c, a[::-1])
    np.testing.assert_array_equal(d, np.outer(a, b))


def test_times_of_parts_are_of_kernels_alone():
    """A search gives every kernel its own launch."""
    from tiledialect.exploration.evaluation import APART
    from tiledialect.lowering.given_passes import GivenPasses

    assert GivenPasses((APART,)).horizontal().most == 1
