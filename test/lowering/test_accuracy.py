"""Sums of deviations from a mean: they are 0, and no number where an element is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from running import Case, run_together

import tiledialect as td

PROGRAMS = {
    "rows": """function (X[R, C]) -> (O) {
      A[r, 0: R, 1] = +(X[r, c]); D = X - A / C; V[r, 0: R, 1] = +(D[r, c] * D[r, c]);
      O = D / sqrt(V / C + 0.00001); }""",
    "columns": """function (X[R, C]) -> (O) {
      A[0, c: 1, C] = +(X[r, c]); D = X - A / R; V[0, c: 1, C] = +(D[r, c] * D[r, c]);
      O = D / sqrt(V / R + 0.00001); }""",
    "all": """function (X[R, C]) -> (O) {
      A[0, 0: 1, 1] = +(X[r, c]); D = X - A / (R * C); V[] = +(D[r, c] * D[r, c]); O = D * V; }""",
    "variances": """function (X[R, C]) -> (O) {
      A[r: R] = +(X[r, c]); D = X - reshape(A / C, R, 1); O[r: R] = +(D[r, c] * D[r, c]); }""",
}


@pytest.mark.parametrize("special", [False, True])
def test_gradients(special: bool, device: Any):
    rng, cases = np.random.default_rng(5), list[Case]()
    for name, source in PROGRAMS.items():
        x = rng.normal(2, 1, (7, 37)).astype(np.float32)
        if special:
            x[[1, 2, 4], [3, 36, 0]] = np.inf, np.nan, -np.inf
        function = td.compile(source)
        g = rng.normal(size=function.reference(x).shape).astype(np.float32)
        gradient = function.gradient()
        assert gradient.ir("tile-factor-sums", x, g).count("tile.contraction add(%D[i0") == 0
        with np.errstate(invalid="ignore"):
            wanted = gradient.reference(x, g)
        cases.append(Case(name, gradient.tile, (x, g), (wanted,), 259, scale=20.0))
    run_together(cases, device)
