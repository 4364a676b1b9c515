"""Functions as data, without their compiled programs."""

from __future__ import annotations

from dataclasses import dataclass

from tiledialect.api.options import Choices
from tiledialect.passes.transform.transforms import Transform


@dataclass(frozen=True)
class Saved:
    """Sources and options of a function."""

    module: str
    """Program as MLIR, with the locations of its ops in the text."""
    text: str
    """Source text, empty if there is none."""
    name: str
    device: str | int | None
    transforms: tuple[Transform, ...]
    choices: Choices
