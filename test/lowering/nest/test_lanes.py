"""Comparisons, choices and conversions in vector loops: on every device as by the reference."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import tiledialect as td

SCHEDULE = "<group.x d0 : 3, serial 8*d1 : 2, vector d1 : 8>"
PROGRAMS = (
    "A < B ? A : B",
    "A <= B & A != B ? A : 2 * B",
    "as_int(A == B, 32) + index(A, 1)",
    "index(A, 1) < B ? A : as_float(B < 2, 32)",
)
TYPES = (np.float32, np.float64, np.uint8)


@pytest.mark.parametrize("t", TYPES)
def test_lanes(t: npt.DTypeLike, device: td.Device) -> None:
    outputs = [f"C{k} = {text};" for k, text in enumerate(PROGRAMS)]
    names = ", ".join(f"C{k}" for k in range(len(PROGRAMS)))
    source = f"function (A[N, M], B[N, M]) -> ({names}) {{ {' '.join(outputs)} }}"
    rng = np.random.default_rng(0)
    a, b = (rng.integers(0, 4, (3, 16)).astype(t) for _ in "ab")
    function = td.compile(source, device=device)
    schedules = dict.fromkeys(function.schedules(a, b), SCHEDULE)
    function = function.with_schedules(schedules)
    assert "? " in function.opencl(a, b)
    for got, expected in zip(function(a, b), function.reference(a, b), strict=True):
        np.testing.assert_array_equal(got, expected)


TRUTHS = (
    "C[i, j: N, N] = +(A[i, k] * B[k, j]);",
    "C[i, j: N, N] = >(A[k, i] * B[j, k]);",
    "C[j, i: N, N] = =(A[i, j]);",
    "C[i, j: N, N] = >(A[i + k - 1, j]), k < 3;",
    "C = A | (B != A);",
    "C[i: N] = +(A[i, j]);",
)


def test_truth_values_in_memory(device: td.Device) -> None:
    body = " ".join(text.replace("C", f"C{k}", 1) for k, text in enumerate(TRUTHS))
    names = ", ".join(f"C{k}" for k in range(len(TRUTHS)))
    source = f"function (A[N, N], B[N, N]) -> ({names}) {{ {body} }}"
    function = td.compile(source, device=device)
    rng = np.random.default_rng(0)
    a, b = (rng.random((32, 32)) < 0.5 for _ in "ab")
    for text, got, expected in zip(TRUTHS, function(a, b), function.reference(a, b), strict=True):
        np.testing.assert_array_equal(got, expected, err_msg=text)


MASKED = (
    "T & A < B",
    "T ? A < B : B < A",
    "T ? A : B",
    "as_float(T == (A < B), 32)",
)


def test_masks_in_memory(device: td.Device) -> None:
    outputs = [f"C{k} = {text};" for k, text in enumerate(MASKED)]
    names = ", ".join(f"C{k}" for k in range(len(MASKED)))
    source = f"function (A[N, M], B[N, M], T[N, M]) -> ({names}) {{ {' '.join(outputs)} }}"
    rng = np.random.default_rng(0)
    a, b = (rng.integers(0, 4, (3, 16)).astype(np.float64) for _ in "ab")
    truths = rng.random((3, 16)) < 0.5
    function = td.compile(source, device=device)
    schedules = dict.fromkeys(function.schedules(a, b, truths), SCHEDULE)
    function = function.with_schedules(schedules)
    assert "convert_uchar8" in function.opencl(a, b, truths)
    results = function(a, b, truths), function.reference(a, b, truths)
    for got, expected in zip(*results, strict=True):
        np.testing.assert_array_equal(got, expected)
