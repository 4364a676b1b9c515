"""Functions that return a value several times, or what they have been given."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from xdsl.dialects import gpu

import tiledialect as td
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.passes.fuse.kernel_merging import MAX_ARGUMENTS

TWICE = {
    "argument": "function (X[N, M], Y[N, M]) -> (A, B, C) { A = X; B = X; C = reshape(Y, M, N); }",
    "sum": "function (X[N, M], Y[N, M]) -> (A, B) { A = X + Y; B = A; }",
    "reshaped": "function (X[N, M], Y[N, M]) -> (A, B) { A = X + Y; B = reshape(A, M * N); }",
    "product": "function (X[N, M], Y[N, M]) -> (A, B) { A[i, j: N, N] = +(X[i, k] * Y[j, k]); B = A; }",
    "whole sum": "function (X[N, M], Y[N, M]) -> (A, B) { A[] = +(X[i, k] * Y[i, k]); B = A; }",
    "column sums": "function (X[N, M], Y[N, M]) -> (A, B) { A[k: M] = +(X[i, k] * Y[i, k]); B = A; }",
    "rows": "function (X[N, M], Y[N, M]) -> (A, B, C) { A = softmax(X * Y, 1); B = A; C = exp(X); }",
    "two sums": "function (X[N, M], Y[N, M]) -> (A, B, C, D, E) { A[i, 0: N, 1] = +(X[i, j]); B = A;"
    " C[i, 0: N, 1] = +(X[i, j] * X[i, j]); D = C; E = X - A * C; }",
    "sums of rows": "function (X[N, M], Y[N, M]) -> (A, B, C)"
    " { A[i, 0: N, 1] = +(X[i, j]); B = X / A; C = reshape(A, N); }",
    "scan": "function (X[N, M], Y[N, M]) -> (A, B) { A[i, j: N, M] = +(X[i, k]), j - k < M; B = A; }",
    "odd places": "function (X[N, M], Y[N, M]) -> (A, B) { A[2*i, j: 2 * N, M] = +(X[i, j]); B = A; }",
    "halves": "function (X[N, M], Y[N, M]) -> (A, B)"
    " { P[i, j: 2 * N, M] = =(X[i, j]); A[i + N, j: 2 * N, M] = =(Y[i, j]) default P; B = A; }",
    "scatter": "function (X[N, M], Y[N, M]) -> (A, B)"
    " { P[i: N] = =(X[i, 0]); I = index(P, 0) * 0; A = scatter(X, I, Y); B = A; }",
    "transposed": "function (X[N, M], Y[N, M]) -> (A, B) { A[j, i: M, N] = =(X[i, j]); B = A; }",
    "pooling": "function (X[N, M], Y[N, M]) -> (A, B) { A[i, j: N / 2, M] = >(X[2*i + k, j]), k < 2; B = A; }",
    "siblings": "function (X[N, M], Y[N, M]) -> (A, B, C) { A = X * Y; B = Y - X; C = A * exp(B) + X; }",
}


@pytest.mark.covering(1)
@pytest.mark.parametrize("name", TWICE)
@pytest.mark.parametrize("shape", ((3, 5), (70, 129)))
def test_results_of_their_own(device: td.Device, name: str, shape: tuple[int, int]) -> None:
    """All are what the reference says, and none shares memory with another, or an argument."""
    function = td.compile(TWICE[name], device=device)
    rng = np.random.default_rng(0)
    given = [rng.standard_normal(shape).astype(np.float32) for _ in range(2)]
    results = function(*given)
    for ours, expected in zip(results, function.reference(*given), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-4)
    assert not any(np.shares_memory(a, b) for a, b in combinations((*results, *given), 2))
    for ours in results:
        before = [np.array(r) for r in results if r is not ours]
        ours[...] = 7
        others = [r for r in results if r is not ours]
        assert all(map(np.array_equal, before, others))


@pytest.mark.parametrize("value", ("X", "X * X"))
def test_more_results_than_a_kernel_has_arguments(value: str) -> None:
    """Several kernels write what is returned 140 times."""
    names = [f"O{k}" for k in range(140)]
    made = " ".join(f"{name} = R;" for name in names)
    source = f"function (X[N]) -> ({', '.join(names)}) {{ R = {value}; {made} }}"
    function, x = td.compile(source), np.arange(5, dtype=np.float32)
    program = function.mlir(x)
    kernels = [op for op in parse_mlir(program, "program").walk() if isinstance(op, gpu.FuncOp)]
    assert all(len(kernel.body.block.args) <= MAX_ARGUMENTS for kernel in kernels)
    assert all(np.array_equal(ours, x if value == "X" else x * x) for ours in function(x))


GRADIENTS = (
    "X + Y",
    "X - Y",
    "relu(X + Y)",
    "X * Y",
    "X / (Y * Y + 1)",
    "max(X, Y)",
    "softmax(X + Y, 1)",
)


@pytest.mark.parametrize("expression", GRADIENTS)
def test_gradients_of_both(device: td.Device, expression: str) -> None:
    """The gradients that one kernel writes are those that two functions compute."""
    source = f"function (X[N, M], Y[N, M]) -> (O) {{ O = {expression}; }}"
    function = td.compile(source, device=device)
    rng = np.random.default_rng(1)
    x, y, d = (rng.standard_normal((33, 65)).astype(np.float32) for _ in range(3))
    both = function.gradient(wrt=("X", "Y"))
    for ours, name in zip(both(x, y, d), "XY", strict=True):
        alone = function.gradient(wrt=(name,))(x, y, d)
        np.testing.assert_allclose(ours, alone, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", (np.int8, np.uint8, np.int32, np.uint64, np.float16, np.bool_))
def test_arguments_of_every_type(device: td.Device, dtype: type) -> None:
    """Copies keep all bits."""
    function = td.compile("function (X[N]) -> (A, B) { A = X; B = X; }", device=device)
    x = np.arange(-40, 61).astype(dtype)
    for ours in function(x):
        assert ours.dtype == x.dtype
        np.testing.assert_array_equal(ours, x)


def test_bits_of_nan(device: td.Device) -> None:
    """Copies of arguments have their NaNs' bits, and those of the zeros' signs."""
    function = td.compile("function (X[N]) -> (A) { A = X; }", device=device)
    x = np.array([0x7FC12345, 0xFFC00001, 0x80000000, 1] * 9, np.uint32).view(np.float32)
    np.testing.assert_array_equal(function(x).view(np.uint32), x.view(np.uint32))
