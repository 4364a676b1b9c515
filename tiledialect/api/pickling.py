"""Functions as data: all that makes them, without what is compiled."""

from __future__ import annotations

from dataclasses import dataclass

from tiledialect.api.function import Function
from tiledialect.api.loading import Source, parse_mlir
from tiledialect.api.options import Choices
from tiledialect.passes.gradient.tile_gradient import Gradient


@dataclass(frozen=True)
class Saved:
    """All that makes a function."""

    module: str
    """The program as MLIR, with the places of its ops in the text."""
    text: str
    """The text that it was read from, empty if from none."""
    name: str
    device: str | int | None
    gradients: tuple[Gradient, ...]
    choices: Choices

    def restored(self) -> Function:
        """The function."""
        source = Source(parse_mlir(self.module, self.name), self.text)
        return Function(source, self.name, self.device, self.gradients, self.choices)
