"""Elementwise operators and those on bits, against NumPy and SciPy's special functions by JAX."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from operator_calls import Array, call, compare_on, same

import tiledialect as td
from tiledialect.dialects.tile.elementwise.numeric import ELEMENT_TYPES
from tiledialect.operators import bits
from tiledialect.operators import elementwise as fn

REALS = [*map(np.dtype, ("f2", "f4", "f8")), np.dtype(ml_dtypes.bfloat16)]
INTEGERS = [np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)]
FEW = settings(max_examples=15, deadline=None)
NUMBERS = st.lists(
    st.one_of(
        st.floats(-10, 10, allow_subnormal=False),
        st.floats(allow_subnormal=False),
        st.sampled_from([0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 0.5, 2.5]),
    ),
    min_size=1,
    max_size=8,
)


def reals(values: list[float], dtype: np.dtype[Any]) -> Array:
    """Numbers of a type, those next to 0 as 0."""
    with np.errstate(all="ignore"):
        found = np.array(values).astype(dtype)
        is_small = np.abs(found) < ml_dtypes.finfo(dtype).smallest_normal
        return np.where(is_small, np.copysign(0, found), found).astype(dtype)


def elementwise(function: Callable[[float], float]) -> Callable[[Array], Array]:
    """A function of `math` on arrays; NaN where it has no value."""

    def whole(x: Array) -> Array:
        def one(value: float) -> float:
            try:
                return function(value)
            except ValueError:
                return math.nan

        return np.array([one(float(v)) for v in x.reshape(-1)]).reshape(x.shape)

    return whole


FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[[Array], Array]]] = {
    "sign": (fn.sign, np.sign),
    "truncate": (fn.truncate, np.trunc),
    "round_to_even": (fn.round_to_even, np.rint),
    "cbrt": (fn.cbrt, np.cbrt),
    "square": (fn.square, np.square),
    "asinh": (fn.asinh, np.arcsinh),
    "acosh": (fn.acosh, np.arccosh),
    "atanh": (fn.atanh, np.arctanh),
    "erfc": (fn.erfc, elementwise(math.erfc)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@FEW
@given(values=NUMBERS, dtype=st.sampled_from(REALS))
@example([20.0, 300.0, 5e4, -300.0, 3.0, -7.0, 1e-3, 1 + 2**-7], np.dtype("f2"))
@example([1e6, 1e8, 1e12, 1e20, -1e8, 25.0, 9e3, 2e4], np.dtype("f8"))
def test_functions(name: str, values: list[float], dtype: np.dtype[Any]):
    make, meaning = FUNCTIONS[name]
    x = reals(values, dtype)
    (got,) = call(make, x)
    with np.errstate(all="ignore"):
        wanted = meaning(x.astype("f8")).astype(dtype)
    wanted = reals(wanted.astype("f8").tolist(), dtype)
    same(got, wanted)


@FEW
@given(values=NUMBERS, others=NUMBERS, dtype=st.sampled_from(REALS))
def test_functions_of_two(values: list[float], others: list[float], dtype: np.dtype[Any]):
    count = min(len(values), len(others))
    x, y = reals(values[:count], dtype), reals(others[:count], dtype)
    (angle,) = call(fn.atan2, y, x)
    same(angle, np.arctan2(y.astype("f8"), x.astype("f8")).astype(dtype))
    before, finite, infinite = call(
        lambda b, v, w: (fn.is_before(b, v, w), fn.is_finite(b, v), fn.is_infinite(b, v)), x, y
    )
    assert np.array_equal(finite, np.isfinite(x)) and np.array_equal(infinite, np.isinf(x))

    def rank(v: float) -> tuple[bool, float, bool]:
        return (
            math.isnan(v),
            0.0 if math.isnan(v) else v,
            not math.isnan(v) and v == 0 and (math.copysign(1, v) > 0),
        )

    wanted = [rank(float(v)) < rank(float(w)) for v, w in zip(x, y, strict=True)]
    assert before.tolist() == wanted


@FEW
@given(data=st.data(), dtype=st.sampled_from(REALS))
def test_remainder(data: st.DataObject, dtype: np.dtype[Any]):
    # Whole numbers, whose quotients are exact or far from whole.
    whole = st.lists(st.integers(-100, 100), min_size=4, max_size=4)
    x = np.array(data.draw(whole)).astype(dtype)
    y = np.array(data.draw(whole)).astype(dtype)
    y[y == 0] = np.inf
    (got,) = call(fn.remainder, x, y)
    same(got, np.fmod(x.astype("f8"), y.astype("f8")).astype(dtype))


@FEW
@given(data=st.data(), dtype=st.sampled_from(INTEGERS))
def test_integers(data: st.DataObject, dtype: np.dtype[Any]):
    limits = np.iinfo(dtype)
    numbers = st.lists(
        st.one_of(
            st.integers(limits.min, limits.max), st.sampled_from([0, limits.min, limits.max])
        ),
        min_size=5,
        max_size=5,
    )
    x = np.array(data.draw(numbers), dtype)
    width = limits.bits
    places = np.array(data.draw(st.lists(st.integers(0, width - 1), min_size=5, max_size=5)), dtype)
    last = data.draw(st.integers(0, 1000))
    ones, zeros, shifted, sign, clamped = call(
        lambda b, v, p: (
            fn.count_ones(b, v),
            fn.count_leading_zeros(b, v),
            fn.shift_right_logical(b, v, p),
            fn.sign(b, v),
            fn.clamped_index(b, v, last),
        ),
        *(x, places),
    )
    unsigned = [int(v) % 2**width for v in x]
    assert ones.tolist() == [v.bit_count() for v in unsigned]
    assert zeros.tolist() == [width - v.bit_length() for v in unsigned]
    moved = np.array([v >> int(p) for v, p in zip(unsigned, places, strict=True)], f"u{width // 8}")
    assert np.array_equal(shifted, moved.astype(dtype)) and shifted.dtype == dtype
    assert sign.tolist() == np.sign(x.astype(object)).tolist()
    assert clamped.tolist() == [min(max(int(v), 0), last) for v in x]


@FEW
@given(values=NUMBERS, dtype=st.sampled_from(REALS))
def test_bits(values: list[float], dtype: np.dtype[Any]):
    x = reals(values, dtype)
    x[np.isnan(x)] = dtype.type(np.nan)
    integers = x.view(f"i{dtype.itemsize}")
    (got,) = call(lambda b, v: bits.bitcast(b, v, ELEMENT_TYPES[integers.dtype]), x)
    assert got[~np.isnan(x)].tolist() == integers[~np.isnan(x)].tolist()
    (back,) = call(lambda b, v: bits.bitcast(b, v, ELEMENT_TYPES[dtype]), integers)
    assert back.dtype == dtype and np.array_equal(back.astype("f8"), x.astype("f8"), equal_nan=True)
    assert np.array_equal(np.signbit(back)[~np.isnan(x)], np.signbit(x)[~np.isnan(x)])


@FEW
@given(
    values=st.lists(st.floats(-0.999999, 0.999999), min_size=1, max_size=8),
    dtype=st.sampled_from(REALS),
)
def test_erf_inv(values: list[float], dtype: np.dtype[Any]):
    x = reals(values, dtype)
    x[np.abs(x) >= 1] = 0
    (got,) = call(fn.erf_inv, x)
    again = np.array([math.erf(float(v)) for v in got])
    # A step of the result is many of the argument next to its ends.
    unit = 2.0 ** -{2: 8, 4: 23, 8: 50}[dtype.itemsize]
    np.testing.assert_allclose(again, x.astype("f8"), rtol=8 * unit, atol=8 * unit)


def test_elementwise_on_devices(device: td.Device):
    x = reals([0.3, -2.5, 7.0, -0.0, 100.0, 0.9], np.dtype("f4"))
    y = reals([1.5, 2.0, -3.0, 4.0, -0.0, 0.1], np.dtype("f4"))
    n = np.array([0, 1, -1, 300, -(2**31), 2**31 - 1], "i4")
    unary = [*FUNCTIONS.values()]
    binary: list[Callable[..., Any]] = [fn.atan2, fn.is_before, fn.remainder]
    of_integers: list[Callable[..., Any]] = [fn.count_ones, fn.count_leading_zeros, fn.sign]
    compare_on(
        device,
        [
            *((make, [x]) for make, _ in unary if make not in (fn.atanh, fn.acosh)),
            *((make, [x, y]) for make in binary),
            *((make, [n]) for make in of_integers),
            (lambda b, v: bits.bitcast(b, v, ELEMENT_TYPES[np.dtype("u4")]), [x]),
            (lambda b, v: bits.bitcast(b, v, ELEMENT_TYPES[np.dtype("f4")]), [n[:4]]),
        ],
    )
