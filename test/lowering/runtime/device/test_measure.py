"""Measurements of devices: once, by rates that a device can have, and not where rates are given."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from math import log10
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import FloatAttr, ModuleOp, f64
from xdsl.dialects.dlti import TargetDeviceSpecAttr

import tiledialect as td
from tiledialect.ir.target_spec import RATES, SPEC, describe
from tiledialect.lowering.runtime.device import measure
from tiledialect.lowering.runtime.device.devices import target_system_spec
from tiledialect.lowering.runtime.device.measure import Measurement, Rates
from tiledialect.tools.tile_run import measure_device

GIVEN = Rates(bandwidth=12.0, arithmetic=350.0, launch=6.7, kept=24.0)


@pytest.fixture(autouse=True)
def measuring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is known of the devices, and what is found out goes afterwards."""
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv(measure.SWITCH)
    measure._rates.cache_clear()
    yield
    measure._rates.cache_clear()


def counting(monkeypatch: pytest.MonkeyPatch, *found: Rates | Measurement) -> list[td.Device]:
    """Let devices be measured by saying what is found, the last of it for ever; gives which are."""
    asked: list[td.Device] = []

    def say(device: td.Device, **_: Any) -> Measurement:
        asked.append(device)
        now = found[min(len(asked), len(found)) - 1]
        return now if isinstance(now, Measurement) else Measurement(now)

    monkeypatch.setattr(measure, "measure", say)
    return asked


def real(device: td.Device) -> td.Device:
    if device.type == "simulator":
        pytest.skip("simulators are not measured")
    return device


def test_what_a_device_can_do(device: td.Device):
    """No computer does less than a thousandth, or more than a thousand times as much."""
    rates = measure.measure(real(device), 1 << 20, rounds=2).rates
    for value, common in ((rates.bandwidth, 20), (rates.arithmetic, 100), (rates.launch, 10)):
        assert abs(log10(value / common)) < 3


def test_it_is_measured_once_and_kept(device: td.Device, monkeypatch: pytest.MonkeyPatch):
    asked = counting(monkeypatch, Rates(12.34, 345.6, 6.66))
    wanted = Rates(12.0, 350.0, 6.7)
    assert measure.rates(real(device)) == wanted == measure.rates(device)
    measure._rates.cache_clear()
    assert measure.rates(device) == wanted
    assert asked == [device]
    assert measure.renewed(device) == wanted and len(asked) == 2


class Clock:
    """A machine whose processor gives runs of a second a part of itself, now this and now that."""

    def __init__(self, *shares: float):
        self.shares = shares
        self.runs, self.now, self.given = 0, 0.0, 0.0

    def run(self) -> None:
        """Two units work for a second."""
        share = self.shares[min(self.runs, len(self.shares) - 1)]
        self.runs, self.now, self.given = self.runs + 1, self.now + 1 / share, self.given + 2

    def perf_counter(self) -> float:
        return self.now

    def process_time(self) -> float:
        return self.given

    def time(self) -> float:
        return self.now


@pytest.mark.parametrize(
    "shares, runs, share, seconds",
    [
        ((1.0,), 4, 1.0, 1.0),
        ((0.5,), 7, 0.5, 1.0),
        ((1.0, 0.5, 0.5, 1.0), 6, 1.0, 1.0),
        ((0.1,), 7, 0.1, 10 / measure.OTHERS),
    ],
)
def test_disturbed_runs_are_repeated(
    shares: tuple[float, ...],
    runs: int,
    share: float,
    seconds: float,
    monkeypatch: pytest.MonkeyPatch,
):
    """After a first run there are three, and more until three in a row had all of the processor."""
    clock = Clock(*shares)
    monkeypatch.setattr(measure, "time", clock)
    monkeypatch.setattr(measure, "LONG", 99.0)
    timed = measure._Runs(clock.run, units=2)
    assert measure._run_interleaved([timed], rounds=3) == pytest.approx(share)
    assert clock.runs == runs and timed.least == pytest.approx(seconds)


def test_disturbed_runs_take_no_longer_than_they_may(monkeypatch: pytest.MonkeyPatch):
    clock = Clock(0.5)
    monkeypatch.setattr(measure, "time", clock)
    monkeypatch.setattr(measure, "LONG", 7.0)
    assert measure._run_interleaved([measure._Runs(clock.run, units=2)], rounds=3) == 0.5
    assert clock.runs == 5


