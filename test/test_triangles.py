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


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("source", SOURCES)
def test_triangles(device: td.Device, source: str, bound: str) -> None:
    """They and their gradients are what the reference says; sizes are no multiples of a tile's."""
    function = td.compile(SOURCES[source].replace("@", BOUNDS[bound]), device=device)
    rng = np.random.default_rng(0)
    n = 83
    given = [rng.standard_normal(shape).astype(np.float32) for shape in ((n, n), (n,))]
    result = function(*given)
    assert_close(result, function.reference(*given), length=n * n, scale=n)
    cotangent = rng.standard_normal(result.shape).astype(np.float32)
    gradient = function.gradient(wrt=("X",) if source == "columns" else ("A",))
    ours, expected = gradient(*given, cotangent), gradient.reference(*given, cotangent)
    assert_close(ours, expected, length=n)
