"""Functions of CHLO that are several tile ops against Python's and NumPy's."""

from __future__ import annotations

from math import inf, lgamma, nan, pi, tan
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tiledialect as td
from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES
from tiledialect.ir.mlir_text import parse_mlir

pytest.importorskip("xdsl_jax", reason="xdsl-jax is not installed")

Array = npt.NDArray[Any]

TOLERANCES = {"f64": 1e-13, "f32": 2e-6, "f16": 1e-3, "bf16": 8e-3}
"""Lanczos' series cancels some bits; numbers of 16 bits are rounded once, from f32."""
PLACES = [1, 2, 3, 0.5, 0.25, 1e-3, -0.5, -1.5, -2.75, 10.25, 150, 1.4616321]


def digamma(x: float) -> float:
    """The derivative of ``lgamma``, by its series for large numbers."""
    if x < 0:
        return digamma(1 - x) - pi / tan(pi * x)
    if x < 20:
        return digamma(x + 1) - 1 / x
    terms = 1 / (12 * x**2) - 1 / (120 * x**4) + 1 / (252 * x**6) - 1 / (240 * x**8)
    return float(np.log(x)) - 1 / (2 * x) - terms


def results(text: str, arguments: list[Array], device: td.Device) -> list[Array]:
    f = td.compile(parse_mlir(text, "f.mlir"), device=device)
    return [np.asarray(found).reshape(-1) for found in (f(*arguments), f.reference(*arguments))]


def unary(name: str, t: str, count: int) -> str:
    s = f"tensor<{count}x{t}>"
    return f"""func.func @f(%x: {s}) -> {s} {{
  %r = chlo.{name} %x : {s} -> {s}
  func.return %r : {s}
}}"""


def next_after(t: str, count: int) -> str:
    s = f"tensor<{count}x{t}>"
    return f"""func.func @f(%x: {s}, %y: {s}) -> {s} {{
  %r = chlo.next_after %x, %y : {s}, {s} -> {s}
  func.return %r : {s}
}}"""


@pytest.mark.covering(1)
@pytest.mark.parametrize("t", TOLERANCES)
@pytest.mark.parametrize(("name", "function"), [("lgamma", lgamma), ("digamma", digamma)])
def test_gamma(name: str, function: Any, t: str, device: td.Device) -> None:
    x = np.array(PLACES).astype(NUMPY_TYPES[et.CONCRETE[t]])
    wanted = np.array([function(float(v)) for v in x])
    for found in results(unary(name, t, len(x)), [x], device):
        assert found.dtype == x.dtype
        bound = TOLERANCES[t]
        np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=bound, atol=bound)


def test_poles_and_infinities(device: td.Device) -> None:
    x = np.array([0, -3, inf, -inf, nan], np.float32)
    for name, wanted in (
        ("lgamma", [inf, inf, inf, inf, nan]),
        ("digamma", [nan, nan, inf, nan, nan]),
    ):
        for found in results(unary(name, "f32", len(x)), [x], device):
            np.testing.assert_array_equal(found, np.array(wanted, np.float32))


def test_digamma_is_the_gradient_of_lgamma() -> None:
    x = np.array(PLACES, np.float64)
    f = td.compile(parse_mlir(unary("lgamma", "f64", len(x)), "f.mlir"))
    found = np.asarray(f.gradient().reference(x, np.ones_like(x))).reshape(-1)
    # The derivative of a rounded formula cancels some more bits.
    np.testing.assert_allclose(found, [digamma(v) for v in x], rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("t", ["f16", "f32", "f64"])
def test_next_after(t: str, device: td.Device) -> None:
    dtype = NUMPY_TYPES[et.CONCRETE[t]]
    greatest = float(np.finfo(dtype).max)
    x = np.array([1, 1, -1, -1, 1.5, inf, -inf, nan, -7, 1, 1, 0, greatest, 1e-3, 0.999], dtype)
    y = np.array([2, 0, -2, 0, -3, 0, 0, 1, nan, 1, -inf, 0, inf, 1, 1], dtype)
    with np.errstate(over="ignore"):
        wanted = np.nextafter(x, y)
    for found in results(next_after(t, len(x)), [x, y], device):
        np.testing.assert_array_equal(found, wanted)


def test_next_after_zero() -> None:
    # Devices may flush these numbers.
    x, y = np.zeros(2, np.float32), np.array([1, -1], np.float32)
    found = td.compile(parse_mlir(next_after("f32", 2), "f.mlir")).reference(x, y)
    np.testing.assert_array_equal(np.asarray(found).reshape(-1), np.nextafter(x, y))
