"""Exponentials and quotients as the kernels for CPUs compute them, on every device."""

from __future__ import annotations

from itertools import product
from math import erf

import numpy as np
import pytest
from compare import assert_close

import tiledialect as td

SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, -1e-40, 1e-38, 3e38, -3e38, 1.0, 49.0, 3.0]
SHARES = """function (X[R, C], Z[R, D]) -> (Y) {
  T[r, 0: R, 1] = +(Z[r, d]); Y = X / T;
}"""


def test_exp(device: td.Device) -> None:
    # Every exponent, and densely where results are neither 0 nor infinite.
    random = np.random.default_rng(0)
    bits = random.integers(0, 1 << 32, 1 << 14, np.uint64).astype(np.uint32).view(np.float32)
    count = 1 << (10 if device.type == "simulator" else 20)
    # The last ones beside those whose exponentials are infinite, or no normal numbers.
    ends = np.outer([88.722839, -87.336544, -88.0], 1 + np.arange(-9, 10) * 2.0**-23).ravel()
    dense = np.concatenate([np.linspace(-105, 90, count), random.uniform(-1, 1, count), ends])
    x = np.concatenate([np.float32([*SPECIAL, *dense]), bits[:count]])
    y = td.compile("function (X[N]) -> (Y) { Y = exp(X); }", device=device)(x)
    with np.errstate(all="ignore"):
        exact = np.exp(x.astype(np.float64))
        nearest = exact.astype(np.float32)
        unit = np.spacing(np.minimum(nearest, np.finfo(np.float32).max))
        off = np.abs(y - exact) / unit
    ends = np.isnan(x) | (x < -105) | (x > 89)
    np.testing.assert_array_equal(y[ends], nearest[ends])
    # OpenCL's own may be 3 units off, and there may be no denormal numbers.
    normal = ~ends & np.isfinite(nearest) & (nearest > 1.2e-38)
    assert np.max(off[normal]) <= (1.5 if device.short_platform in ("intel", "pocl") else 3)


def test_exp_of_halves(device: td.Device) -> None:
    """Of all of them, or of each 64th."""
    step = 64 if device.type == "simulator" else 1
    x = np.arange(0, 1 << 16, step, np.uint32).astype(np.uint16).view(np.float16).reshape(64, -1)
    y = td.compile("function (X[N, M]) -> (Y) { Y = exp(X); }", device=device)(x)
    with np.errstate(all="ignore"):
        exact = np.exp(x.astype(np.float64)).astype(np.float16)
    finite = np.isfinite(exact) & np.isfinite(y)
    np.testing.assert_array_equal(y[~finite], exact[~finite])
    off = np.abs(y[finite].view(np.int16).astype(int) - exact[finite].view(np.int16))
    assert off.max() <= 1 and np.mean(off) < 0.01


def test_exponentials_of_halves_below_their_maximum(device: td.Device) -> None:
    x = np.float16([[0, -1, -0.001, -17, -18, -65504, -np.inf, 0.0]] * 2 + [[np.nan, *[0] * 7]])
    source = """function (X[N, M]) -> (E, S) {
      T[i, 0: N, 1] = >(X[i, j]); E = exp(X - T); S[i: N] = +(E[i, j]);
    }"""
    e, s = td.compile(source, device=device)(x)
    exact = np.exp((x - x.max(axis=1, keepdims=True)).astype(np.float64))
    assert_close(e, exact.astype(np.float16), ulps=1)
    assert_close(s, exact.sum(axis=1).astype(np.float16), length=8, ulps=2)


@pytest.mark.parametrize(("name", "units"), [("log", 3), ("tanh", 5)])
def test_logarithms_and_hyperbolic_tangents(device: td.Device, name: str, units: int) -> None:
    random = np.random.default_rng(0)
    count = 1 << (9 if device.type == "simulator" else 17)
    dense = np.concatenate([np.linspace(-10, 10, count), random.uniform(0.9, 1.1, count)])
    x = np.float32([*SPECIAL, *dense, *np.exp(random.uniform(-87, 88, count))])
    y = td.compile(f"function (X[N]) -> (Y) {{ Y = {name}(X); }}", device=device)(x)
    with np.errstate(all="ignore"):
        exact = getattr(np, name)(x.astype(np.float64))
        off = np.abs(y - exact) / np.spacing(np.abs(exact).astype(np.float32))
    normal = (np.abs(x) > 1.2e-38) & np.isfinite(exact) & np.isfinite(x)
    assert np.max(off[normal]) <= units
    # There may be no numbers below the least normal one.
    special = ~normal & ((x == 0) | (np.abs(x) > 1e-37) | np.isnan(x))
    np.testing.assert_array_equal(y[special], exact[special].astype(np.float32))


