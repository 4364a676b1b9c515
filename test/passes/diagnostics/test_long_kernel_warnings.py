"""Warnings about kernels that take very long."""

from __future__ import annotations

import pytest
from described import spec
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, f32

from tiledialect.analysis.kernel_facts import kernel_facts
from tiledialect.dialects.tile.schedule_text import named_kernels
from tiledialect.language.to_ir import load
from tiledialect.lowering.compilation import compile_module, warnings_of
from tiledialect.passes.diagnostics.long_kernel_warnings import MIN_SECONDS, duration, seconds
from tiledialect.passes.schedule.tile_loop_tiling import TileLoopTilingPass
from tiledialect.schedule.cost.device import device_of
from tiledialect.schedule.search.choice import best_or_default

PRODUCT = "function (A[M, L], B[L, N]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[k, j]); }"


@pytest.mark.parametrize(
    ("taken", "text"),
    [
        (62.0, "1 minute"),
        (100.0, "2 minutes"),
        (7100.0, "118 minutes"),
        (7200.0, "2 hours"),
        (3e5, "3 days"),
        (float("1e15"), "11574074074 days"),
    ],
)
def test_durations(taken: float, text: str):
    assert duration(taken) == text


def product(size: int, kind: str, arithmetic: float) -> ModuleOp:
    """A scheduled product of matrices for a device of so many GFLOP/s."""
    target = spec(kind.upper(), {"type": kind, "compute_units": 2, "arithmetic": arithmetic})
    types = [TensorType(f32, (size, size))] * 2
    return compile_module(load(PRODUCT), None, types, target, after="tile-loop-tiling")


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
def test_seconds_are_those_of_the_choice(kind: str):
    module = product(1024, kind, 100.0)
    (kernel,), device = named_kernels(module).values(), device_of(module)
    assert device is not None
    chosen = best_or_default(kernel_facts(kernel, device), device)
    assert seconds(kernel, device) == chosen.estimate.seconds


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
@pytest.mark.parametrize(("arithmetic", "is_long"), [(100.0, False), (1e-3, True)])
def test_warnings(kind: str, arithmetic: float, is_long: bool):
    """2 * 10^9 operations take a hundredth of a second, or half an hour."""
    module = product(1024, kind, arithmetic)
    (kernel,), device = named_kernels(module).values(), device_of(module)
    assert device is not None and (seconds(kernel, device) >= MIN_SECONDS) == is_long
    texts = warnings_of(module)
    assert len(texts) == is_long
    said = "C goes through 1073741824 points, which takes about "
    assert all(said + duration(seconds(kernel, device)) in text for text in texts)


def test_short_kernels_are_not_estimated():
    module = product(512, "cpu", 1e-6)
    (kernel,), device = named_kernels(module).values(), device_of(module)
    assert device is not None and seconds(kernel, device) == 0.0 and not warnings_of(module)


def test_each_warning_is_given_once():
    module = product(1024, "cpu", 1e-3)
    TileLoopTilingPass().apply(Context(), module)
    assert len(warnings_of(module)) == 1
