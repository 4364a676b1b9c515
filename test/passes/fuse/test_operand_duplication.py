"""Contractions that read a tensor at several places, on every device."""

from __future__ import annotations

import numpy as np
import pytest

import tiledialect as td

SOURCES = {
    "rows": "function (A[M, L]) -> (C) { C[i, j: M, M] = +(A[i, k] * A[j, k]); }",
    "columns": "function (A[L, M]) -> (C) { C[i, j: M, M] = +(A[k, i] * A[k, j]); }",
    "square": "function (A[M, M]) -> (C) { P[i, j: M, M] = +(A[i, k] * A[k, j]); C = P + A; }",
    "itself for default": "function (A[M, L]) -> (C) { C[2*i, k: M, L] = =(A[i, k]) default A; }",
    "what is computed for default": "function (A[M, L]) -> (D) {"
    " E = A * A; C[i + 1, k: M, L] = +(E[i, k] * A[i, k]) default E; D = C - E; }",
    "neighbours": "function (A[M, L]) -> (C) { C[i: M] = +(A[i, k] * A[i, k + 1]); }",
}


@pytest.mark.parametrize("name", SOURCES)
def test_products_with_oneself(name: str, device: td.Device):
    f = td.compile(SOURCES[name], device=device)
    shape = (33, 33) if name == "square" else (33, 20)
    a = np.random.default_rng(2).integers(-4, 5, shape).astype(np.float32)
    assert np.array_equal(f(a), f.reference(a))
    # The text of its schedules is one that it can be given.
    assert np.array_equal(f.with_schedules(f.schedules(a))(a), f.reference(a))
