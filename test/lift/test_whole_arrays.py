"""Arithmetic on whole arrays and numbers in Lift programs, as NumPy does it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tiledialect as td
from tiledialect import lift

X = np.array([1, 2.5, -3, 4], np.float32)
I = np.array([-3, -2, 0, 5], np.int32)  # noqa: E741
B = np.array([True, False, True, False])
D = X.astype(np.float64)
A = np.arange(6, dtype=np.float32).reshape(2, 3)
N = "N"
VECTOR, INTEGERS, BOOLS = lift.array(N), lift.array(N, lift.i32), lift.array(N, lift.i1)
DOUBLES, MATRIX = lift.array(N, lift.f64), lift.array(N, "M")

Case = tuple[tuple[Any, ...], Callable[..., Any], Any, tuple[Any, ...]]
CASES: dict[str, Case] = {
    "a number on the right": ((VECTOR,), lambda x: x * 2.0, X * 2, (X,)),
    "a number on the left": ((VECTOR,), lambda x: 2.0 - x, 2 - X, (X,)),
    "a number of NumPy's": ((VECTOR,), lambda x: np.float32(2) * x, X * 2, (X,)),
    "compared with one of NumPy's": ((VECTOR,), lambda x: np.float64(2) > x, X < 2, (X,)),
    "an input": ((VECTOR, lift.f32), lambda x, s: x + s, X + 3, (X, 3)),
    "an input, computed with": (
        (VECTOR, lift.f32),
        lambda x, s: (s + 1) / lift.abs(x) + lift.sqrt(s),
        4 / abs(X) + np.sqrt(np.float32(3)),
        (X, 3),
    ),
    "max": ((VECTOR,), lambda x: lift.max(x, 2.0), np.maximum(X, 2), (X,)),
    "where": ((VECTOR,), lambda x: lift.where(x > 2.0, x, 0.0), np.where(X > 2, X, 0), (X,)),
    "where, of numbers": ((VECTOR,), lambda x: lift.where(x > 2, 1.0, 2.0), np.where(X > 2, 1, 2).astype("f"), (X,)),
    "where, by a number": ((VECTOR, lift.f32), lambda x, s: lift.where(s > 1, x, -x), X, (X, 2)),
    "comparisons": ((VECTOR,), lambda x: (x > 1) & (x < 4), (X > 1) & (X < 4), (X,)),
    "not": ((VECTOR,), lambda x: lift.where(~(x > 1), x, 0.0), np.where(X > 1, 0, X), (X,)),
    "not, of an element": (
        (VECTOR,),
        lambda x: x >> lift.map(lambda a: lift.where(~(a > 1), a, 0.0)),
        np.where(X > 1, 0, X),
        (X,),
    ),
    "bits of integers": ((INTEGERS,), lambda i: ~i, ~I, (I,)),
    "powers": ((VECTOR,), lambda x: x**2 + 2**x, X**2 + 2**X, (X,)),
    "rsqrt": ((VECTOR,), lambda x: lift.rsqrt(x * x), 1 / abs(X), (X,)),
    "quotients rounded down": ((VECTOR,), lambda x: x // 2 + x % 1.5, X // 2 + X % 1.5, (X,)),
    "integers": ((INTEGERS,), lambda i: lift.max(i * 2 + 1, 0), np.maximum(I * 2 + 1, 0), (I,)),
    "integers and reals": ((INTEGERS,), lambda i: i * 2.5, (I * 2.5).astype("f"), (I,)),
    "quotients of integers": ((INTEGERS,), lambda i: i / 2, (I / 2).astype("f"), (I,)),
    "integers, rounded down": ((INTEGERS,), lambda i: i // -2 + i % 3, I // -2 + I % 3, (I,)),
    "a number by integers": ((INTEGERS,), lambda i: 5 // (i + 4), 5 // (I + 4), (I,)),
    "bools": ((BOOLS,), lambda b: b * 2, np.where(B, 2, 0).astype("i"), (B,)),
    "float64": ((DOUBLES, lift.f32), lambda x, s: x * 0.1 + s, D * 0.1 + 2, (D, 2)),
    "a size": ((VECTOR,), lambda x: x * lift.size("N"), X * 4, (X,)),
    "an element": ((VECTOR,), lambda x: x * x[1], X * 2.5, (X,)),
    "rows": ((MATRIX, lift.f32), lambda a, s: a >> lift.map(lambda r: r * s + 1), A * 2 + 1, (A, 2)),
    "what a pattern gives": (
        (VECTOR,),
        lambda x: x / (x >> lift.reduce(lift.add, 0.0)),
        X / X.sum(),
        (X,),
    ),
    "a pattern of what is computed": (
        (VECTOR, lift.f32),
        lambda x, s: (x * s >> lift.reduce(lift.add, 0.0)) / (s * 2),
        X.sum() / 2,
        (X, 2),
    ),
    "a map and arithmetic": (
        (VECTOR, lift.f32),
        lambda x, s: (x >> lift.map(lambda e: e * (s + 1))) * s,
        X * 6,
        (X, 2),
    ),
    "numbers alone": ((lift.f32,), lambda s: lift.sqrt(s) * 2.0 + 1, np.float32(7), (9,)),
    "numbers of several types": (
        (lift.f32, lift.i32),
        lambda a, b: lift.where(a > b, a, b) * 2 + b // 2,
        np.float32(5),
        (2.5, 1),
    ),
    "integers alone": ((lift.i32,), lambda a: (a // 2) % 3, np.int32(2), (-7,)),
    "bools alone": ((lift.f32, lift.f64), lambda a, b: (a > b) & (b > 0), np.True_, (2, 1)),
    "a number as it is": ((lift.f32,), lambda s: s, np.float32(2), (2,)),
    "a number that is known": ((VECTOR,), lambda x: 2.5, np.float32(2.5), (X,)),
}  # fmt: skip


@pytest.mark.parametrize("device", ["reference", *td.devices()], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_arithmetic(name: str, device: Any):
    types, function, expected, arrays = CASES[name]
    program = lift.fun(*types, function)
    reference = device == "reference"
    run = td.compile(program).reference if reference else td.compile(program, device=device)
    found = run(*arrays)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, 1e-6, 1e-6)


def test_arithmetic_is_one_kernel():
    program = lift.fun(VECTOR, lift.f32, lambda x, s: lift.max(x * 2.0 + s * s, 0.0))
    assert td.compile(program).opencl(X, 3).count("__kernel") == 1
