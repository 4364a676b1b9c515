"""What tiledialect adds to xDSL: dialects, passes and the OpenCL target, each loaded when used."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.target import Target


def _tile() -> Dialect:
    from tiledialect.dialects.tile import Tile

    return Tile


def _pass(module: str, name: str) -> Callable[[], type[ModulePass]]:
    def load() -> type[ModulePass]:
        from importlib import import_module

        return getattr(import_module(f"tiledialect.{module}"), name)

    return load


def _opencl() -> type[Target]:
    from tiledialect.lowering.opencl_c import OpenCLTarget

    return OpenCLTarget


TILE_UNIVERSE = Universe(
    all_dialects={"tile": _tile},
    all_passes={
        "tile-specialize": _pass("passes.tile_specialize", "TileSpecializePass"),
        "tile-bounds": _pass("passes.tile_bounds", "TileBoundsPass"),
        "tile-fuse": _pass("passes.tile_fuse", "TileFusePass"),
        "tile-loop-tiling": _pass("passes.tile_loop_tiling", "TileLoopTilingPass"),
        "tile-to-gpu": _pass("lowering.tile_to_gpu", "TileToGpuPass"),
        "tile-compile": _pass("lowering.tile_compile", "TileCompilePass"),
    },
    all_targets={"opencl": _opencl},
)
