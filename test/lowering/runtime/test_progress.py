"""Long tasks are shown on a terminal, and only there."""

from __future__ import annotations

import io
import sys
import time

import pytest
from threads import allow_threads

from tiledialect.lowering.runtime import progress as module
from tiledialect.lowering.runtime.progress import ERASE, progress


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO, seconds: float, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(module, "PATIENCE", 0.05)
    with progress("compiling f"):
        time.sleep(seconds)
    return stream.getvalue()


def test_what_takes_long_is_shown_until_it_is_done(monkeypatch: pytest.MonkeyPatch):
    assert shown(Screen(), 2.0, monkeypatch) == f"{ERASE}compiling f …{ERASE}"


def test_what_is_quick_is_not_shown(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "PATIENCE", 60)
    monkeypatch.setattr(sys, "stderr", screen := Screen())
    with progress("compiling f"):
        pass
    assert screen.getvalue() == ""


def test_nothing_is_shown_elsewhere(monkeypatch: pytest.MonkeyPatch):
    assert shown(io.StringIO(), 0.2, monkeypatch) == ""


def test_it_goes_when_something_fails(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", screen := Screen())
    with pytest.raises(ValueError), progress("compiling f"):
        time.sleep(1)
        raise ValueError
    assert screen.getvalue().endswith(ERASE)


def test_nothing_is_shown_without_a_thread(monkeypatch: pytest.MonkeyPatch):
    allow_threads(monkeypatch, 0)
    assert shown(Screen(), 0.2, monkeypatch) == ""
