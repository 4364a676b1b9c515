"""Gradients of running maxima and minima: ties, NaN and infinities, in every direction."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from compare import LARGEST
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from running import Case, reference, run, run_together

import tiledialect as td
from tiledialect.ir.mlir_text import parse_mlir

Array = npt.NDArray[Any]
TYPES = (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)
SEARCH = settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=4)
ACCESSES = ("k, n, m", "n, k, m", "n, m, k")


def running(aggregation: str, axis: int, reverse: bool) -> str:
    """The running extremes of a tensor along an axis."""
    shape = ["N", "M"]
    shape.insert(axis, "L")
    limit = "k - i < L" if reverse else "i - k < L"
    access = ACCESSES[axis]
    return (
        f"function (I[{', '.join(shape)}]) -> (O) "
        f"{{ O[{access.replace('k', 'i')}: {', '.join(shape)}] = {aggregation}(I[{access}]), {limit}; }}"
    )


def shaped(axis: int) -> tuple[int, ...]:
    shape = [2, 3]
    shape.insert(axis, 11)
    return tuple(shape)


def numbers(shape: tuple[int, ...], dtype: Any, seed: int, special: bool) -> Array:
    """Few numbers, so that there are many ties; those that are ``special`` are not finite too."""
    values = [-2.0, -1.0, -0.0, 0.0, 1.0, 2.0]
    if special:
        values += [np.inf, -np.inf, np.nan]
    return np.random.default_rng(seed).choice(values, shape).astype(dtype)


def expected(x: Array, g: Array, maximum: bool, axis: int, reverse: bool) -> Array:
    """The cotangent shared equally by all that are the extreme up to a place, pair by pair."""
    order = slice(None, None, -1 if reverse else 1)
    x, g = (np.moveaxis(a, axis, 0)[order].astype(np.float64) for a in (x, g))
    total = np.zeros_like(x)
    for i in range(len(x)):
        extreme = (np.max if maximum else np.min)(x[: i + 1], axis=0)
        ties = x[: i + 1] == extreme
        share = g[i] / np.maximum(ties.sum(axis=0), 1)
        total[: i + 1] += np.where(ties, share, 0)
    return np.moveaxis(total[order], 0, axis)


CASES = [
    (aggregation, axis, reverse)
    for aggregation in "><"
    for axis in range(3)
    for reverse in (False, True)
]


@pytest.mark.covering(1)
@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("first", [0, 1])
def test_gradients(device: Any, first: int, special: bool):
    cases: list[Case] = []
    for number, (aggregation, axis, reverse) in [*enumerate(CASES)][first::2]:
        dtype = TYPES[number // 2 % len(TYPES)]
        if dtype is np.float64 and not device.fp64:
            dtype = np.float32
        x, g = (numbers(shaped(axis), dtype, number + k, special) for k in (0, 100))
        f = td.compile(running(aggregation, axis, reverse)).gradient()
        assert f.ir("tile-scan", x, g).count(" runs %O") == 2
        with np.errstate(invalid="ignore"):
            wanted = expected(x, g, aggregation == ">", axis, reverse).astype(dtype)
        # Cotangents of a run are summed, and cancel.
        name = f"{aggregation}{axis}{reverse}"
        cases.append(Case(name, f.tile, (x, g), (wanted,), 40, scale=LARGEST))
    run_together(cases, device)


def test_second_gradients(device: Any):
    cases: list[Case] = []
    for number, (aggregation, axis, reverse) in enumerate(CASES[::5]):
        x, g, h = (numbers(shaped(axis), np.float32, number + k, False) for k in (0, 100, 200))
        f = td.compile(running(aggregation, axis, reverse)).gradient().gradient(wrt=("DO",))
        assert "tile.contraction" not in f.ir("tile-scan", x, g, h)
        wanted = (f.reference(x, g, h),)
        cases.append(Case(f"{number}", f.tile, (x, g, h), wanted, 40, scale=LARGEST))
    run_together(cases, device)


def test_reference():
    """The gradient of the contractions is as expected."""

    @SEARCH
    @given(st.sampled_from(CASES), st.booleans(), st.integers(0, 99))
    def check(case: tuple[str, int, bool], special: bool, seed: int) -> None:
        aggregation, axis, reverse = case
        x, g = (numbers(shaped(axis), np.float64, seed + k, special) for k in (0, 100))
        f = td.compile(running(aggregation, axis, reverse)).gradient()
        with np.errstate(invalid="ignore"):
            wanted = expected(x, g, aggregation == ">", axis, reverse)
        np.testing.assert_allclose(f.reference(x, g), wanted, rtol=1e-12)

    check()


@pytest.mark.parametrize("direction", ["", "reverse"])
def test_computed_keys(device: Any, direction: str):
    """Both are in memory for the scan, also if the same ops take both."""
    t = "tensor<5x50xf32>"
    text = f"""func.func @f(%x: {t}, %k: {t}) -> ({t}, {t}) {{
  %a = tile.relu %k : ({t}) -> {t}
  %n = tile.neg %x : ({t}) -> {t}
  %s = tile.scan add %n axis 1 {direction} runs %a : ({t}, {t}) -> {t}
  %y = tile.mul %s, %a : ({t}, {t}) -> {t}
  %z = tile.mul %s, %n : ({t}, {t}) -> {t}
  func.return %y, %z : {t}, {t}
}}"""
    arrays = [numbers((5, 50), np.float32, seed, False) for seed in (0, 1)]
    wanted = reference(parse_mlir(text, "runs.mlir"), arrays)
    found = run(parse_mlir(text, "runs.mlir"), arrays, device)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(a, b)
