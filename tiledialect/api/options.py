"""Options of a function that a user decides in place of the compiler."""

from __future__ import annotations

from dataclasses import dataclass, field

from tiledialect.errors import TileError
from tiledialect.exploration.implementation import Found
from tiledialect.passes.fuse.options import Fusion

KEPT = "kept"
"""Word for `tune` where what an exploration has kept is taken, and nothing is measured."""


@dataclass(frozen=True)
class Choices:
    """Schedules, fusion and tuning."""

    schedules: tuple[str, ...] = ()
    """Schedules for kernels, as `tile-loop-tiling` takes them."""
    fusion: Fusion = field(default_factory=Fusion)
    tune: int | str = 0
    """Number of schedules measured for each kernel, or `KEPT`."""
    found: tuple[Found, ...] = ()
    """Implementations that explorations found, for some shapes and devices."""
    budget: float | None = None
    """Seconds after which a compilation searches for schedules no longer; None: no limit."""

    @property
    def is_tuned(self) -> bool:
        """Whether schedules are measured at the first call with new shapes."""
        return isinstance(self.tune, int) and self.tune > 1

    @property
    def takes_kept(self) -> bool:
        """Whether what is kept on disk is taken."""
        return self.tune == KEPT or self.is_tuned

    def __post_init__(self):
        tune, budget = self.tune, self.budget
        is_number = isinstance(budget, int | float) and not isinstance(budget, bool)
        if budget is not None and not (is_number and budget >= 0):
            raise TileError(
                f"`compile_budget` must be a number of seconds, at least 0, got {budget!r}"
            )
        if tune == KEPT:
            return
        if isinstance(tune, bool) or not isinstance(tune, int) or tune < 0:
            raise TileError(
                f"`tune` must be a number of schedules, at least 0, or {KEPT!r}, got {tune!r}"
            )
