"""Attributes that passes leave are those that the table declares."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from xdsl.context import Context

from tiledialect.dialects import discardable
from tiledialect.dialects.discardable import DISCARDABLE, verify_attributes
from tiledialect.language.to_ir import load
from tiledialect.lowering.pipeline import TileCompilePass
from tiledialect.passes.specialize.tile_specialize import TileSpecializePass

ROOT = Path(__file__).parents[2]

PROGRAMS = {
    "softmax": "8x37xf32",
    "bilinear": "8x4xf32,4x5xf32,6x5xf32",
    "closing": "64x64xf32",
    "histogram": "99xf32,99xi32,40xf32",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_passes_leave_declared_attributes(name: str):
    module = load((ROOT / f"examples/{name}.tile").read_text())
    TileSpecializePass(arguments=tuple(PROGRAMS[name].split(","))).apply(Context(), module)
    TileCompilePass().apply(Context(), module)
    for op in module.walk():
        verify_attributes(op)


def test_names_are_written_once():
    """No file but the table spells the name of an attribute of the dialects."""
    names = {name for name in DISCARDABLE if name.startswith(discardable.PREFIXES)}
    folders = ("tiledialect", "passes", "lowering", "tools")
    files = [f for folder in folders for f in (ROOT / folder).rglob("*.py")]
    spelled = {
        f"{file.relative_to(ROOT)}: {node.value}"
        for file in files
        if file.name != "discardable.py"
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant) and node.value in names
    }
    # The encoding of sizes in types is a Lift attribute of the same name.
    assert spelled == {"tiledialect/dialects/lift/attributes.py: lift.sizes"}
