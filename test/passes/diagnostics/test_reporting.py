"""Warnings kept in a module, placed in the source, and issued where the user calls."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ArrayAttr, FileLineColLoc, IntAttr, ModuleOp, StringAttr

from tiledialect.errors import TileWarning
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
