"""A budget of seconds ends the search for schedules, and a warning names the kernels without."""

from __future__ import annotations

import warnings
from itertools import chain, count, repeat
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tiledialect as td
from tiledialect.schedule.search import budget

TEXT = """function (A[M, K], B[K, N], C[N, L]) -> (E) {
  D[i, j: M, N] = +(A[i, k] * B[k, j]); E[i, j: M, L] = +(D[i, k] * C[k, j]); }"""
TYPES = "64x96xf32", "96x48xf32", "48x80xf32"


@pytest.fixture(autouse=True)
def fresh(tmp_path: Any, monkeypatch: pytest.MonkeyPatch, device: td.Device) -> None:
    if device.type == "simulator":
        pytest.skip("a simulator has no speed, and its schedules are not searched for")
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TILE_MEASURE", "0")


def schedules(device: td.Device, seconds: float | None) -> dict[str, str]:
    return td.compile(TEXT, device=device, compile_budget=seconds).schedules(*TYPES)


def test_without_a_budget_all_is_searched(device: td.Device):
    with warnings.catch_warnings():
        warnings.simplefilter("error", td.TileWarning)
        assert schedules(device, None) == schedules(device, 1e9)


def test_a_spent_budget_names_kernels_and_computes(device: td.Device):
    function = td.compile(TEXT, device=device, compile_budget=0)
    generator = np.random.default_rng(0)
    shapes = [tuple(map(int, t.split("x")[:-1])) for t in TYPES]
    # Small integers: sums are exact in any order.
    arrays = [generator.integers(-3, 4, shape).astype(np.float32) for shape in shapes]
    with pytest.warns(td.TileWarning, match=r"the compile budget of 0 s was spent .*: D, E; the"):
        result = function(*arrays)
    np.testing.assert_array_equal(result, arrays[0] @ arrays[1] @ arrays[2])
    with pytest.warns(td.TileWarning, match="budget of 0 s"):
        function.gradient()(*arrays, result)


def test_what_a_budget_cut_short_is_kept_for_it_alone(device: td.Device):
    with pytest.warns(td.TileWarning, match="budget"):
        first = td.compile(TEXT, device=device, compile_budget=0).opencl(*TYPES)
    with warnings.catch_warnings():
        warnings.simplefilter("error", td.TileWarning)
        assert td.compile(TEXT, device=device).opencl(*TYPES) != first


def clock_until(reads: int) -> SimpleNamespace:
    """Clock that stands still for so many reads after the first, and then is far ahead."""
    seconds = chain(repeat(0.0, 1 + reads), repeat(1e9))
    return SimpleNamespace(monotonic=lambda: next(seconds))


def test_kernels_before_the_end_are_searched(device: td.Device, monkeypatch: pytest.MonkeyPatch):
    """The clock stands still until the search for the last kernel."""
    whole = schedules(device, None)
    for begins in count():
        monkeypatch.setattr(budget, "time", clock_until(begins))
        limited = td.compile(TEXT, device=device, compile_budget=1 + begins)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", td.TileWarning)
            limited.opencl(*TYPES)
        monkeypatch.setattr(budget, "time", clock_until(begins))
        texts, found = [str(w.message) for w in caught], limited.schedules(*TYPES)
        if found == whole and not texts:
            break
        (text,) = texts
        named = {name for name in whole if f" {name}" in text.split("searched for:")[1]}
        assert {name for name in whole if found[name] != whole[name]} <= named
    assert begins > 1, "the clock is read for each kernel"


@pytest.mark.parametrize("wrong", [-1, float("nan"), "5", True])
def test_a_budget_is_a_number_of_seconds(wrong: Any):
    with pytest.raises(td.TileError, match="`compile_budget` must be a number of seconds"):
        td.compile(TEXT, compile_budget=wrong)
