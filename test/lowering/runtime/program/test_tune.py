"""Tuning: candidates are measured at the first call, and the winners kept."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiledialect as td
from tiledialect.errors import TileError
from tiledialect.lowering.runtime.call.launch import Executable
from tiledialect.lowering.runtime.program import tune

SOURCE = "function (A[M, N]) -> (S, Y) { S[i: M] = +(A[i, j]); Y = A * 2; }"
DATA = np.arange(24 * 40, dtype=np.float32).reshape(24, 40)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path))


def check(f: td.Function) -> None:
    """Fail unless the function does what it says."""
    s, y = f(DATA)
    assert np.array_equal(s, DATA.sum(1)) and np.array_equal(y, DATA * 2)


def test_the_fastest_are_taken_and_kept(device: td.Device, monkeypatch: pytest.MonkeyPatch):
    f = td.compile(SOURCE, device=device, tune=3)
    check(f)
    chosen = f.tuned(DATA).schedules(DATA)
    if device.type != "simulator":
        assert len(list((Path(tune.disk.folder()) / "tuned").iterdir())) == 1

    def again(*_: Any) -> None:
        raise AssertionError("nothing is measured twice")

    if device.type != "simulator":
        monkeypatch.setattr(tune, "_measured", again)
    g = td.compile(SOURCE, device=device, tune=3)
    check(g)
    assert g.tuned(DATA).schedules(DATA) == chosen


@pytest.mark.parametrize(
    "kept",
    [
        b'["no schedule"]',
        b'["Z: <group.x d0 : 24, serial d1 : 40>"]',
        b'["Y: <group.x d0 : 2, serial d1 : 40>"]',
        b'["Y: <group.x q : 24, serial d1 : 40>"]',
        b"[" * 100_000,
    ],
)
def test_what_is_not_sound_is_measured_anew(device: td.Device, kept: bytes):
    f = td.compile(SOURCE, device=device, tune=2)
    check(f)
    for path in (Path(tune.disk.folder()) / "tuned").iterdir():
        path.write_bytes(kept)
    check(td.compile(SOURCE, device=device, tune=2))


def test_given_schedules_stay(device: td.Device):
    given = {"Y": "<group.x d0 : 24, serial d1 : 40>"}
    f = td.compile(SOURCE, device=device, tune=2).with_schedules(given)
    check(f)
    assert f.tuned(DATA).schedules(DATA)["Y"] == given["Y"]


def test_the_gradient_is_tuned_too(device: td.Device):
    f = td.compile("function (A) -> (B) { B = A * A; }", device=device, tune=2).gradient()
    assert np.array_equal(f(np.float32([1, 2]), np.float32([1, 1])), [2, 4])


def test_warnings_come_once_and_before_anything_runs(monkeypatch: pytest.MonkeyPatch):
    """Also of what takes so long that nobody would wait for it."""
    said, measured = list[str](), list[int]()
    profile = Executable.profile

    def noted(self: Executable, *args: Any) -> Any:
        measured.append(len(said))
        return profile(self, *args)

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        said.append(str(message))

    monkeypatch.setattr(Executable, "profile", noted)
    monkeypatch.setattr(warnings, "showwarning", show)
    f = td.compile("function (A[M, N]) -> (S) { S[i: M] = +(A[i, j]); }", tune=2)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for rows in (24, 48):
            assert f(np.ones((rows, 40), np.int8)).tolist() == [40] * rows
    assert len(said) == 1 and "wraps beyond 127" in said[0]
    assert measured and set(measured) == {1}


@pytest.mark.parametrize("wrong", [-1, 1.5, True, "all"])
def test_wrong_numbers(wrong: Any):
    with pytest.raises(TileError, match="`tune` must be a number of schedules, at least 0"):
        td.compile(SOURCE, tune=wrong)
