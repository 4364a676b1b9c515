"""bfloat16 on devices: every conversion, and arithmetic, against ml_dtypes bit by bit."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pyopencl as cl
import pyopencl.array as cla
import pytest

import tiledialect as td
from tiledialect import lift
from tiledialect.lowering.runtime.device.queues import queue_for

Array = npt.NDArray[Any]
BF16 = np.dtype(ml_dtypes.bfloat16)


def every_number() -> Array:
    return np.arange(2**16, dtype=np.uint16).view(BF16)


def near_ties() -> Array:
    """Each number of bf16 as float32, with low bits about the middle to the next one."""
    high = np.arange(0, 2**16, 3, dtype=np.uint32) << 16
    low = np.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint32)
    return (high[:, None] + low).ravel().view(np.float32)


def same(actual: Array, expected: Array) -> None:
    """Equal bits, but that any NaN is as good as another."""
    assert actual.dtype == expected.dtype == BF16
    bits, wanted = (
        np.where(np.isnan(a), np.uint16(0x7FC0), a.view(np.uint16)) for a in (actual, expected)
    )
    np.testing.assert_array_equal(bits, wanted)


def test_every_number_becomes_a_float(device: td.Device):
    f = td.compile("function (A[N]) -> (O) { O = as_float(A, 32); }", device=device)
    np.testing.assert_array_equal(f(every_number()), every_number().astype(np.float32))


def test_floats_are_rounded_to_even(device: td.Device):
    f = td.compile("function (A[N]) -> (O) { O = as_bfloat(A, 16); }", device=device)
    # A step that leaves all low bits, and numbers of all exponents.
    data = near_ties()[:: 37 if device.type == "simulator" else 1]
    with np.errstate(invalid="ignore"):
        same(f(data), data.astype(BF16))


@pytest.mark.every_device
@pytest.mark.parametrize("dtype", ["float16", "float64", "int64", "uint8"])
def test_other_types_are_converted(device: td.Device, dtype: str):
    data = np.asarray(np.random.default_rng(0).uniform(0, 200, 1000)).astype(dtype)
    f = td.compile("function (A[N]) -> (O) { O = as_bfloat(A, 16); }", device=device)
    same(f(data), data.astype(BF16))


@pytest.mark.every_device
@pytest.mark.parametrize(
    "text", ["A + B", "A * B", "A - B * A + B", "A / B", "max(A, B) - relu(-A)", "A < B ? A : -B"]
)
def test_each_op_rounds(device: td.Device, text: str):
    """Several elements at once, and what is left of them."""
    random = np.random.default_rng(1)
    a, b = (random.normal(size=(7, 53)).astype(BF16) for _ in range(2))
    f = td.compile(f"function (A, B) -> (O) {{ O = {text}; }}", device=device)
    same(f(a, b), f.reference(a, b))


def test_sums_are_kept_in_f32(device: td.Device):
    """256 + 1 is 256 in bf16."""
    f = td.compile("function (A[N, M]) -> (O) { O[n: N] = +(A[n, m]); }", device=device)
    same(f(np.ones((5, 1024), BF16)), np.full(5, 1024, BF16))


@pytest.mark.parametrize("aggregation", ["max", "min"])
def test_extrema_know_infinities(device: td.Device, aggregation: str):
    sign = ">" if aggregation == "max" else "<"
    f = td.compile(f"function (A[N, M]) -> (O) {{ O[n: N] = {sign}(A[n, m]); }}", device=device)
    data = np.array([[-np.inf] * 3, [np.inf] * 3, [-3e38, 1, 3e38]], BF16)
    same(f(data), getattr(data, aggregation)(1))


def test_rows_side_by_side_are_summed_backwards(device: td.Device):
    # Conversions that are calls ended the process in a compiler's vectorizer.
    source = """function (X[R, C]) -> (S, Y) {
      M[r, 0: R, 1] = >(X[r, c]); E = exp(X - M); S[r, 0: R, 1] = +(E[r, C - 1 - c]); Y = E / S;
    }"""
    f = td.compile(source, device=device)
    x = np.random.default_rng(0).uniform(-50, 50, (17, 129)).astype(BF16)
    for actual, expected in zip(f(x), f.reference(x), strict=True):
        # An exponential and a quotient are rounded to 8 bits each; denormals may be 0.
        np.testing.assert_allclose(
            actual.astype(float), expected.astype(float), rtol=2**-6, atol=1e-37
        )


def test_gradients_have_the_type_of_what_they_are_by(device: td.Device):
    product = "function (A[M, K], B[K, N]) -> (C) { C[m, n: M, N] = +(A[m, k] * B[k, n]); }"
    f = td.compile(product, device=device)
    random = np.random.default_rng(2)
    a, b, dc = (random.integers(-4, 5, s).astype(BF16) for s in ((6, 5), (5, 7), (6, 7)))
    da, db = f.gradient()(a, b, dc)
    same(da, (dc.astype(np.float32) @ b.T.astype(np.float32)).astype(BF16))
    same(db, (a.T.astype(np.float32) @ dc.astype(np.float32)).astype(BF16))


def test_arrays_stay_on_the_device(device: td.Device):
    queue = cl.CommandQueue(queue_for(device).context)
    array = cla.to_device(queue, np.arange(12).astype(BF16).reshape(3, 4))
    result = td.compile("function (A) -> (O) { O = A + 1; }")(array)
    assert isinstance(result, cla.Array)
    same(result.get(), np.arange(1, 13).astype(BF16).reshape(3, 4))


def test_lift_maps_it(device: td.Device):
    @lift.fun
    def halved(x: lift.array("N", lift.bf16)):  # pyright: ignore[reportInvalidTypeForm]
        return x >> lift.map(lambda v: lift.cast(lift.cast(v, lift.f16), lift.bf16) * 0.5)

    data = np.linspace(-3, 3, 37).astype(BF16)
    same(td.compile(halved, device=device)(data), data * BF16.type(0.5))
