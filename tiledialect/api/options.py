"""Options of a function that a user decides in place of the compiler."""

from __future__ import annotations

from dataclasses import dataclass, field

from tiledialect.errors import TileError
from tiledialect.passes.fuse.options import Fusion


@dataclass(frozen=True)
class Choices:
    """Schedules, fusion and tuning."""

    schedules: tuple[str, ...] = ()
    """Schedules for kernels, as `tile-loop-tiling` takes them."""
    fusion: Fusion = field(default_factory=Fusion)
    tune: int = 0
    """Number of schedules measured for each kernel."""

    def __post_init__(self):
        tune = self.tune
        if isinstance(tune, bool) or not isinstance(tune, int) or tune < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TileError(f"`tune` must be a number of schedules, at least 0, got {tune!r}")
