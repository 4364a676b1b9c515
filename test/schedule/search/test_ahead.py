"""Schedules that are searched for ahead, at once: the same, and all that passes need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from product_facts import product_facts
from xdsl.dialects.builtin import ModuleOp, TensorType, f32

from tiledialect.api.loading import load as load_file
from tiledialect.dialects.tile.schedule_text import named_kernels, schedule_text
from tiledialect.ir.target_spec import SPEC as TARGET
from tiledialect.language.to_ir import load
from tiledialect.lowering.compilation import compile_module
from tiledialect.passes.schedule.tile_loop_tiling import TileLoopTilingPass
from tiledialect.schedule.cost.device import Device, device_of
from tiledialect.schedule.cost.facts import Facts
from tiledialect.schedule.search import ahead, choice
from tiledialect.schedule.search.ahead import search_ahead, searching
from tiledialect.schedule.search.choice import best_alone
from tiledialect.schedule.search.size_transfer import KnownSchedules, transferring

DEVICES = Path(__file__).parents[3] / "bench" / "devices"
LAYERS = """function (I[N, C, H, W], K[C, C, 3, 3], D[N, C, H, W]) -> (O, DK, DI) {
  O[n, co, y, x: N, C, H, W] = +(I[n, ci, y + j - 1, x + i - 1] * K[co, ci, j, i]);
  DK[co, ci, j, i: C, C, 3, 3] = +(I[n, ci, y + j - 1, x + i - 1] * D[n, co, y, x]);
  DI[n, ci, y, x: N, C, H, W] = +(D[n, co, y + 1 - j, x + 1 - i] * K[co, ci, j, i]);
}"""
LAYER_SHAPES = ((1, 64, 32, 32), (64, 64, 3, 3), (1, 64, 32, 32))


def _target(name: str) -> ModuleOp:
    return load_file(DEVICES / f"{name}.mlir").module


def _device(name: str) -> Device:
    device = device_of(_target(name))
    assert device is not None
    return device


def _scheduled(name: str = "h100") -> list[str]:
    """Schedules of the kernels of a layer with its gradients."""
    types = [TensorType(f32, shape) for shape in LAYER_SHAPES]
    given = _target(name).attributes[TARGET]
    module = compile_module(load(LAYERS), None, types, given, after=TileLoopTilingPass.name)
    return [f"{name}: {schedule_text(k)}" for name, k in named_kernels(module).items()]


def _in_turn(wanted: Sequence[Facts], device: Device) -> Mapping[Facts, object]:
    return {facts: best_alone(facts, device) for facts in wanted}


def test_passes_search_ahead_for_all_kernels_that_they_need(monkeypatch: pytest.MonkeyPatch):
    """No schedule is searched for where it is chosen; the schedules are those without a search
    ahead."""
    plain = _scheduled()
    search, inside = choice._fastest, [0]  # pyright: ignore[reportPrivateUsage]
    own: list[Facts] = []

    def counted(facts: Facts, *given: object, **named: object) -> object:
        if not inside[0]:
            own.append(facts)
        return search(facts, *given, **named)  # pyright: ignore[reportArgumentType]

    def searched(wanted: Sequence[Facts], device: Device) -> Mapping[Facts, object]:
        inside[0] += 1
        try:
            return _in_turn(wanted, device)
        finally:
            inside[0] -= 1

    monkeypatch.setattr(choice, "_fastest", counted)
    monkeypatch.setattr(ahead, "LEAST", 1)
    with searching(searched):
        assert _scheduled() == plain
    assert not own
    assert len(plain) > 3


def test_others_are_not_asked_for_little():
    """Neither for few kernels, nor for CPUs, nor where schedules for other sizes are tried."""
    asked: list[Facts] = []

    def searched(wanted: Sequence[Facts], device: Device) -> Mapping[Facts, object]:
        asked.extend(wanted)
        return {}

    wanted, known = product_facts(), KnownSchedules()
    known.searched["a kernel"] = []
    with searching(searched):
        search_ahead(wanted[1:], _device("h100"))
        search_ahead(wanted, _device("avx512"))
        with transferring(known):
            search_ahead(wanted, _device("h100"))
        assert not asked
        search_ahead([*wanted, *wanted], _device("h100"))
    assert asked == wanted
