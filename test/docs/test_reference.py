"""Options of commands and passes in the documentation or in a test."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from tiledialect.tools.tile_run import parser
from tiledialect.universe import TILE_UNIVERSE

ROOT = Path(__file__).parents[2]


def texts(folder: str, *endings: str) -> str:
    """All files of a folder, one after the other."""
    files = sorted((ROOT / folder).rglob("*"))
    return "\n".join(file.read_text() for file in files if file.suffix in endings)


DOCS = texts("docs", ".md")
USES = DOCS + texts("test", ".mlir", ".tile")
OPTIONS = [
    (name, field.name.replace("_", "-"))
    for name, load in sorted(TILE_UNIVERSE.all_passes.items())
    if is_dataclass(cls := load())
    for field in fields(cls)
]


@pytest.mark.parametrize(("name", "option"), OPTIONS, ids=map(" ".join, OPTIONS))
def test_options_of_passes_are_used(name: str, option: str):
    given = option.replace("-", "[-_]")
    assert re.search(rf"{name}{{[^}}]*\b{given}\b", USES)


@pytest.mark.parametrize("name", sorted(TILE_UNIVERSE.all_targets))
def test_targets_have_examples(name: str):
    assert re.search(rf"^\$ tile-opt .*-t '?{name}\b", DOCS, re.M)


def test_options_of_tile_run_are_documented():
    page = (ROOT / "docs" / "tile-run.md").read_text()
    given = set(re.findall(r"^  (--[a-z-]+)", parser().format_help(), re.M))
    assert "--profile" in given
    assert {name for name in given if name not in page} == set()
