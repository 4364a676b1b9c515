"""Contractions that write into their default, on every device."""

from __future__ import annotations

import numpy as np
import pytest
from described import run_as, spec

import tiledialect as td

GPU = {"type": "gpu", "compute_units": 132, "max_work_group_size": 64}
PROGRAMS = {
    "columns": """function (A[R, C], B[R, D]) -> (Y) {
      L[i, j: R, C + D] = =(A[i, j]); Y[i, j + C: R, C + D] = =(B[i, j]) default L; }""",
    "rows, then more": """function (A[R, C], B[R, D]) -> (Y, Z) {
      L[i, j: 2*R, C] = =(A[i, j]); Y[i + R, j: 2*R, C] = =(A[i, j]) default L;
      K[i, j + 1: R, D + 2] = =(B[i, j]); Z[i, j: R, D + 2] = +(B[i, j]) default K; }""",
    "taken elsewhere": """function (A[R, C], B[R, D]) -> (L, Y) {
      L[i, j: R, C + D] = =(A[i, j]); Y[i, j + C: R, C + D] = =(B[i, j]) default L; }""",
    "of an input": """function (A[R, C], B[R, D]) -> (Y, Z) {
      Y[i, j + C - D: R, C] = =(B[i, j]) default A; S = -A;
      Z[i, j + C - D: R, C] = =(B[i, j]) default S; }""",
    "computed with": """function (A[R, C], B[R, D]) -> (Y) {
      L[i, j: R, C + D] = =(A[i, j]); F[i, j + C: R, C + D] = =(B[i, j]) default L;
      Y = F * 2.0; }""",
    "a sum of parts": """function (A[R, C], B[R, D]) -> (Y, Z) {
      L[i, j + D: R, C + 2*D] = =(A[i, j]); F[i, j: R, C + 2*D] = =(B[i, j]);
      E[i, j + C + D: R, C + 2*D] = =(B[i, j]); Y = F + L + E;
      K[i, j: 2*R, D] = =(B[i, j]); M[i + R, j: 2*R, D] = =(B[i, j]); N = M + K; Z = exp(N) * 0.0; }""",
    "gaps, and parts that meet": """function (A[R, C], B[R, D]) -> (Y, Z) {
      L[i, 2*j: R, 2*C + D] = =(A[i, j]); F[i, j + 2*C: R, 2*C + D] = =(B[i, j]); Y = L + F;
      K[i, j: R, C + D] = =(A[i, j]); M[i, j + C - 1: R, C + D] = =(B[i, j]); Z = K + M; }""",
    "with itself": """function (A[R, C], B[R, D]) -> (Y, Z) {
      L[i, j: R, C + D] = =(A[i, j]); Y = L + L;
      K[i, j + C: R, C + D] = =(B[i, j]); M[i, j: R, C + D] = =(A[i, j]); Z = K + M; }""",
    "every third": """function (A[R, C], B[R, D]) -> (Y) {
      L = exp(A) * 0.0 - 1.0; Y[i, 3*j: R, C] = =(B[i, j]) default L; }""",
}


@pytest.mark.covering(1)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("shape", [(3, 17, 5), (40, 70, 33)], ids=str)
def test_results(name: str, shape: tuple[int, int, int], device: td.Device) -> None:
    rows, columns, others = shape
    random = np.random.default_rng(0)
    arrays = [random.integers(-9, 10, (rows, n)).astype(np.float32) for n in (columns, others)]
    function = td.compile(PROGRAMS[name], device=device)
    found, expected = function(*arrays), function.reference(*arrays)
    if isinstance(found, np.ndarray):
        found, expected = [found], [expected]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_on_gpus(name: str, device: td.Device) -> None:
    """There the first part of a concatenation fills nothing."""
    arrays = [np.arange(1, 3 * n + 1, dtype=np.float32).reshape(3, n) for n in (17, 5)]
    function = td.compile(PROGRAMS[name], device=device)
    expected = function.reference(*arrays)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for a, b in zip(run_as(function, arrays, device, spec("GPU", GPU)), expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_parts_that_fusion_takes_from_a_chain(device: td.Device) -> None:
    """The last of three parts joins the kernel of `Y`: the first one fills its result, then."""
    source = """function (A[R, C]) -> (S, Y) {
      M = max(A, A);
      K[i, j: R, 3*C] = =(M[i, j]); L[i, j + C: R, 3*C] = =(A[i, j]) default K;
      S[i, j + 2*C: R, 3*C] = =(M[i, j]) default L;
      D[i, j: 3*R, C] = =(M[i, j]); E[i + R, j: 3*R, C] = =(M[i, j]) default D;
      F[i + 2*R, j: 3*R, C] = =(M[i, j]) default E;
      P[i, j: 3*R, 3*C] = =(F[i, j]); Q[i, j + C: 3*R, 3*C] = =(F[i, j]) default P;
      T[i, j + 2*C: 3*R, 3*C] = =(F[i, j]) default Q;
      X[i, j: 3*R, 6*C] = =(T[i, j]); Y[i, j + 3*C: 3*R, 6*C] = =(T[i, j]) default X; }"""
    function = td.compile(source, device=device)
    array = np.arange(1, 9, dtype=np.float32).reshape(2, 4)
    gpu = GPU | {"compute_units": 4, "max_work_group_size": 256, "local_mem_size": 32768}
    for a, b in zip(
        run_as(function, [array], device, spec("GPU", gpu)), function.reference(array), strict=True
    ):
        np.testing.assert_array_equal(a, b)
