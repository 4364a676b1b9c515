"""Sums of exponentials in the pass that finds their maximum, on every device."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tiledialect as td

SOFTMAX = "function (X[R, C]) -> (Y) { Y = softmax(X, 1); }"
LOG_SUM = """function (X[R, C], W[R, C]) -> (L, D) {
  M[r, 0: R, 1] = >(X[r, c]); E = exp(X - M);
  S[r, 0: R, 1] = +(E[r, c]); P = -E * W; T[r, 0: R, 1] = +(P[r, c]);
  L = log(S) + M; D = T / S; }"""
LOOPS = {
    "items": "<group.x d0 : 8, local.x d1 : 8, serial 8*d1 : 13>",
    "lanes": "<group.x 2*d0 : 4, local.x d0 : 2, local.x 4*d1 : 4, serial 32*d1 : 4, "
    "unroll 16*d1 : 2, vector d1 : 4>",
}

OTHER_AXES = """func.func @f(%X: tensor<6x1x96xf32>, %Z: tensor<6x7x96xf32>) -> tensor<6x1x1xf32> {
  %S = tile.kernel(%x = %X : tensor<6x1x96xf32>, %z = %Z : tensor<6x7x96xf32>) -> tensor<6x1x1xf32>
      axes <i = 0 to 6, h = 0 to 7, k = 0 to 96>
      schedule <group.x i : 6, local.x k : 8, serial h : 7, serial 8*k : 12> {
    %M = tile.contraction max(%x[i, 0, k]) -> [i, 0, 0] : (tensor<6x1x96xf32>) -> tensor<6x1x1xf32>
    %d = tile.sub %x, %M : (tensor<6x1x96xf32>, tensor<6x1x1xf32>) -> tensor<6x1x96xf32>
    %e = tile.exp %d : (tensor<6x1x96xf32>) -> tensor<6x1x96xf32>
    %p = tile.mul %e, %z : (tensor<6x1x96xf32>, tensor<6x7x96xf32>) -> tensor<6x7x96xf32>
    %s = tile.contraction add(%p[i, h, k]) -> [i, 0, 0] : (tensor<6x7x96xf32>) -> tensor<6x1x1xf32>
    tile.yield %s : tensor<6x1x1xf32>
  }
  func.return %S : tensor<6x1x1xf32>
}"""


def rows(dtype: type) -> np.ndarray:
    """Numbers in any order, rising, falling, huge ones, infinities, and what is none."""
    x = np.random.default_rng(0).normal(0, 10, (8, 101)).astype(dtype)
    x[1], x[2] = np.sort(x[1]) * 9, np.sort(x[2])[::-1] * 9
    x[3] *= 1e36
    x[4, ::3] = -np.inf
    x[5] = -np.inf
    x[6, 40] = np.inf
    x[7, 60] = np.nan
    return x


def check(function: td.Function, *arrays: np.ndarray, rtol: float) -> None:
    """The results are the reference's."""
    with np.errstate(all="ignore"):
        expected = function.reference(*arrays)
    found = function(*arrays)
    if not isinstance(found, tuple):
        found, expected = (found,), (expected,)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * 1e-3)


@pytest.mark.covering(1)
@pytest.mark.parametrize("loops", LOOPS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_softmax(loops: str, dtype: type, device: td.Device) -> None:
    if dtype is np.float64 and not device.fp64:
        pytest.skip("the device has no f64")
    x, rtol = rows(dtype), 2e-5 if dtype is np.float32 else 1e-12
    function = td.compile(SOFTMAX, device=device)
    check(function.with_schedules({"Y": LOOPS[loops]}), x, rtol=rtol)
    gradient = function.gradient(wrt=("X",)).with_schedules({"DX": LOOPS[loops]})
    check(gradient, x, x[0] / 9 + np.ones((8, 1), dtype), rtol=20 * rtol)


@pytest.mark.parametrize("loops", LOOPS)
def test_weighted(loops: str, device: td.Device) -> None:
    function = td.compile(LOG_SUM, device=device).with_schedules({"L": LOOPS[loops]})
    x, w = rows(np.float32), np.random.default_rng(1).normal(size=(8, 101)).astype(np.float32)
    check(function, x, w, rtol=1e-4)
    text = function.opencl(x, w)
    # Nothing is written for a point, so a row is read once.
    assert text.count("for (") == 1


def test_other_axes(device: td.Device, tmp_path: Path) -> None:
    """A sum over axes that its maximum does not have is no part of the pass that finds this."""
    path, random = tmp_path / "f.mlir", np.random.default_rng(2)
    path.write_text(OTHER_AXES)
    x, z = (random.normal(size=(6, n, 96)).astype(np.float32) for n in (1, 7))
    check(td.compile(path, device=device), x, z, rtol=1e-4)
