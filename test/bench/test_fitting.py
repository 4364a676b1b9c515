"""The fit of rates to timings that the model itself made with other rates."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "bench"))

import fitting
from fitting import (
    Sample,
    changed,
    comments,
    fit,
    fitted,
    is_better,
    left_out,
    numbers,
    rewritten,
)
from model_quality import Quality
from timings import Kernel, Timing, read, write

from tiledialect.errors import TileError
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.schedule.cost.device import device_of
from tiledialect.schedule.cost.estimate import estimated, modelled
from tiledialect.schedule.cost.rates import FOLDER, Rates, Source, load, rates
from tiledialect.schedule.search.choice import ranked

CHAIN = ("cpu", "core", "chain")
STEP = ("cpu", "core", "loop_step")
LOADED, GROUP = ("cpu", "core", "loaded"), ("cpu", "core", "group")


def module(m: int, n: int, width: int = 16) -> str:
    """A product of matrices on a CPU."""
    spec = '"type" = "cpu", "compute_units" = 2 : i64, "cache_sizes" = array<i64: 32768, 2097152>'
    return f"""
module attributes {{dlti.target_system_spec = #dlti.target_system_spec<
    "CPU" = #dlti.target_device_spec<{spec}, "native_vector_width" = {width} : i64>>}} {{
  func.func @f(%A: tensor<{m}x64xf32>, %B: tensor<64x{n}xf32>) -> tensor<{m}x{n}xf32> {{
    %C = tile.kernel(%a = %A : tensor<{m}x64xf32>, %b = %B : tensor<64x{n}xf32>) -> tensor<{m}x{n}xf32> {{
      %c = tile.contraction add(%a[i, k] mul %b[k, j]) -> [i, j] domain <i = 0 to {m}, j = 0 to {n}, k = 0 to 64>
           : (tensor<{m}x64xf32>, tensor<64x{n}xf32>) -> tensor<{m}x{n}xf32>
      tile.yield %c : tensor<{m}x{n}xf32>
    }}
    func.return %C : tensor<{m}x{n}xf32>
  }}
}}"""


def kernel(m: int, n: int, other: Rates) -> Kernel:
    """A kernel whose measured times are estimates by other rates."""
    plain = Kernel(f"{m} x {n}", "", "", module(m, n), "C")
    schedules = [c.schedule for c in ranked(plain.facts, plain.described)][::6]
    timings: list[Timing] = []
    for schedule in schedules:
        estimate = estimated(modelled(plain.facts, schedule, plain.described).at(other))
        timings.append(Timing(plain.text(schedule), estimate.seconds - estimate.launch))
    return replace(plain, timings=tuple(timings))


def test_a_record_comes_back(tmp_path: Path):
    own = kernel(64, 32, rates("avx512"))
    write(tmp_path / "own.json.gz", [own])
    assert read(tmp_path / "own.json.gz") == [own]
    assert [own.text(s) for s in own.schedules] == [t.schedule for t in own.timings]
    estimates = [e.seconds - e.launch for e in own.estimates()]
    assert estimates == pytest.approx([t.seconds for t in own.timings], rel=1e-12)


@pytest.mark.parametrize("name", ["avx512", "gpu"])
def test_estimates_at_other_rates_are_those_of_a_new_model(name: str):
    """Nothing that depends on the rates is kept from earlier estimates."""
    path = Path(__file__).parents[2] / "bench" / "devices"
    path /= {"avx512": "avx512.mlir", "gpu": "h100.mlir"}[name]
    described = device_of(parse_mlir(path.read_text(), str(path)))
    assert described is not None
    own = Kernel("", "", "", module(128, 96), "C")
    facts = own.facts
    schedules = [c.schedule for c in ranked(facts, described)][::8]
    first = described.rates
    for number, value in numbers(first):
        other = changed(first, number, 1.5 * value)
        for schedule in schedules[:3]:
            model = modelled(facts, schedule, described)
            estimated(model)
            fresh = modelled(facts, schedule, described).at(other)
            assert estimated(model.at(other)) == estimated(fresh), number


def test_the_fit_finds_the_rates_that_made_the_times():
    first = rates("avx512")
    wanted = changed(changed(first, LOADED, 1.0), GROUP, 6000.0)
    samples = [Sample(kernel(m, n, wanted)) for m, n in ((64, 32), (128, 96))]
    before = sum(s.loss(first) for s in samples)
    found = fitted(samples, first)
    assert sum(s.loss(found) for s in samples) < before


def test_right_rates_stay():
    first = rates("avx512")
    samples = [Sample(kernel(m, n, first)) for m, n in ((64, 32), (128, 96))]
    assert fitted(samples, first) == first


@pytest.mark.parametrize(
    ("after", "before", "expected"),
    [
        ((0.9, 1.1), (0.8, 1.1), True),
        ((0.9, 1.1), (0.9, 1.1), False),
        ((0.9, 1.2), (0.8, 1.1), False),
    ],
)
def test_a_fit_is_better_where_no_figure_is_worse(
    after: tuple[float, float], before: tuple[float, float], expected: bool
):
    assert is_better([Quality("", 9, *after)], [Quality("", 9, *before)]) is expected


def test_a_file_gets_other_numbers(tmp_path: Path):
    for path in FOLDER.glob("*.toml"):
        shutil.copy(path, tmp_path)
    path = tmp_path / "avx512.toml"
    own = {"date": "2026-12-01", "device": 'An "odd" one', "data": "products"}
    text = rewritten(path, {CHAIN: 3.5, STEP: 2.5, ("items", "wait"): 0.5}, own)
    path.write_text(text)
    found, first = load(path), rates("avx512")
    assert found.items.wait == 0.5
    wanted = changed(changed(changed(first, CHAIN, 3.5), STEP, 2.5), ("items", "wait"), 0.5)
    assert found == replace(wanted, source=Source(**own))
    assert comments(path).keys() == comments(FOLDER / "avx512.toml").keys()
    assert "# Cycles of a step of a loop.\nloop_step = 2.5\n" in text


def test_a_file_without_other_numbers_stays(tmp_path: Path):
    for path in FOLDER.glob("*.toml"):
        assert rewritten(path, {}, asdict(load(path).source)) == path.read_text()


def test_sizes_of_a_program_are_left_out_together(monkeypatch: pytest.MonkeyPatch):
    first = rates("avx512")
    own = kernel(64, 32, first)
    names = ["a", "b", "a@N=1", "c", "d", "e", "f"]
    samples = [Sample(replace(own, program=name)) for name in names]
    seen: list[list[str]] = []

    def noted(some: Sequence[Sample], start: Rates) -> Rates:
        seen.append([s.name for s in some])
        return start

    monkeypatch.setattr(fitting, "fitted", noted)
    before, after = left_out(samples, first)
    assert seen[0] == ["b", "c", "d", "e"] and seen[1] == ["a", "a@N=1", "c", "d", "e", "f"]
    assert before == after and sorted(q.name for q in after) == sorted(names)


@pytest.mark.parametrize("better", [True, False])
def test_a_better_fit_is_written_to_the_file_of_the_microarchitecture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, better: bool
):
    for path in FOLDER.glob("*.toml"):
        shutil.copy(path, tmp_path)
    first = rates("avx512")
    kernels = [
        replace(kernel(64, 32, first), program=name, date=date, device="A CPU")
        for name, date in (("product@M=64", "2026-12-02"), ("other", "2026-12-01"))
    ]

    def other(some: Sequence[Sample], start: Rates) -> Rates:
        return changed(start, CHAIN, 3.5)

    def is_other_better(after: Sequence[Quality], before: Sequence[Quality]) -> bool:
        return better

    monkeypatch.setattr(fitting, "fitted", other)
    monkeypatch.setattr(fitting, "is_better", is_other_better)
    fit(kernels, tmp_path, write=True)
    found = load(tmp_path / "avx512.toml")
    own = Source("2026-12", "A CPU", "product@M=64, other")
    assert found == (replace(changed(first, CHAIN, 3.5), source=own) if better else first)


def test_timings_of_several_microarchitectures_are_not_fitted():
    kernels = [Kernel("", "", "", module(64, 32, width), "C") for width in (8, 16)]
    with pytest.raises(TileError, match="timings of avx512, cpu cannot be fitted together"):
        fit(kernels)
    with pytest.raises(TileError, match="no kernels"):
        fit([])