def test_copies_are_no_faster_by_more_units():
    """Of which half may well have copied as fast as all of them; in the second run they had all."""
    times = [2.0, 4.0], [2.0, 4.0]
    assert measure._Runs(lambda: None, 2, False, *times).least == 1.5
    assert measure._Runs(lambda: None, 2, True, *times).least == pytest.approx(3.0**0.5)
    assert measure._Runs(lambda: None, 2, True, [2.0, 1.8], [2.0, 3.6]).least == 1.8


@pytest.mark.parametrize("share", [0.3, 0.5, 1.0])
def test_the_least_disturbed_rates_are_kept(share: float):
    """All of them together; numbers that are about the same make no new programs."""
    before, now = (
        Measurement(GIVEN, share=0.5),
        Measurement(Rates(9.0, 360.0, 3.0, 48.0), share, time=5.0),
    )
    wanted = Rates(9.0, 350.0, 3.0) if share > 0.5 else GIVEN
    wanted = replace(wanted, kept=48.0)
    assert now.after(before) == Measurement(wanted, max(share, 0.5), 2, 5.0)


@pytest.mark.parametrize("before, now", [(24.0, 0.0), (0.0, 24.0)])
def test_others_only_take_room_in_caches(before: float, now: float):
    """Whenever that was, and whatever share of the processor there was meanwhile."""
    for share in (0.3, 0.9):
        old, new = replace(GIVEN, kept=before), replace(GIVEN, kept=now)
        assert Measurement(new, share).after(Measurement(old, share=0.5)).rates.kept == 24.0


@pytest.mark.parametrize(
    "through, is_kept, copies",
    [
        ([1.0] * 9, True, 4),
        ([1.1] * 9, True, 4),
        ([0.9, *[1.3] * 20], False, 13),
        ([1.3] * 20, False, 13),
        ([*[1.5] * 8, 1.0, *[1.5] * 20], True, 9),
    ],
)
def test_copies_are_tried_until_one_is_as_fast(through: list[float], is_kept: bool, copies: int):
    """But for the first one, which touches the memory."""
    took = {"copy_through": iter(through), "copy_past": iter([1.0] * len(through))}
    assert measure._is_kept(lambda name: next(took[name]), rounds=3) == is_kept
    assert len(through) - len(list(took["copy_through"])) == copies


def test_what_others_disturbed_is_measured_again(monkeypatch: pytest.MonkeyPatch):
    """By a later process, after a while; not for ever."""
    device = real(td.devices()[0])
    clock = Clock(1.0)
    monkeypatch.setattr(measure, "time", clock)
    quiet = Rates(24.0, 350.0, 6.7, 24.0)
    asked = counting(monkeypatch, *[Measurement(GIVEN, share=0.5)] * 2, quiet)
    shown: list[bool] = []
    rates = None
    for later in (0, 1, measure.APART, 0, 2 * measure.APART, 2 * measure.APART):
        clock.now += later
        measure._rates.cache_clear()
        rates = measure.rates(device)
        assert rates == measure.rates(device) == measure.kept(device)
        shown.append("measured again" in str(measure.found(device)))
    assert len(asked) == 3 and rates == quiet
    assert shown == [True] * 4 + [False] * 2


def test_a_device_that_is_always_disturbed(monkeypatch: pytest.MonkeyPatch):
    device = real(td.devices()[0])
    clock = Clock(1.0)
    monkeypatch.setattr(measure, "time", clock)
    asked = counting(monkeypatch, Measurement(GIVEN, share=0.5))
    for _ in range(2 * measure.TRIES):
        clock.now += 2 * measure.APART
        measure._rates.cache_clear()
        assert measure.rates(device) == GIVEN
    assert len(asked) == measure.TRIES
    assert "again" not in str(measure.found(device))


@pytest.mark.parametrize("text", ["", "[]", '{"bandwidth": 1}', '{"bandwidth": -1}', "NaN"])
def test_what_is_kept_must_be_sound(text: str, monkeypatch: pytest.MonkeyPatch):
    device = real(td.devices()[0])
    asked = counting(monkeypatch, GIVEN)
    assert measure.rates(device) is not None
    (path,) = (Path(measure.disk.folder()) / "rates").iterdir()
    values = json.loads(path.read_text())["rates"]
    wrong = json.dumps({"rates": values | {"launch": -1}, "share": 1, "tries": 1, "time": 0})
    path.write_text(text.replace('"bandwidth": -1', wrong[1:-1]))
    measure._rates.cache_clear()
    assert measure.rates(device) is not None and len(asked) == 2


