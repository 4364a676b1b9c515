"""Programs of f16 and bf16: in f32, against NumPy in float64, and step by step as `exact`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import tiledialect as td

Array = npt.NDArray[Any]
BF16 = np.dtype(ml_dtypes.bfloat16)
TYPES = pytest.mark.parametrize("dtype", [np.dtype(np.float16), BF16], ids=str)

MEAN = "S[i, 0: N, 1] = +(X[i, j]); M = S / K;"
VARIANCE = f"{MEAN} D = X - M; Q[i, 0: N, 1] = +(D[i, j] * D[i, j]); V = Q / K;"
HEAD = "function (X[N, K]) -> (Y)"


def _variance(x: Array) -> Array:
    return x.var(1, keepdims=True)


def _softmax(x: Array) -> Array:
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


PROGRAMS: dict[str, tuple[str, Callable[[Array], Array]]] = {
    "mean": (f"{HEAD} {{ {MEAN} Y = M; }}", lambda x: x.mean(1, keepdims=True)),
    "variance": (f"{HEAD} {{ {VARIANCE} Y = V; }}", _variance),
    "layer norm": (
        f"{HEAD} {{ {VARIANCE} Y = D / sqrt(V + 0.00001); }}",
        lambda x: (x - x.mean(1, keepdims=True)) / np.sqrt(_variance(x) + 1e-5),
    ),
    "batch norm": (
        """function (X[K, N]) -> (Y) { S[j: N] = +(X[i, j]); D = X - S / K;
            Q[j: N] = +(D[i, j] * D[i, j]); Y = D / sqrt(Q / K + 0.00001); }""",
        lambda x: (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5),
    ),
    "softmax": (f"{HEAD} {{ Y = softmax(X, 1); }}", _softmax),
    "norm": (
        f"{HEAD} {{ S[i: N] = +(X[i, j] * X[i, j]); Y = sqrt(S); }}",
        lambda x: np.sqrt((x * x).sum(1)),
    ),
}


def rounds_once(actual: Array, expected: Array) -> None:
    """Results are those of float64, but for one rounding and what f32 adds to it."""
    assert np.isfinite(actual.astype(np.float64)).all()
    limits = ml_dtypes.finfo(actual.dtype)
    largest = np.abs(expected).max()
    # Half a unit is the rounding; sums in f32 move what is near the middle of two numbers.
    tolerance = float(limits.eps) * 0.51 * np.abs(expected) + 1e-5 * largest + float(limits.tiny)
    assert (np.abs(actual.astype(np.float64) - expected) <= tolerance).all()


@pytest.mark.covering(1)
@TYPES
@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_rounded_once(name: str, dtype: np.dtype[Any], device: td.Device):
    text, expected = PROGRAMS[name]
    rng = np.random.default_rng(len(name))
    x = rng.normal(3, 2, (rng.integers(2, 6), rng.integers(2, 150))).astype(dtype)
    wanted = expected(x.astype(np.float64))
    rounds_once(td.compile(text).reference(x), wanted)
    rounds_once(td.compile(text, device=device)(x), wanted)


@TYPES
def test_more_elements_than_16_bits_count(dtype: np.dtype[Any]):
    # 70,000 is no number of f16, nor are the sums, and no neighbour of 70,000 in bf16 is near it.
    x = (np.random.default_rng(0).normal(size=(70000, 3)) + 100).astype(dtype)
    for name in ("batch norm", "variance"):
        text, expected = PROGRAMS[name]
        wide = x.astype(np.float64)
        given, wanted = (x, expected(wide)) if name == "batch norm" else (x.T, expected(wide.T))
        result = td.compile(text)(np.ascontiguousarray(given)).astype(np.float64)
        assert np.allclose(result, wanted, rtol=0.01, atol=0.01)


@pytest.mark.covering(1)
@TYPES
@pytest.mark.parametrize("name", ["layer norm", "batch norm", "softmax", "norm"])
def test_gradients_are_rounded_once(name: str, dtype: np.dtype[Any], device: td.Device):
    text, _ = PROGRAMS[name]
    rng = np.random.default_rng(1)
    x = rng.normal(1, 2, (4, 70)).astype(dtype)
    y = td.compile(text).reference(x)
    dy = rng.normal(size=y.shape).astype(dtype)
    # Nothing but the outer rounding tells the gradient from that of the same numbers in f64.
    wanted = td.compile(text).gradient().reference(x.astype(np.float64), dy.astype(np.float64))
    rounds_once(td.compile(text).gradient().reference(x, dy), wanted)
    rounds_once(td.compile(text, device=device).gradient()(x, dy), wanted)


def _sum(x: Array) -> Array:
    """A sum over rows, rounded at the end."""
    return x.astype(np.float64).sum(1, keepdims=True).astype(x.dtype)


def _squares(x: Array) -> Array:
    return (x.astype(np.float64) ** 2).sum(1, keepdims=True).astype(x.dtype)


STEPS: dict[str, tuple[str, Callable[[Array], Array]]] = {
    "mean": (PROGRAMS["mean"][0], lambda x: _sum(x) / x.dtype.type(x.shape[1])),
    "variance": (
        PROGRAMS["variance"][0],
        lambda x: _squares(x - _sum(x) / x.dtype.type(x.shape[1])) / x.dtype.type(x.shape[1]),
    ),
    "statements": (
        f"{HEAD} {{ A = X * X; B = A + X; C = B - A; Y = C * 0.1; }}",
        lambda x: ((x * x + x) - x * x) * x.dtype.type(0.1),
    ),
}


@TYPES
@pytest.mark.parametrize("name", STEPS)
def test_exact_rounds_every_statement(name: str, dtype: np.dtype[Any], device: td.Device):
    text, expected = STEPS[name]
    # Whole numbers, whose sums are exact in f32: what differs is a rounding left out or added.
    x = np.random.default_rng(2).integers(0, 160, (9, 50)).astype(dtype)
    wanted = expected(x)
    assert wanted.dtype == dtype
    exact = td.compile(text, device=device, precision="exact")
    np.testing.assert_array_equal(exact(x), wanted)
    np.testing.assert_array_equal(exact.reference(x), wanted)
    # The statements are such that rounding once is seen.
    assert (td.compile(text).reference(x) != wanted).any()


def test_factors_of_matrix_products_are_rounded():
    text = """function (A[M, L], B[L, N]) -> (C) {
        H = A * 0.3; C[i, j: M, N] = +(H[i, k] * B[k, j]); }"""
    rng = np.random.default_rng(3)
    a, b = (
        rng.normal(size=(20, 30)).astype(np.float16),
        rng.normal(size=(30, 17)).astype(np.float16),
    )
    h = (a.astype(np.float32) * np.float32(0.3)).astype(np.float16)
    wanted = h.astype(np.float64) @ b.astype(np.float64)
    for device in td.devices():
        f = td.compile(text, device=device)
        assert "contraction add(%H" in f.ir("tile-widen", a, b)
        np.testing.assert_allclose(f(a, b).astype(np.float64), wanted, rtol=6e-4, atol=1e-3)


def test_products_read_16_bits():
    ir = partial(
        td.compile(
            "function (A[M, L], B[L, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }"
        ).ir,
        "tile-narrow-operands",
        "8x9xf16",
        "9x7xf16",
    )
    assert "(tensor<8x9xf16>, tensor<9x7xf16>) -> tensor<8x7xf32>" in ir()


def test_what_is_cast_is_rounded():
    f = td.compile("function (A[N]) -> (B, C) { H = as_float(A * A, 16); B = H - A; C = H; }")
    a = np.float16([0.1, 3.3, 7.7])
    square = (a.astype(np.float32) ** 2).astype(np.float16)
    for result in (f(a), f.reference(a)):
        np.testing.assert_array_equal(result.C, square)
        wanted = (square.astype(np.float32) - a.astype(np.float32)).astype(np.float16)
        np.testing.assert_array_equal(result.B, wanted)


def test_literals_that_16_bits_do_not_hold():
    f = td.compile("function (A[N]) -> (B, C) { B = A < 100000; C = A * 100000 / 200000; }")
    a = np.float16([1, -2, np.inf])
    b, c = f(a)
    assert b.tolist() == [True, True, False]
    assert c.tolist() == [0.5, -1, np.inf]


def test_copies_stay_as_they_are():
    f = td.compile(
        "function (A[N, M], I[K]) -> (T, G) { T[j, i: M, N] = =(A[i, j]); G = gather(A, I); }"
    )
    assert "f32" not in f.ir("tile-fuse", "4x5xf16", "3xi32")
    pool = td.compile("function (A[N]) -> (O) { O[x: N / 2] = >(A[2*x + k]), k < 2; }").gradient()
    assert "max(%A[" in pool.ir("tile-widen", "8xbf16", "4xbf16")


def test_defaults_of_16_bits():
    f = td.compile("""function (A[N], B[M]) -> (O) {
        O[i + 2: M] = +(A[i] * A[i]) default B; }""")
    a, b = np.array([1, 2, 3], BF16), np.arange(7, dtype=np.float16)
    assert f(a, b).tolist() == f.reference(a, b).tolist() == [0, 1, 1, 4, 9, 5, 6]
