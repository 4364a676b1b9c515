"""Sines and cosines of sines of which cosines are computed, too: as the reference on every device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tiledialect as td
from tiledialect import lift

ANGLES = "function (X) -> (Y) { S = sin(X); Y = cos(X) * cos(S) + sin(S); }"
COSINES = "function (X) -> (Y) { S = cos(X); Y = sin(X) * cos(S) + sin(S); }"
CHAIN = "function (X) -> (Y) { A = sin(X); B = sin(A); Y = sin(B); }"
X = np.linspace(-3, 3, 13)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("source", [ANGLES, COSINES, CHAIN])
def test_elementwise(source: str, dtype: type, device: td.Device):
    f, x = td.compile(source, device=device), X.astype(dtype)
    # A few units in the last place for each function.
    tolerance = 100 * np.finfo(dtype).eps
    np.testing.assert_allclose(f(x), f.reference(x), tolerance, tolerance)
    gradient = f.gradient()
    np.testing.assert_allclose(gradient(x, x), gradient.reference(x, x), tolerance, tolerance)


def test_carried_by_a_loop(device: td.Device):
    """The compiler may write the loop out."""

    def step(s: Any, k: Any) -> Any:
        return lift.sin(s[0]), s[1] + lift.cos(s[0])

    def row(a: Any) -> Any:
        start = (a, lift.cast(0.0, lift.f32))
        return lift.generate(3, lambda i: i) >> lift.reduce_seq(step, start) >> lift.get(1)

    f = td.compile(lift.fun(lift.array("N"), lift.map(row)), device=device)
    x = X.astype(np.float32)
    np.testing.assert_allclose(f(x), f.reference(x), 1e-5, 1e-5)
