"""Frames that overlap: cut out of a signal, and added to one again."""

from __future__ import annotations

import numpy as np
import pytest
from compare import assert_close

import tiledialect as td

SOURCES = {
    "add": "function (F[M, T], W[T]) -> (Y) { Y[@*m + t: (M - 1)*@ + T] = +(F[m, t] * W[t]); }",
    "cut": "function (X[N], W[T]) -> (F) { F[m, t: (N - T)/@ + 1, T] = =(X[@*m + t] * W[t]); }",
    "pool": "function (X[N], W[T]) -> (F) { F[m: (N - T)/@ + 1] = >(X[@*m + t]), t < T; }",
    "pictures": "function (F[B, M, L, 16, 16], W[T]) -> (Y) "
    "{ Y[b, @*m + i, @*l + j: B, @*M, @*L] = +(F[b, m, l, i, j]); }",
}
SHAPES = {
    "add": ((23, 40), (40,)),
    "cut": ((203,), (40,)),
    "pool": ((203,), (40,)),
    "pictures": ((2, 5, 18, 16, 16), (1,)),
}
SMALL = {"pictures": ((1, 3, 4, 16, 16), (1,))}
"""Shapes for a simulator."""


@pytest.mark.covering(1)
@pytest.mark.parametrize("step", [8, 13])
@pytest.mark.parametrize("name", SOURCES)
def test_error_boundary(device: td.Device, name: str, step: int) -> None:
    """Results and gradients are the reference's, at the ends of a signal too."""
    function = td.compile(SOURCES[name].replace("@", str(step)), device=device)
    rng = np.random.default_rng(0)
    shapes = SMALL if name in SMALL and device.type == "simulator" else SHAPES
    given = [rng.integers(-9, 9, shape).astype(np.float32) for shape in shapes[name]]
    result = function(*given)
    np.testing.assert_array_equal(result, function.reference(*given))
    cotangent = rng.standard_normal(result.shape).astype(np.float32)
    gradient = function.gradient(wrt=(SOURCES[name][10],))
    ours, expected = gradient(*given, cotangent), gradient.reference(*given, cotangent)
    assert_close(ours, expected, length=40)
