"""Numbers next to 0: taken as 0 on CPUs for speed, and kept with the precision `exact`."""

from __future__ import annotations

import numpy as np
import pytest

import tiledialect as td

PROGRAMS = {
    "by the largest": "A = abs(X); L[i, 0: N, 1] = >(A[i, j]); Y = X / L;",
    "halved": "Y = X * 0.5;",
    "sums": "Y[i: N] = +(X[i, j]);",
    "squares": "Z = X * 1e38; Y[i: N] = +(Z[i, j] * Z[i, j]);",
    "steps": "Y = X / 3 + X;",
}


@pytest.mark.every_device
@pytest.mark.parametrize("name", PROGRAMS)
def test_exact_keeps_numbers_next_to_0(name: str, device: td.Device):
    text = f"function (X[N, M]) -> (Y) {{ {PROGRAMS[name]} }}"
    x = np.random.default_rng(0).uniform(-1, 1, (3, 50)).astype(np.float32) * np.float32(2e-39)
    f = td.compile(text, device=device, precision="exact")
    expected = f.reference(x)
    assert np.abs(expected).max() > 0
    # Sums of so few numbers, all of them multiples of the least one, are exact; quotients may
    # differ by their last bit.
    np.testing.assert_allclose(f(x), expected, rtol=1e-6, atol=3e-45)
