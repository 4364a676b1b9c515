"""The target `tile`: functions of the tile dialect as Tile text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from tiledialect.language.printer import print_tile


@dataclass(frozen=True)
class TileTarget(Target):
    """Prints the functions of a module as Tile text."""

    name = "tile"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Write the text of ``module`` to ``output``; a TileError if Tile cannot say it."""
        output.write(print_tile(module))
