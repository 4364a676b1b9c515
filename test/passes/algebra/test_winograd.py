"""The identity of Winograd's tables, and sums over windows that have its form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.index.expr import IndexExpr, Range
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.ir.ops_in import ops_of
from tiledialect.passes.algebra.rewrites.winograd import (
    MATRICES,
    PIXELS,
    PLACES,
    TAPS,
    Slide,
    SlidingSum,
)

NUMBERS = st.integers(-9, 9)
J, X, Y = map(IndexExpr.of, "jxy")


@given(st.lists(NUMBERS, min_size=9, max_size=9))
def test_the_tables_compute_windows(numbers: list[int]):
    """Four products give the sums of six; integers and halves are exact in f64."""
    d, g, o = np.split(np.array(numbers, float), [PLACES, PLACES + TAPS])
    w, t, p = map(np.array, MATRICES)
    wanted = sum(d[r + j] * g[j] * o[r] for r in range(PIXELS) for j in range(TAPS))
    assert (w @ d) @ ((t @ g) * (p @ o)) == wanted


@pytest.mark.parametrize(
    ("e", "slide"),
    (
        (X + J - 1, Slide("x", "j", -1, is_flipped=False)),
        (X - J + 1, Slide("x", "j", -1, is_flipped=True)),
        (2 * X + J, None),
        (X + Y, None),
        (X, None),
    ),
    ids=str,
)
def test_slides(e: IndexExpr, slide: Slide | None):
    ranges = {"x": Range(0, 8), "y": Range(0, 8), "j": Range(0, TAPS)}
    assert Slide.of(e, ranges) == slide


def _convolution(stride: IndexExpr, t: str = "f32") -> ContractionOp:
    i, k, o = (f"tensor<{s}x{t}>" for s in ("2x18x18x4", "3x3x4x5", "2x8x8x5"))
    y, x = f"{stride}y + j", f"{stride}x + i"
    text = f"""func.func @f(%I: {i}, %K: {k}) -> {o} {{
      %O = tile.contraction add(%I[n, {y}, {x}, c] mul %K[j, i, c, k]) -> [n, y, x, k]
        domain <n = 0 to 2, y = 0 to 8, x = 0 to 8, k = 0 to 5, j = 0 to 3, i = 0 to 3, c = 0 to 4>
        : ({i}, {k}) -> {o}
      func.return %O : {o}
    }}"""
    (op,) = ops_of(parse_mlir(text, "f.mlir"), ContractionOp)
    return op


def test_convolutions_of_stride_1_slide():
    found = SlidingSum.of(_convolution(""))
    assert found is not None and (found.slid, found.weights, found.tiled) == (0, 1, 2)
    assert SlidingSum.of(_convolution("2*")) is None
    assert SlidingSum.of(_convolution("", "f64")) is None
