"""Random whole programs and their gradients, as compiled for each device and for described ones.

`pytest test/test_whole_programs.py --examples 3000` tries many times as many as by default.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import oclgrind
import pytest
from compare import LARGEST, assert_close
from described import Entries, entries, run_as, spec
from hypothesis import given, note
from hypothesis import strategies as st
from test_random_programs import sharing
from whole_programs import Program, programs

import tiledialect as td

Array = npt.NDArray[Any]

ULPS = 4000
"""Tolerance, relative to the largest element: sums of sums, in any order."""


def differentiated(
    program: Program, order: int
) -> tuple[td.Function, list[Array], Sequence[Array]]:
    """The function, differentiated so often; inputs; and what the reference gives."""
    f, arrays = td.compile(program.source), program.arrays()
    random = np.random.default_rng(1)
    results = outputs(f.reference(*arrays))
    for _ in range(order):
        reals = [t.name for t in program.inputs if not t.is_index]
        f = f.gradient(reals[:2])
        arrays += [random.uniform(-1, 1, r.shape).astype(r.dtype) for r in results]
        results = outputs(f.reference(*arrays))
    return f, arrays, results


def outputs(results: Any) -> tuple[Array, ...]:
    """Results as a tuple."""
    return results if isinstance(results, tuple) else (results,)


def agrees(program: Program, order: int, device: td.Device, described: tuple[str, Entries]) -> None:
    """Fail unless the device gives what the reference gives, as compiled for the description."""
    f, arrays, expected = differentiated(program, order)
    before = len(oclgrind.log())
    actual = run_as(f, arrays, device, spec(*described))
    for k, (a, e) in enumerate(zip(actual, expected, strict=True)):
        # Terms cancel anywhere in a random program.
        assert_close(a, e, ulps=ULPS, scale=LARGEST, what=f"output {k}")
    assert not oclgrind.report(before)


def test_whole_programs(device: td.Device, request: pytest.FixtureRequest):
    @sharing(request.config.getoption("--examples") // 50, device)
    @given(programs(3), st.integers(0, 1), entries(device))
    def check(program: Program, order: int, described: tuple[str, Entries]) -> None:
        note(f"{program.source}{program.inputs}\nas for {described}")
        agrees(program, order, device, described)

    check()


FOUND: dict[str, tuple[str, list[tuple[int, ...]], str, Entries]] = {
    "rows of a tile that no vectors divide, fetched ahead": (
        """function (I[N, H, W, C], K[J, L, C, D], DO[N, Y, X, D]) -> (DI) {
          DI[n, 4*y + j, x + i - 1, c: N, H, W, C] = +(DO[n, y, x, d] * K[j, i, c, d]);
        }""",
        [(32, 13, 16, 2), (2, 3, 2, 8), (32, 3, 16, 8)],
        "GPU",
        {"compute_units": 132, "max_work_group_size": 32, "local_mem_size": 16384},
    ),
    "scans without local memory": (
        "function (A[M, N]) -> (S) { S[i, j: M, N] = +(A[i, k]), j - k < N; }",
        [(5, 67)],
        "GPU",
        {"local_mem_size": 0},
    ),
    "a product with a number": (
        "function (A[M, K], B[K, N], S[]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j] * S[]); }",
        [(16, 24), (24, 33), ()],
        "CPU",
        {"compute_units": 2, "native_vector_width": 8},
    ),
    "a square matrix, no diagonal, and sums of rows": (
        """function (X[B, S, K], W[N, K]) -> (C, T) {
          C[b, s, n: B, S, N] = +(X[b, s, k] * W[n, k]);
          T[b, s, 0: B, S, 1] = +(C[b, s, n]);
        }""",
        [(2, 5, 8), (8, 8)],
        "CPU",
        {"compute_units": 2, "native_vector_width": 8},
    ),
    "sums of a row that fill local memory": (
        """function (X[N], W[N]) -> (Y) {
          S[0: 1] = +(X[i]); M[0: 1] = >(X[i]); L[0: 1] = <(X[i]); Q[0: 1] = +(X[i] * W[i]);
          T[0: 1] = +(W[i]); K[0: 1] = >(W[i]); Y = X * S + M * L * Q * W + T * K;
        }""",
        [(1000,), (1000,)],
        "GPU",
        {"compute_units": 132, "local_mem_size": 1024, "max_work_group_size": 128},
    ),
    "sums of halves, which are kept in floats, that fill local memory": (
        "function (A[M, N]) -> (O) { T = as_float(A, 16); O[j: N] = +(T[i, j]); }",
        [(4, 99)],
        "GPU",
        {"compute_units": 1, "local_mem_size": 1024, "bandwidth": 0.5, "launch": 0.0},
    ),
    "sums of halves, whose parts begin as a number": (
        "function (A[M, N]) -> (O) { T = as_float(A, 16); O[] = +(T[i, j]); }",
        [(64, 8192)],
        "GPU",
        {"compute_units": 16, "local_mem_size": 32768, "max_work_group_size": 128},
    ),
    "sums that are compared, which leaves a byte of each": (
        "function (A[M, N]) -> (O) { S[j: N] = +(A[i, j]); O = S > 3; }",
        [(64, 64)],
        "GPU",
        {"compute_units": 1, "local_mem_size": 1024, "bandwidth": 0.5, "launch": 0.0},
    ),
    "vectors of no lanes": (
        "function (A[M, N]) -> (S) { S[i: M] = +(A[i, j]); }",
        [(67, 131)],
        "CPU",
        {"native_vector_width": 0, "cache_sizes": (), "local_mem_size": 0},
    ),
}
"""Programs that were once refused or wrong, shapes of their inputs, and devices."""


@pytest.mark.parametrize("name", FOUND)
def test_found(name: str, device: td.Device):
    source, shapes, kind, described = FOUND[name]
    random = np.random.default_rng(0)
    arrays = [np.asarray(random.uniform(-1, 1, shape), np.float32) for shape in shapes]
    f = td.compile(source)
    target = spec(kind, {**described, "type": kind.lower(), "platform": device.platform})
    for actual, expected in zip(
        run_as(f, arrays, device, target), outputs(f.reference(*arrays)), strict=True
    ):
        assert_close(actual, expected, ulps=ULPS, scale=LARGEST)