def test_the_description_in_the_ir_has_it(device: td.Device, monkeypatch: pytest.MonkeyPatch):
    counting(monkeypatch, GIVEN)
    (entry,) = target_system_spec(real(device)).entries
    spec = entry.value
    assert isinstance(spec, TargetDeviceSpecAttr)
    assert [spec[key] for key in RATES] == [FloatAttr(v, f64) for v in (12.0, 350.0, 6.7, 24.0)]


def test_what_the_caches_keep_is_left_out_where_they_keep_nothing(
    device: td.Device, monkeypatch: pytest.MonkeyPatch
):
    counting(monkeypatch, Rates(12.0, 350.0, 6.7))
    assert '"kept"' not in str(target_system_spec(real(device)))
    assert measure.rates(device) == measure.kept(device)


def test_the_caches_of_a_cpu_are_tried(device: td.Device):
    """More than the least of the sizes is copied here, whatever is found."""
    if device.type != "cpu":
        pytest.skip("CPUs alone write past their caches")
    assert measure.measure(device, 12 << 20, rounds=1).rates.kept in (0, *measure.KEPT)
    assert measure.measure(device, 1 << 20, rounds=1).rates.kept == 0


def test_simulators_are_not_measured(monkeypatch: pytest.MonkeyPatch):
    asked = counting(monkeypatch, GIVEN)
    simulators = [device for device in td.devices() if device.type == "simulator"]
    for device in simulators:
        assert measure.rates(device) is None
        assert "bandwidth" not in str(target_system_spec(device))
    assert not asked


def test_it_can_be_switched_off(device: td.Device, monkeypatch: pytest.MonkeyPatch):
    asked = counting(monkeypatch, GIVEN)
    monkeypatch.setenv(measure.SWITCH, "0")
    assert "bandwidth" not in str(target_system_spec(device)) and not asked


def test_a_device_that_refuses_has_no_rates(monkeypatch: pytest.MonkeyPatch):
    def refuse(device: td.Device) -> Rates:
        raise td.TileError("no")

    monkeypatch.setattr(measure, "measure", refuse)
    device = real(td.devices()[0])
    assert measure.rates(device) is None and "bandwidth" not in str(target_system_spec(device))
    with pytest.raises(td.TileError, match=f"{device.id} cannot run the measurements"):
        measure_device(device.id)


def test_rates_of_the_module_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    counting(monkeypatch, GIVEN)
    device = real(td.devices()[0])
    target = target_system_spec(device)
    plain = ModuleOp([])
    describe(plain, target)
    assert plain.attributes[SPEC] == target
    text = """
    module attributes {dlti.target_system_spec = #dlti.target_system_spec<"GPU" =
        #dlti.target_device_spec<"compute_units" = 999 : i64, "bandwidth" = 5.0 : f64>>} {
      func.func @f(%A: tensor<4xf32>) -> tensor<4xf32> {
        %B = tile.exp %A : (tensor<4xf32>) -> tensor<4xf32>
        func.return %B : tensor<4xf32>
      }
    }
    """
    (tmp_path / "f.mlir").write_text(text)
    module = td.compile(tmp_path / "f.mlir", device=device).ir("tile-fuse", "4xf32")
    assert '"bandwidth" = 5.000000e+00' in module and '"arithmetic" = 3.500000e+02' in module
    assert "999" not in module and f'"compute_units" = {device.compute_units}' in module


def test_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    from tiledialect.tools import tile_run

    def run(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["tile-run", *arguments])
        with pytest.raises(SystemExit) as left:
            tile_run.main()
        said = capsys.readouterr()
        return int(left.value.code or 0), said.out + said.err

    counting(monkeypatch, GIVEN)
    device = real(td.devices()[0])
    shown = "copies 12 GB/s, computes 350 GFLOP/s, starts a kernel in 6.7 us"
    assert shown not in run("--list-devices")[1]
    assert run("--measure-device", "--device", device.id) == (0, f"{device.id} {shown}\n")
    assert shown in run("--list-devices")[1]
    monkeypatch.setenv(measure.SWITCH, "0")
    status, text = run("--measure-device")
    assert status == 1 and "is not measured: TILE_MEASURE is 0" in text
