"""Rows that are gathered where a contraction takes them, on every device."""

from __future__ import annotations

import numpy as np
import pytest

import tiledialect as td

PROGRAMS = {
    "means": "S[b, d: B, D] = +(G[b, l, d]); O = S / L;",
    "greatest": "O[b, d: B, D] = >(G[b, l, d]);",
    "weighted": "W = as_float(I, 32) / 8; O[b, d: B, D] = +(G[b, l, d] * W[b, l]);",
    "computed with": "F = exp(G * 0.125); O[b, d: B, D] = +(F[b, l, d]);",
    "turned": "O[d, b: D, B] = +(G[b, l, d]);",
    "along rows": "O[b, l: B, L] = +(G[b, l, d]);",
    "parts": "O[b, d: B, D - 1] = +(G[b, l, d + 1]);",
    "each twice": "O[b, k, d: B, 2, D] = +(G[b, l, d]), k < 2;",
    "taken elsewhere": "S[b, d: B, D] = +(G[b, l, d]); T[b: B] = +(G[b, l, d]); O = S * reshape(T, B, 1);",
    "in a product": "C[b, l, k: B, L, V] = +(G[b, l, d] * E[k, d]); O[b, k: B, V] = +(C[b, l, k]);",
    "each by several": "W = as_float(I, 32) / 8; O[b, m, d: B, B, D] = +(W[m, l] * G[b, l, d]);",
    "of two": "H = gather(E, I + 1); O[b, d: B, D] = +(G[b, l, d] * H[b, l, d]);",
    "of one axis": "F = gather(G, J); O[l, d: L, D] = +(F[j, l, d]);",
}


@pytest.mark.covering(1)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("columns", [5, 37])
def test_results(name: str, columns: int, device: td.Device) -> None:
    text = f"function (E[V, D], I[B, L], J[K]) -> (O) {{ G = gather(E, I); {PROGRAMS[name]} }}"
    random = np.random.default_rng(0)
    table = random.integers(-9, 10, (11, columns)).astype(np.float32)
    # A place outside of the table takes the nearest inside.
    indices = random.integers(-2, 14, (6, 7)).astype(np.int32)
    arrays = [table, indices, random.integers(0, 6, 4).astype(np.int32)]
    function = td.compile(text, device=device)
    found = function(*arrays)
    np.testing.assert_allclose(found, function.reference(*arrays), rtol=1e-5)
    if name != "greatest":
        cotangent = random.integers(-9, 10, found.shape).astype(np.float32)
        gradient = function.gradient(wrt=("E",))
        expected = gradient.reference(*arrays, cotangent)
        np.testing.assert_allclose(gradient(*arrays, cotangent), expected, rtol=1e-4, atol=1e-3)
