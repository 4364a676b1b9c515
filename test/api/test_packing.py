"""Functions in two parts, the first of which is computed of constants alone."""

from __future__ import annotations

import numpy as np

import tiledialect as td
from tiledialect.api.packing import packing_of

TRANSPOSED = td.compile(
    "function (X[M, K], W[N, K], Packed0[N]) -> (Y) { V[k, n: K, N] = =(W[n, k]); "
    "P[m, n: M, N] = +(X[m, k] * V[k, n]); Y = P + Packed0; }"
)


def test_kernels_of_constants():
    x, w, b = np.ones((8, 48), np.float32), np.ones((32, 48), np.float32), np.ones(32, np.float32)
    types = TRANSPOSED.types((x, w, b), {})
    packing = packing_of(TRANSPOSED, types, ["W", "Packed0"])
    assert packing is not None
    assert (packing.constants, packing.inputs) == (("W",), ("X", "Packed0"))
    # The user's names stay, others are found for what is kept.
    assert packing.second.inputs == ("X", "Packed0", "Packed0_2")
    kept = packing.results({"W": w})
    assert np.array_equal(kept[0], w.T)
    found = packing.second(*packing.arrays({"X": x, "Packed0": b}, kept))
    assert np.array_equal(found, x @ w.T + b)
    assert packing_of(TRANSPOSED, types, ["Packed0"]) is None
    assert packing_of(TRANSPOSED, types, []) is None
