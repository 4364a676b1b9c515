"""Contractions over triangles and bands, whose tests lie across the tiles of a kernel."""

from __future__ import annotations

import numpy as np
import pytest
from compare import assert_close

import tiledialect as td

BOUNDS = {
    "lower": "i - k < N",
    "band": "i - k + 5 < 40",
    "against": "i + k < N",
    "steep": "2*i - k < N",
}
SOURCES = {
    "rows": "function (A[N, N], X[N]) -> (O) { O[i: N] = +(A[i, k] * X[k]), @; }",
    "columns": "function (A[N, N], X[N]) -> (O) { O[k: N] = +(A[i, k] * X[i]), @; }",
    "sum": "function (A[N, N], X[N]) -> (O) { O[] = +(A[i, k] * X[i]), @; }",
    "copy": "function (A[N, N], X[N]) -> (O) { O[i, k: N, N] = =(A[i, k]), @; }",
}


@pytest.mark.covering(1)
@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("source", SOURCES)
def test_triangles(device: td.Device, source: str, bound: str) -> None:
    """Results and gradients are the reference's; sizes are no multiples of a tile's."""
    function = td.compile(SOURCES[source].replace("@", BOUNDS[bound]), device=device)
    rng = np.random.default_rng(0)
    n = 83
    given = [rng.standard_normal(shape).astype(np.float32) for shape in ((n, n), (n,))]
    result = function(*given)
    assert_close(result, function.reference(*given), length=n * n, scale=n)
    cotangent = rng.standard_normal(result.shape).astype(np.float32)
    gradient = function.gradient(wrt=("X",) if source == "columns" else ("A",))
    ours, expected = gradient(*given, cotangent), gradient.reference(*given, cotangent)
    # Sums of up to n products of numbers about 1.
    assert_close(ours, expected, length=n, scale=1)


@pytest.mark.covering(1)
@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float64])
@pytest.mark.parametrize("bound", ["k - i < N", "i - 2*k + 3 < N", "N - 1 - i - k < N"])
def test_what_is_left_out(device: td.Device, bound: str, dtype: type[np.generic]) -> None:
    """Nothing of it comes into the result, whatever the type and what is computed with it."""
    text = f"function (A[N, N]) -> (O, P) {{ O[i, k: N, N] = =(A[i, k]), {bound}; P = O + O; }}"
    function = td.compile(text, device=device)
    array = np.arange(37 * 37).reshape(37, 37).astype(dtype)
    if np.issubdtype(dtype, np.floating):
        array[[0, 36, 36], [36, 0, 36]] = np.inf, np.nan, -np.inf
    for ours, expected in zip(function(array), function.reference(array), strict=True):
        np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize(
    "bound", ["1000000000*i - 2000000000 < 2100000000", "2100000000 - 1000000000*i < 3000000000"]
)
def test_bounds_of_large_numbers(device: td.Device, bound: str) -> None:
    """Conditions hold at the same points, though positions are counted in numbers that end before."""
    text = f"function (A[N]) -> (O) {{ O[i: N] = =(A[i]), {bound}; }}"
    array = np.arange(1, 6, dtype=np.float32)
    function = td.compile(text, device=device)
    np.testing.assert_array_equal(function(array), function.reference(array))
