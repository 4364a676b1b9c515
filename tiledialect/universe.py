"""Dialects, passes and targets that tiledialect adds to xDSL, each loaded when used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from xdsl.universe import Universe

from tiledialect import caches
from tiledialect.errors import TileError

PASSES: Mapping[str, str] = {
    "passes.convert": "convert-linalg-to-tile convert-stablehlo-to-tile",
    "passes.specialize": "tile-specialize tile-widen tile-narrow-operands",
    "passes.gradient": "tile-gradient tile-jvp",
    "passes.transform": "tile-vmap",
    "passes.normalize": (
        "tile-decompose tile-broadcast tile-bounds tile-reduce tile-defract tile-compose-copies"
    ),
    "passes.algebra": "tile-factor-sums tile-one-hot tile-scan tile-split-product tile-winograd",
    "passes.split": (
        "tile-outline-parts tile-split-rows tile-split-reduction tile-split-scan tile-split-scatter"
    ),
    "passes.fuse": "tile-fuse",
    "passes.schedule": "tile-join-axes tile-block-constants tile-loop-tiling",
    "passes.lift": (
        "lift-bind lift-rewrite lift-lower lift-to-tile lift-numbers-to-tile tile-to-lift"
    ),
    "lowering.tile_to_linalg": "convert-tile-to-linalg",
    "lowering.tile_to_nest": "tile-to-nest",
    "lowering.lift_to_nest": "lift-to-nest",
    "lowering.nest": (
        "nest-bound-loops nest-join-kernels nest-pipeline nest-peel nest-split-tiles"
        " nest-merge-loads nest-interleave-stores nest-halve-vectors nest-vectorize"
        " nest-share-memory nest-barriers nest-stream-stores nest-prefetch nest-prefetch-streams"
        " simplify-index-arithmetic"
    ),
    "lowering.nest_to_gpu": "nest-to-gpu",
    "lowering.gpu": (
        "gpu-share-rows gpu-count-copies gpu-load-ahead gpu-widen-bf16 gpu-broadcast-halves"
        " math-polynomial-approximation arith-share-reciprocals"
    ),
    "lowering.quirks": "nest-free-barriers nest-peel-last gpu-keep-loops gpu-split-sincos",
    "lowering.host": "gpu-arena",
}
"""Passes by folder: the file is named after the pass, and so is the class."""

PIPELINES = "tile-compile tile-to-gpu lift-to-gpu"
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
        for name in names.split()
    }
    | {name: _load("lowering.pipeline", _class_of(name)) for name in PIPELINES.split()},
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
