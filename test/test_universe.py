"""Tables of `tiledialect/universe.py`: every pass of the tree, under its name."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.target import Target

import tiledialect as td
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.universe import PASSES, PIPELINES, TILE_UNIVERSE, full_universe

ROOT = Path(__file__).parents[1]
TABLE = {"lowering.pipeline": PIPELINES, **PASSES}


def module_passes() -> Iterator[str]:
    """The names of the passes that the files of `passes/` and `lowering/` define."""
    for file in (f for folder in ("passes", "lowering") for f in (ROOT / folder).rglob("*.py")):
        if "Pass(" not in file.read_text():
            continue
        name = ".".join(("tiledialect", *file.relative_to(ROOT).with_suffix("").parts))
        for value in vars(import_module(name)).values():
            is_own = isinstance(value, type) and value.__module__ == name
            if is_own and issubclass(value, ModulePass) and "name" in vars(value):
                yield value.name


def test_every_pass_is_named():
    assert sorted(module_passes()) == sorted(TILE_UNIVERSE.all_passes)


def test_no_pass_is_named_twice():
    names = [name for names in TABLE.values() for name in names]
    assert len(names) == len(set(names)) == len(TILE_UNIVERSE.all_passes)


@pytest.mark.parametrize("name", TILE_UNIVERSE.all_passes)
def test_names_and_classes_agree(name: str):
    (folder,) = (folder for folder, names in TABLE.items() if name in names)
    cls = TILE_UNIVERSE.all_passes[name]()
    assert issubclass(cls, ModulePass)
    assert cls.name == name
    assert cls.__module__.startswith(f"tiledialect.{folder}")


def test_dialects_and_targets_agree():
    for name, load in TILE_UNIVERSE.all_dialects.items():
        dialect = load()
        assert isinstance(dialect, Dialect) and dialect.name == name
    for name, load in TILE_UNIVERSE.all_targets.items():
        target = load()
        assert issubclass(target, Target) and target.name == name


def test_stablehlo_without_its_dialect_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    found = dict(Universe.get_multiverse().all_dialects)
    found.pop("stablehlo", None)
    monkeypatch.setattr(Universe, "get_multiverse", lambda: Universe(all_dialects=found))
    full_universe.cache_clear()
    try:
        with pytest.raises(td.TileError, match="need xdsl-jax: pip install"):
            parse_mlir('"stablehlo.abs"() : () -> ()', "absent.mlir")
    finally:
        full_universe.cache_clear()


@pytest.mark.parametrize("folder", PASSES)
def test_every_pass_has_tests_by_its_name(folder: str):
    tests = [file.stem for file in (ROOT / "test" / Path(*folder.split("."))).rglob("*.*")]
    for name in (name.replace("-", "_") for name in PASSES[folder]):
        assert any(t.removeprefix("test_").startswith(name) for t in tests), name
