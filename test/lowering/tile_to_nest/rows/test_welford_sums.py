"""Sums of deviations in the pass that finds their mean, on every device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_online_sums import LOOPS as SHARED
from test_online_sums import rows

import tiledialect as td

LOOPS = {
    **SHARED,
    "steps": "<group.x d0 : 8, serial 24*d1 : 5, serial 4*d1 : 6, vector d1 : 4> one_pass",
    "vectors": "<group.x 2*d0 : 4, serial 64*d1 : 2, serial 8*d1 : 8, unroll d0 : 2, "
    "unroll 4*d1 : 2, vector d1 : 4> one_pass",
}
MEAN = "T[r, 0: R, 1] = +(X[r, c]); D = X - T / C;"
SQUARES = f"{MEAN} Q = D * D; V[r, 0: R, 1] = +(Q[r, c]);"
NORM = f"function (X[R, C]) -> (Y) {{ {SQUARES} Y = D / sqrt(V / C + 0.00001); }}"
MOMENTS = f"""function (X[R, C], W[R, C]) -> (V, K, A, B, S) {{ {SQUARES}
  U[r, 0: R, 1] = +(W[r, c]); F = W - U * 0.00990099;
  K[r, 0: R, 1] = +(D[r, c] * F[r, c]); P = -D * (W / 3.0); A[r, 0: R, 1] = +(P[r, c]);
  B[r, 0: R, 1] = +(D[r, c] * W[r, c]); S[r, 0: R, 1] = +(D[r, c]); }}"""
VARIANCE = f"function (X[R, C]) -> (V) {{ {SQUARES} }}"
NOT_LINEAR = {
    "cube": "Q = D * D * D;",
    "weighted square": "Q = D * D * X;",
    "quotient": "Q = 1.0 / (D + 20.0);",
    "mean itself": "Q = D * D * T;",
    "square root": "Q = sqrt(D * D);",
}

Array = np.ndarray[Any, Any]


def build(source: str, loops: str, device: td.Device, *arrays: Array) -> td.Function:
    """The program by these loops, whatever its row kernel is called."""
    function = td.compile(source, device=device)
    return function.with_schedules(dict.fromkeys(function.schedules(*arrays), LOOPS[loops]))


def has_passes(count: int, text: str, loops: str) -> bool:
    """Whether a row is read so often: once more to write what is made of each number.

    Where lone work-items have rows, ends of loops are parted, and this is not to be seen.
    """
    return loops not in SHARED or text.count("for (") == count


@pytest.mark.covering(1)
@pytest.mark.parametrize("loops", LOOPS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_norm(loops: str, dtype: type, device: td.Device) -> None:
    """Infinities, huge numbers and what is none are where the reference has them."""
    if dtype is np.float64 and not device.fp64:
        pytest.skip("the device has no f64")
    x, rtol = rows(dtype), 1e-5 if dtype is np.float32 else 1e-12
    function = build(NORM, loops, device, x)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(function(x), function.reference(x), rtol=rtol, atol=rtol)
    assert has_passes(2, function.opencl(x), loops)


@pytest.mark.parametrize("loops", LOOPS)
def test_gradient(loops: str, device: td.Device) -> None:
    random = np.random.default_rng(3)
    x, dy = (random.normal(size=(8, 101)).astype(np.float32) for _ in range(2))
    function = td.compile(NORM, device=device).gradient(wrt=("X",))
    function = function.with_schedules({"DX": LOOPS[loops]})
    np.testing.assert_allclose(function(x, dy), function.reference(x, dy), rtol=1e-4, atol=1e-5)
    assert has_passes(2, function.opencl(x, dy), loops)


@pytest.mark.covering(1)
@pytest.mark.parametrize("loops", LOOPS)
@pytest.mark.parametrize("offset", [0, 1e4])
def test_welford_sums(loops: str, offset: float, device: td.Device) -> None:
    """Sums of squares, of products of two deviations and of weighted ones, in one pass."""
    random = np.random.default_rng(4)
    x, w = (random.normal(at, 1, (8, 101)).astype(np.float32) for at in (offset, 3))
    function = build(MOMENTS, loops, device, x, w)
    found = function(x, w)
    d = x - x.mean(1, keepdims=True, dtype=np.float64)
    f = w - w.sum(1, keepdims=True, dtype=np.float64) * np.float32(0.00990099)
    for value, terms in zip(found, (d * d, d * f, -d * (w / 3), d * w, d), strict=True):
        scale = np.abs(terms).sum(1, keepdims=True)
        off = np.abs(value - terms.sum(1, keepdims=True)) / scale
        # The mean itself is rounded: all deviations from it are off by as much.
        assert off.max() < 2e-6 + offset * 2.0**-21 * (value is not found[0])
    assert has_passes(1, function.opencl(x, w), loops)


@pytest.mark.parametrize("loops", LOOPS)
@pytest.mark.parametrize("device", td.devices(), ids=str)
@settings(deadline=None, max_examples=10)
@given(
    offset=st.sampled_from([0.0, 1.0, -1e4, 1e6]),
    first=st.sampled_from([0.0, 1e3, 1e6]),
    seed=st.integers(0, 99),
)
def test_variance(loops: str, device: td.Device, offset: float, first: float, seed: int) -> None:
    """Sums are as near as with the mean first, far from 0 and from the first numbers."""
    x = np.random.default_rng(seed).normal(offset, 1, (8, 101)).astype(np.float32)
    x[:4, : 1 + seed % 9] += first
    function = VARIANCES.setdefault((loops, str(device)), build(VARIANCE, loops, device, x))
    exact = np.var(x.astype(np.float64), 1, keepdims=True) * 101
    # What a mean is off by because it is rounded counts by its square.
    rounded = 101 * (np.abs(x).max(1, keepdims=True) * 2.0**-22) ** 2
    assert np.all(np.abs(function(x) - exact) <= 3e-6 * exact + rounded)


VARIANCES: dict[tuple[str, str], td.Function] = {}


@pytest.mark.parametrize("columns", [1, 2, 3, 5, 33])
def test_short_rows(columns: int, device: td.Device) -> None:
    """Work-items and lanes without numbers, and rows of a single one."""
    x = np.random.default_rng(columns).normal(7, 1, (5, columns)).astype(np.float32)
    x[3], x[4] = np.inf, 3e37
    function = td.compile(NORM, device=device)
    loops = f"<group.x d0 : 5, local.x 4*d1 : 4, serial 16*d1 : {-(-columns // 16)}, vector d1 : 4>"
    if columns > 1:
        function = function.with_schedules(dict.fromkeys(function.schedules(x), loops))
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(function(x), function.reference(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("source", NOT_LINEAR.values(), ids=NOT_LINEAR)
def test_other_sums(source: str, device: td.Device) -> None:
    """Sums of other forms wait for the mean."""
    x = np.random.default_rng(5).normal(2, 1, (8, 101)).astype(np.float32)
    source = f"function (X[R, C]) -> (V) {{ {MEAN} {source} V[r: R] = +(Q[r, c]); }}"
    function = build(source, "items", device, x)
    np.testing.assert_allclose(function(x), function.reference(x), rtol=1e-3)
    assert has_passes(2, function.opencl(x), "items")
