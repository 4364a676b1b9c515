"""Warnings kept in a module, placed in the source, and issued where the user calls."""

from __future__ import annotations

import time
import warnings
from threading import Event, Thread
from typing import Any

import pytest
from xdsl.dialects.builtin import ArrayAttr, FileLineColLoc, IntAttr, ModuleOp, StringAttr

from tiledialect.errors import TileWarning
from tiledialect.lowering.runtime.program import build
from tiledialect.passes.diagnostics.reporting import WARNINGS, keep_warnings, placed, warn


def test_a_module_keeps_each_warning_once():
    module = ModuleOp([])
    keep_warnings(module, [])
    assert WARNINGS not in module.attributes
    keep_warnings(module, ["a", "b"])
    keep_warnings(module, ["b", "c"])
    assert module.attributes[WARNINGS] == ArrayAttr(map(StringAttr, "abc"))


def test_a_text_comes_after_its_place():
    module = ModuleOp([])
    assert placed(module, "text") == "text"
    module.location = FileLineColLoc(StringAttr("f.tile"), IntAttr(3), IntAttr(7))
    assert placed(module, "text") == "f.tile:3:7: text"


def test_warnings_are_of_the_line_that_calls():
    with pytest.warns(TileWarning) as found:
        warn(["one", "two"])
    assert [str(w.message) for w in found] == ["one", "two"]
    assert {w.filename for w in found} == {__file__}


def test_a_warning_during_a_build_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Builds ignore the warnings of pyopencl, for which they change a setting of the process."""
    building = Event()

    class Slow:
        int_ptr = 0

        def build(self, options: object, devices: object) -> None:
            building.set()
            time.sleep(0.1)

    monkeypatch.setattr(build.cl, "Program", lambda *_: Slow())
    thing: Any = None
    thread = Thread(target=lambda: build.build_program("", thing, thing, ()))
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        thread.start()
        building.wait()
        warn(["sums wrap"])
        thread.join()
    assert [str(w.message) for w in given] == ["sums wrap"]
