"""Comparing results of kernels with those of the reference or of NumPy."""

from __future__ import annotations

from typing import Any, Literal

import ml_dtypes
import numpy as np
import numpy.typing as npt

from tiledialect.dialects.tile.elementwise.numeric import kind_of

Array = npt.NDArray[Any]

Largest = Literal["largest"]
LARGEST: Largest = "largest"
"""The scale of results whose terms cancel and are about as large as the largest result."""


def assert_close(
    actual: Array,
    expected: Array,
    *,
    length: int = 1,
    ulps: float = 20,
    scale: float | Array | Largest = 0.0,
    what: str = "the result",
) -> None:
    """Fail unless ``actual`` is ``expected``, up to what rounding may do.

    Element type and shape must be the same. Integers and bools must be equal. Reals must be NaN
    and infinite in the same places, and elsewhere

        |actual - expected| <= eps * (ulps + 4 * sqrt(length)) * max(|expected|, scale) + tiny

    ``eps`` is that of the element type. ``ulps`` is for the functions on the way: OpenCL allows
    exp, log, sin, cos, tanh 3 to 5 ulp, pow, erf and tgamma 16, so 20 covers any one of them and
    a few additions and multiplications. ``length`` is how many values are summed into one
    element. In the worst case each addition rounds by eps/2 of the partial sum, which makes
    length/2 * eps; rounding errors of random sign add up to the order of sqrt(length) * eps, of
    which 4 times are allowed: so a sum that lost a term, or was done in a narrower type, is seen.
    ``scale`` is the magnitude of the summed terms where these may cancel: one number, one for
    each element, or `LARGEST`. Without it each element is as near as its own magnitude asks.
    ``tiny`` is the least normal number: denormals may be flushed.
    """
    assert actual.dtype == expected.dtype, f"{what} is {actual.dtype}, not {expected.dtype}"
    assert actual.shape == expected.shape, f"{what} is {actual.shape}, not {expected.shape}"
    if kind_of(expected.dtype) != "f":
        _fail_where(actual != expected, actual, expected, what)
        return
    limits = ml_dtypes.finfo(expected.dtype)
    finite = np.isfinite(expected)
    with np.errstate(invalid="ignore"):
        _fail_where(~finite & ~_same(actual, expected), actual, expected, what)
        if isinstance(scale, str):
            scale = float(np.abs(expected[finite]).max(initial=0))
        tolerance = float(limits.eps) * (ulps + 4 * length**0.5)
        size = np.fmax(np.abs(expected.astype(np.float64)), np.abs(scale))
        difference = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
        close = difference <= tolerance * size + float(limits.tiny)
    _fail_where(finite & ~close, actual, expected, what)


def _same(a: Array, b: Array) -> Array:
    return (a == b) | (np.isnan(a) & np.isnan(b))


def _fail_where(wrong: Array, actual: Array, expected: Array, what: str) -> None:
    if not wrong.any():
        return
    where = tuple(int(i) for i in np.argwhere(wrong)[0])
    raise AssertionError(
        f"{what} differs in {int(wrong.sum())} of {wrong.size} elements, first at {list(where)}: "
        f"{actual[where]!r} instead of {expected[where]!r}"
    )
