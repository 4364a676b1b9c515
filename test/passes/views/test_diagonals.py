"""Diagonals that are written and read, and their gradients, on every device."""

from __future__ import annotations

import numpy as np
import pytest

import tiledialect as td

PROGRAMS = {
    "of a vector": "function (A[B, N]) -> (O) { X[i: N] = +(A[b, i]); O[i, i: N, N] = =(X[i]); }",
    "of rows": "function (A[B, N]) -> (O) { O[b, i, i: B, N, N] = =(A[b, i]); }",
    "between": "function (A[B, N]) -> (O) { O[i, b, i: N, B, N] = =(A[b, i]); }",
    "around": "function (A[B, N]) -> (O) { O[b, i, b, i: B, N, B, N] = +(A[b, i]); }",
    "of three axes": "function (A[B, N]) -> (O) { O[b, b, i, b: B, B, N, B] = =(A[b, i]); }",
    "of a number a row": """function (A[B, N]) -> (O) {
      X[b: B] = >(A[b, i]); O[b, i, i: B, 9, 9] = >(X[b]); }""",
    "wide": "function (A[B, N]) -> (O) { O[b, i, i: B, N, N + 3] = =(A[b, i]); }",
    "tall": "function (A[B, N]) -> (O) { O[b, i, i: B, N + 3, N] = =(A[b, i]); }",
    "both longer": "function (A[B, N]) -> (O) { O[b, i, i: B, N + 3, N + 3] = =(A[b, i]); }",
    "shorter": "function (A[B, N]) -> (O) { O[b, i, i: B, N - 2, N - 2] = =(A[b, i]); }",
    "bounded": "function (A[B, N]) -> (O) { O[b, i, i: B, N, N] = =(A[b, i]), i < 5; }",
    "above": "function (A[B, N]) -> (O) { O[b, i, i + 1: B, N, N + 1] = =(A[b, i]); }",
    "over others": """function (A[B, N]) -> (O) {
      Z[b, i, j: B, N, N] = =(A[b, j]); O[b, i, i: B, N, N] = =(A[b, i]) default Z; }""",
    "with others": """function (A[B, N]) -> (O) {
      D[b, i, i: B, N, N] = =(A[b, i]); Z[b, i, j: B, N, N] = +(A[b, i] * A[b, j]); O = Z + 2 * D; }""",
    "of what is computed": """function (A[B, N]) -> (O) {
      E = exp(A); O[b, i, i: B, N, N] = =(E[b, i]); }""",
    "of a column": "function (A[B, N]) -> (O) { O[b, b: B, B] = =(A[b, 2]); }",
    "of a diagonal above": "function (A[B, N]) -> (O) { O[b, b: B, B] = =(A[b, b + 1]); }",
    "of squares": "function (A[B, N]) -> (O) { O[b, i, i: B, N, N] = +(A[b, i] * A[b, i]); }",
}
"""The diagonals of squares, and the like, of which each program makes one."""

READ = {
    "": "O[b, i: B, N] = =(X[b, i, i]);",
    "above": "O[b, i: B, N - 1] = =(X[b, i, i + 1]);",
    "against": "O[b, i: B, N] = =(X[b, N - 1 - i, i]);",
    "scaled": "O[b, i: B, N] = +(X[b, i, i] * X[b, i, i]);",
    "beside": "O[i, b: N, B] = +(X[b, i, i] * X[b, 0, i]);",
    "trace": "O[b: B] = +(X[b, i, i]);",
    "rows": "O[b, j: B, N] = +(X[b, i, i] * X[b, i, j]);",
    "of numbers": "O[i: N] = =(X[0, i, i]);",
}


def check(function: td.Function, arrays: list[np.ndarray]) -> None:
    """Compare a program's and its gradient's results, of small whole numbers, with the reference."""
    found = function(*arrays)
    np.testing.assert_allclose(found, function.reference(*arrays), rtol=1e-5)
    cotangent = np.random.default_rng(1).integers(-9, 10, found.shape).astype(np.float32)
    gradient = function.gradient()
    expected = gradient.reference(*arrays, cotangent)
    np.testing.assert_allclose(gradient(*arrays, cotangent), expected, rtol=1e-5)


@pytest.mark.parametrize("name", PROGRAMS)
def test_written(name: str, device: td.Device) -> None:
    array = np.random.default_rng(0).integers(-4, 5, (3, 37)).astype(np.float32)
    check(td.compile(PROGRAMS[name], device=device), [array])


@pytest.mark.parametrize("name", READ)
def test_read(name: str, device: td.Device) -> None:
    text = f"function (X[B, N, N]) -> (O) {{ {READ[name]} }}"
    array = np.random.default_rng(0).integers(-4, 5, (6, 37, 37)).astype(np.float32)
    check(td.compile(text, device=device), [array])


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int64, np.float16])
def test_types(dtype: type[np.generic], device: td.Device) -> None:
    array = np.arange(34).reshape(2, 17).astype(dtype)
    function = td.compile(PROGRAMS["of rows"], device=device)
    np.testing.assert_array_equal(function(array), function.reference(array))
