"""Functions called with one shape after another compute what they compute for each alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from builds import noted_builds
from compare import LARGEST, assert_close

import tiledialect as td
from tiledialect.lowering.runtime.program import compiling, specialization

ATTENTION = """function (X[B, T, C], W[C, H, D]) -> (Y) {
  Q[b, h, t, d: B, H, T, D] = +(X[b, t, c] * W[c, h, d]);
  L[b, h, s, t: B, H, T, T] = +(Q[b, h, s, d] * Q[b, h, t, d]);
  P = softmax(L, 3);
  Y[b, t, h, d: B, T, H, D] = +(P[b, h, t, s] * Q[b, h, s, d]);
}"""
PERCEPTRON = """function (X[B, C], V[C, F], W[F, N], S[N]) -> (Y, M) {
  U[b, f: B, F] = +(X[b, c] * V[c, f]);
  Z[b, n: B, N] = +(relu(U)[b, f] * W[f, n]);
  Y = Z + S;
  M[n: N] = >(Y[b, n]);
}""".replace("relu(U)[b, f]", "R[b, f]").replace("  Z[", "  R = relu(U);\n  Z[")
CONVOLUTION = """function (X[B, H, W, C], K[J, I, C, D]) -> (Y) {
  A[b, y, x, d: B, H, W, D] = +(X[b, y + j - 1, x + i - 1, c] * K[j, i, c, d]);
  Y[b, y, x, d: B, H/2, W/2, D] = >(relu(A)[b, 2*y + j, 2*x + i, d]), j < 2, i < 2;
}""".replace("relu(A)", "R").replace("  Y[", "  R = relu(A);\n  Y[")
SCAN = "function (X[B, N]) -> (Y) { C[b, i: B, N] = +(X[b, k]), i - k < N; Y = C / (B + 1); }"

PROGRAMS: dict[str, tuple[str, Any]] = {
    "attention": (ATTENTION, lambda b, n: [(b, n, 12), (12, 2, 8)]),
    "perceptron": (PERCEPTRON, lambda b, n: [(b, 20), (20, 3 * n), (3 * n, 11), (11,)]),
    "convolution": (CONVOLUTION, lambda b, n: [(b, 6, n, 3), (3, 3, 3, 8)]),
    "scan": (SCAN, lambda b, n: [(b, n)]),
}
ULPS = 2000
"""The largest difference, as a share of the largest element: sums of sums, in any order."""


def inputs(name: str, batch: int, size: int) -> list[Any]:
    random = np.random.default_rng(batch * 1000 + size)
    shapes = PROGRAMS[name][1](batch, size)
    return [random.uniform(-1, 1, shape).astype(np.float32) for shape in shapes]


def outputs(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


def check(f: td.Function, arrays: list[Any]) -> None:
    """Compare with the reference."""
    for a, e in zip(outputs(f(*arrays)), outputs(f.reference(*arrays)), strict=True):
        # Terms of gradients cancel.
        assert_close(a, e, ulps=ULPS, scale=LARGEST)


@pytest.mark.covering(1)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", PROGRAMS)
def test_shapes_in_any_order(
    name: str, seed: int, device: td.Device, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
):
    # What is kept on disk would be read from there.
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path))
    random = np.random.default_rng(seed)
    f = td.compile(PROGRAMS[name][0], device=device)
    if seed and name != "scan":
        f = f.gradient(0)
    for batch, size in zip(random.permutation([2, 3, 6]), (8, 8, 7), strict=True):
        arrays = inputs(name, int(batch), size)
        if len(f.inputs) > len(arrays):
            results = outputs(td.compile(PROGRAMS[name][0]).reference(*arrays))
            arrays += [random.uniform(-1, 1, r.shape).astype(r.dtype) for r in results]
        check(f, arrays)


def test_a_second_batch_has_the_schedules_and_kernels_of_the_first(tmp_path: Any, monkeypatch: Any):
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path))
    built = noted_builds(monkeypatch)
    f = td.compile(ATTENTION)
    counts: list[int] = []
    for batch in (16, 8):
        built.clear()
        f(*(np.ones(shape, np.float32) for shape in ((batch, 64, 64), (64, 4, 32))))
        counts.append(sum(text.count("__kernel") for text in built))
    first, second = counts
    assert second < first
    types = ["8x64x64xf32", "64x4x32xf32"]
    assert "kept from other sizes" in f.explanation(*types)


def test_compiling_ahead(device: td.Device, monkeypatch: pytest.MonkeyPatch):
    f = td.compile(SCAN, device=device)
    arrays = [inputs("scan", batch, 9) for batch in (2, 3, 4)]
    f.compile_for(arrays[0], ["3x9xf32"], {"X": ((4, 9), "f32")})
    monkeypatch.setattr(compiling, "compile_module", None)
    monkeypatch.setattr(specialization, "build_program", None)
    for own in arrays:
        check(f, own)


def test_what_cannot_be_compiled_ahead_is_refused():
    f = td.compile(ATTENTION)
    with pytest.raises(td.TileError, match="dimension C is 12 in X"):
        f.compile_for(["2x3x12xf32", "13x2x8xf32"])
    with pytest.raises(td.TileError, match="W"):
        f.compile_for(["2x3x12xf32"])
