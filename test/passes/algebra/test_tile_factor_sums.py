"""Sums of what is scaled to be near 1: without that its squares would be infinite, or 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from running import Case, reference, run_together

PROGRAMS = {
    "length": """function (X[R, C]) -> (L) {
      A = abs(X); G[r, 0: R, 1] = >(A[r, c]); D = X / G; E = D * D;
      S[r, 0: R, 1] = +(E[r, c]); L = G * sqrt(S);
    }""",
    "length by contractions": """function (X[R, C]) -> (L) {
      A = abs(X); G[r, 0: R, 1] = >(A[r, c]); D = X / G;
      S[r, 0: R, 1] = +(D[r, c] * D[r, c]); L = G * sqrt(S);
    }""",
    "effective size": """function (X[R, C]) -> (O) {
      S[r, 0: R, 1] = +(X[r, c]); P = X / S; E = P * P; Q[r: R] = +(E[r, c]); O = 1 / Q;
    }""",
    "weighed by itself": """function (X[R, C]) -> (O) {
      S[r, 0: R, 1] = +(X[r, c]); E = (X / S) * X; O[r: R] = +(E[r, c]);
    }""",
}


@pytest.mark.parametrize("size", [1e25, 1e-25])
def test_on_devices(size: float, device: Any):
    x = (np.random.default_rng(0).uniform(0.5, 1, (3, 40)) * size).astype(np.float32)
    made = PROGRAMS.items()
    cases = [Case(n, s, (x,), reference(s, [x]), length=40, scale=0.0) for n, s in made]
    assert all(np.isfinite(e).all() and (e != 0).all() for c in cases for e in c.expected)
    run_together(cases, device)
