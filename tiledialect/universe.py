"""Dialects, passes and targets that tiledialect adds to xDSL, each loaded when used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from xdsl.universe import Universe

import tiledialect
from tiledialect import caches
from tiledialect.errors import TileError

FOLDERS = (
    "passes.convert",
    "passes.specialize",
    "passes.gradient",
    "passes.transform",
    "passes.normalize",
    "passes.algebra",
    "passes.split",
    "passes.fuse",
    "passes.schedule",
    "passes.lift",
    "lowering.tile_to_linalg",
    "lowering.tile_to_nest",
    "lowering.lift_to_nest",
    "lowering.nest",
    "lowering.nest_to_gpu",
    "lowering.gpu",
    "lowering.quirks",
    "lowering.host",
)
"""Folders with passes, in the order of the compiler."""

FIRST_WORDS = ("arith", "convert", "gpu", "lift", "math", "nest", "simplify", "tile")
"""First words of the names of passes. In these folders a file has a pass if its name begins so: the
file and the class are named after the pass. Other files are helpers."""


def _passes_in(folder: str) -> tuple[str, ...]:
    """Names of the passes of a folder, by its files: none is imported."""
    folders = (Path(root, *folder.split(".")) for root in tiledialect.__path__)
    files = sorted(file.stem for found in folders for file in found.glob("*.py"))
    return tuple(f.replace("_", "-") for f in files if f.partition("_")[0] in FIRST_WORDS)


PASSES: Mapping[str, tuple[str, ...]] = {folder: _passes_in(folder) for folder in FOLDERS}
"""Names of the passes by folder."""

PIPELINES = ("tile-compile", "tile-to-gpu", "lift-to-gpu")
"""Passes of `lowering/pipeline.py`, which run others."""


def _load(module: str, name: str) -> Callable[[], Any]:
    """A function that imports ``name`` from a module of this package."""
    return lambda: getattr(import_module(f"tiledialect.{module}"), name)


def _class_of(name: str) -> str:
    """The class of a pass: ``TileFusePass`` for ``tile-fuse``."""
    return "".join(word.capitalize() for word in name.split("-")) + "Pass"


def _file_of(name: str) -> str:
    """The module of a pass within its folder."""
    return name.replace("-", "_")


TILE_UNIVERSE = Universe(
    all_dialects={
        name: _load(f"dialects.{name}", name.capitalize()) for name in ("lift", "tile", "nest")
    },
    all_passes={
        name: _load(f"{folder}.{_file_of(name)}", _class_of(name))
        for folder, names in PASSES.items()
        for name in names
    }
    | {name: _load("lowering.pipeline", _class_of(name)) for name in PIPELINES},
    all_targets={
        "opencl": _load("lowering.opencl.target", "OpenCLTarget"),
        "tile": _load("language.target", "TileTarget"),
        "lift-views": _load("lowering.lift_to_nest.view_drawing", "LiftViewsTarget"),
    }
    | {
        f"lift-{name}": _load("passes.lift.render.targets", f"Lift{name.capitalize()}Target")
        for name in ("derivation", "graph", "rules", "steps")
    },
)


EXTENDED = {name: _load("dialects.stablehlo", name.capitalize()) for name in ("stablehlo", "chlo")}
"""Dialects of xdsl-jax with the ops that it lacks."""


def _missing() -> Any:
    raise TileError("programs of StableHLO need xdsl-jax: pip install 'tiledialect[jax]'")


WIDENED = {
    "linalg": _load("dialects.linalg.dialect", "Linalg"),
    "arith": _load("dialects.nest.lanewise", "Arith"),
    "memref": _load("dialects.nest.memref", "Memref"),
}
"""Dialects of xDSL with more ops than it has, or of more types.

A universe may not hold them beside xDSL's own.
"""


@caches.PACKAGE
def full_universe() -> Universe:
    """Universe of all that xDSL finds, with tiledialect's own where the package is not
    installed."""
    own, found = TILE_UNIVERSE, Universe.get_multiverse()
    return Universe(
        all_dialects=own.all_dialects
        | found.all_dialects
        | WIDENED
        | (EXTENDED if "stablehlo" in found.all_dialects else dict.fromkeys(EXTENDED, _missing)),
        all_passes=own.all_passes | found.all_passes,
        all_targets=own.all_targets | found.all_targets,
    )
