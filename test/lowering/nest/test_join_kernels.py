"""Kernels that hand over what each group makes for itself: one kernel, and the same results."""

from __future__ import annotations

import numpy as np
import pytest

import tiledialect as td

RANDOM = np.random.default_rng(3)

FIRST = "M[n, x: N, H] = >(X[n, x + j - 1]), j < 3;"
PROGRAMS = {
    "windows": (f"-> (O) {{ {FIRST} O[n, x: N, H] = +(M[n, x + k - 2]), k < 5; }}", 1),
    "returned": (f"-> (M, O) {{ {FIRST} O[n, x: N, H] = +(M[n, x + k - 2]), k < 5; }}", 1),
    "both": (f"-> (O) {{ {FIRST} O[n, x: N, H] = +(M[n, x + k - 2] * X[n, x + k]), k < 5; }}", 1),
    # What other groups make is there when all of them are done.
    "turned": (f"-> (O) {{ {FIRST} O[n, x: N, H] = +(M[N - 1 - n, x + k - 2]), k < 5; }}", 2),
    "shifted": (f"-> (O) {{ {FIRST} O[n, x: N, H] = +(M[n + k - 2, x]), k < 5; }}", 2),
}
SCHEDULES = (
    ("<group.x n : 6, serial x : 37, serial {k} : {n}>", True),
    ("<group.x 2*n : 3, serial n : 2, serial {k} : {n}, serial 8*x : 5, vector x : 8>", True),
    ("<group.x 2*n : 3, serial n : 2, serial 16*x : 3, unroll {k} : {n}, vector x : 16>", True),
    ("<group.x 4*n : 2, serial n : 4, serial 8*x : 5, unroll {k} : {n}, vector x : 8>", True),
    ("<group.x 8*x : 5, serial n : 6, serial x : 8, serial {k} : {n}>", False),
    ("<group.x n : 6, local.x 8*x : 5, serial x : 8, serial {k} : {n}>", False),
)

SPECIAL = np.float32([np.nan, -np.inf, np.inf, -0.0])


def numbers(shape: tuple[int, ...]) -> np.ndarray:
    """Whole numbers, of which many are equal, and some special."""
    found = RANDOM.integers(-2, 3, shape).astype(np.float32)
    return np.where(RANDOM.random(shape) < 0.05, RANDOM.choice(SPECIAL, shape), found)


@pytest.mark.covering(1)
@pytest.mark.parametrize("device", td.devices(), ids=lambda device: device.id)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(("schedule", "may_join"), SCHEDULES)
def test_rows_stay_in_their_groups(name: str, schedule: str, may_join: bool, device: td.Device):
    text, fewest = PROGRAMS[name]
    x = numbers((6, 37))
    plain = td.compile(f"function (X[N, H]) {text}", device=device)
    expected = plain.reference(x)
    pair = {"M": schedule.format(k="j", n=3), "O": schedule.format(k="k", n=5)}
    function = plain.with_schedules(pair)
    if device.type == "cpu":
        count = fewest if may_join else 2
        assert function.opencl(x).count("__kernel") == count
        parts = [kernel.part for kernel in function.profile(x)[1].kernels]
        assert parts == ["M", "O"][-count:]
    for found, wanted in zip(results(function(x)), results(expected), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("device", td.devices(), ids=lambda device: device.id)
def test_results_that_are_read_through_several_views_are_not_handed_over(device: td.Device):
    text = """function (I[N, M, L]) -> (O) {
      M0[j: M] = >(I[i, j, k]); K = reshape(M0, 1, M, 1);
      D = I - K; S[j: M] = +(D[i, j, k]); O = S + M0;
    }"""
    schedule = "<group.x 2*j : 2, serial j : 2, serial i : 3, serial 4*k : 2, vector k : 4>"
    function = td.compile(text, device=device).with_schedules({"M0": schedule, "O": schedule})
    x = RANDOM.integers(-9, 9, (3, 4, 5)).astype(np.float32)
    # Small integers: exact.
    np.testing.assert_array_equal(function(x), function.reference(x))


def results(given: object) -> tuple[np.ndarray, ...]:
    """All results of a function."""
    return given if isinstance(given, tuple) else (np.asarray(given),)


POOLS = {
    "stride": "(H + 1) / 2, (W + 1) / 2] = >(X[n, c, 2*y + j - 1, 2*x + i - 1]), j < 3, i < 3;",
    "same": "H, W] = <(X[n, c, y + j - 1, x + i - 1]), j < 3, i < 3;",
    "wide": "H - 4, W - 2] = >(X[n, c, y + j, x + i]), j < 5, i < 3;",
}


@pytest.mark.covering(1)
@pytest.mark.parametrize("device", td.devices(), ids=lambda device: device.id)
@pytest.mark.parametrize("name", POOLS)
@pytest.mark.parametrize("shape", [(2, 3, 13, 20), (2, 4, 33, 18)])
def test_gradients_of_windows(name: str, shape: tuple[int, ...], device: td.Device):
    text = f"function (X[N, C, H, W]) -> (O) {{ O[n, c, y, x: N, C, {POOLS[name]} }}"
    function = td.compile(text, device=device)
    x = numbers(shape)
    windows = function.reference(x).shape
    cotangent = (RANDOM.integers(-9, 9, windows) * 180).astype(np.float32)
    gradient = function.gradient()
    np.testing.assert_allclose(
        gradient(x, cotangent), gradient.reference(x, cotangent), rtol=1e-5, atol=1e-3
    )