def test_erf(device: td.Device) -> None:
    random = np.random.default_rng(0)
    count = 1 << (9 if device.type == "simulator" else 18)
    tiny = 10.0 ** random.uniform(-37, 1, count)
    dense = [np.linspace(-6, 6, count), tiny, -tiny, 0.927734375 + np.arange(-9, 10) * 2.0**-24]
    x = np.float32([*SPECIAL, *np.concatenate(dense)])
    y = td.compile("function (X[N]) -> (Y) { Y = erf(X); }", device=device)(x)
    exact = np.array([erf(v) for v in x.astype(np.float64)])
    with np.errstate(invalid="ignore"):
        off = np.abs(y - exact) / np.spacing(np.abs(exact).astype(np.float32))
    normal = np.abs(x) > 1.2e-38
    assert np.max(off[normal]) <= (1.5 if device.short_platform in ("intel", "pocl") else 16)
    np.testing.assert_array_equal(np.isnan(y), np.isnan(x))
    np.testing.assert_allclose(y[~normal], exact[~normal], atol=1.2e-38)


@pytest.mark.parametrize(("name", "units"), [("sin", 4), ("cos", 4), ("tan", 5)])
def test_waves(device: td.Device, name: str, units: int) -> None:
    # Small numbers beside huge ones, which must leave each other alone; and multiples of half pi.
    random = np.random.default_rng(0)
    count = 1 << (8 if device.type == "simulator" else 16)
    sizes = 10.0 ** random.uniform(-37, 38, count)
    halves = np.outer(np.arange(-40, 41) * np.pi / 2, 1 + np.arange(-2, 3) * 2.0**-23).ravel()
    ends = np.outer([4e8, -4e8, 1e10], 1 + np.arange(-9, 10) * 2.0**-23).ravel()
    dense = [sizes, -sizes, random.uniform(-9, 9, count), random.uniform(-1e-3, 1e-3, count)]
    x = np.float32([*SPECIAL, *random.permutation(np.concatenate([*dense, halves, ends]))])
    y = td.compile(f"function (X[N]) -> (Y) {{ Y = {name}(X); }}", device=device)(x)
    with np.errstate(invalid="ignore"):
        exact = getattr(np, name)(x.astype(np.float64))
        off = np.abs(y - exact) / np.spacing(np.abs(exact).astype(np.float32))
    normal = (np.abs(x) > 1.2e-38) & np.isfinite(x)
    assert np.max(off[normal]) <= units
    np.testing.assert_array_equal(np.isnan(y), np.isnan(exact))
    np.testing.assert_allclose(y[~normal], exact[~normal], atol=1.2e-38)
    np.testing.assert_array_equal(np.signbit(y[x == 0]), np.signbit(exact[x == 0]))


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_waves_of_short_vectors(device: td.Device, lanes: int) -> None:
    x = np.float32([-0.004, 1e10, 3.0, -3e38, 1e-20, 0.7, 2e9, -8.0][-lanes:])
    function = td.compile(
        "function (X[N]) -> (Y) { Y = sin(X) + 2*cos(X) + 4*tan(X); }", device=device
    )
    y = function.with_schedules({"Y": f"<vector d0 : {lanes}>"})(x)
    z = x.astype(np.float64)
    np.testing.assert_allclose(y, np.sin(z) + 2 * np.cos(z) + 4 * np.tan(z), 2e-6)


@pytest.mark.parametrize("columns", [64, 37])
def test_quotients(device: td.Device, columns: int) -> None:
    # The divisor is there before the loop over the row.
    random = np.random.default_rng(1)
    x = random.standard_normal((40, columns)).astype(np.float32)
    x[:, : len(SPECIAL)] = SPECIAL
    z = np.zeros((40, columns), np.float32)
    z[:, 5] = np.exp(random.uniform(-87, 87, 40))
    z[: len(SPECIAL), 5] = SPECIAL
    function = td.compile(SHARES, device=device)
    y = function(x, z)
    if device.short_platform in ("intel", "pocl"):
        # As they are told to compute.
        x, z = (np.where(np.abs(a) < 1.2e-38, np.copysign(np.float32(0), a), a) for a in (x, z))
    with np.errstate(all="ignore"):
        expected = x / z.sum(1, keepdims=True)
    # OpenCL's own division may be 2.5 units off, and denormal quotients 0.
    np.testing.assert_allclose(y, expected, 3e-7, 1.2e-38)


def test_denormals_leave_other_programs_alone(device: td.Device) -> None:
    # The kernels' rounding of small numbers to 0 is no matter of the threads that call them.
    product = td.compile("function (A, B) -> (C) { C = A * B; }", device=device)
    for size in (4, 1 << 16):
        a, b = np.full(size, 1e-30, np.float32), np.full(size, 1e-10, np.float32)
        np.testing.assert_allclose(product(a, b), 0, atol=1.2e-38)
        assert (a * b).all()


def test_quotients_of_halves(device: td.Device) -> None:
    """Quotients of a whole row by one number are the nearest halves; subnormal ones nearly."""
    random = np.random.default_rng(0)
    rows, columns = (4, 64) if device.type == "simulator" else (256, 4096)
    bits = random.integers(0, 1 << 16, (rows, columns + 1)).astype(np.uint16).view(np.float16)
    bits[0, :9] = [0.0, -0.0, np.inf, -np.inf, np.nan, 65504.0, 6e-8, 1.0, -2.5]
    x, z = bits[:, :-1], bits[:, -1:]
    z[:6, 0] = [np.inf, 0.0, -0.0, np.nan, 3.0, 6e-8][: len(z)]
    y = td.compile(SHARES, device=device)(x, z)
    with np.errstate(all="ignore"):
        exact = x / (z + np.float16(0))  # A sum of -0 is 0.
    normal = ~(np.abs(exact) < 2.0**-14)
    np.testing.assert_array_equal(y[normal], exact[normal])
    np.testing.assert_allclose(y[~normal], exact[~normal], rtol=0, atol=2.0**-24)


NUMBERS = ("0.0", "(-0.0)", "6.0", "(-1.0)", "1e400", "(-1e400)", "1e-50", "(-1e-50)")
EXTREMA = ("max(X, {})", "min(X, {})", "max({}, X)", "min({}, X)")


@pytest.mark.every_device
@pytest.mark.parametrize("dtype", (np.float16, np.float32, np.float64))
def test_extrema_with_numbers(device: td.Device, dtype: type) -> None:
    """NaN stays, and -0.0 is less than 0.0, whichever of both is the number."""
    if dtype == np.float64 and not device.fp64:
        pytest.skip("no doubles")
    texts = [text.format(number) for number in NUMBERS for text in EXTREMA]
    outputs = [f"O{k}" for k in range(len(texts))]
    body = " ".join(f"{o} = {text};" for o, text in zip(outputs, texts, strict=True))
    function = td.compile(f"function (X[N]) -> ({', '.join(outputs)}) {{ {body} }}", device=device)
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, 6.0, 7.0, -1.0, -2.0] * 3, dtype)
    for result, (number, text) in zip(function(x), product(NUMBERS, EXTREMA), strict=True):
        n, name = float(number.strip("()")), text[:3]
        negative = np.all if name == "max" else np.any
        expected = np.fmax(x, dtype(n)) if name == "max" else np.fmin(x, dtype(n))
        expected[np.isnan(x)] = np.nan
        # Of what is 0 there, the number among it, one or all are negative.
        given = np.array([x, np.full_like(x, n)])
        signs = np.where(given == 0, np.signbit(given), negative is np.all)
        np.testing.assert_array_equal(result, expected, err_msg=text.format(number))
        zero = expected == 0
        np.testing.assert_array_equal(np.signbit(result[zero]), negative(signs, axis=0)[zero])
