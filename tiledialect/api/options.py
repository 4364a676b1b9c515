"""What a user decides of how a function runs, in place of the compiler."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from tiledialect.errors import TileError


@dataclass(frozen=True)
class Fusion:
    """Which ops share a kernel, as options of ``tile-fuse``; None: the cost model decides."""

    loads: bool | None = None
    rows: bool | None = None
    again: bool | None = None
    beside: bool | None = None
    apart: tuple[str, ...] = ()

    def __post_init__(self):
        for name in FLAGS:
            value = getattr(self, name)
            if value is not None and not isinstance(value, bool):
                raise TileError(f"{name} is True, False, or None if it is open, not {value!r}")

    def but(self, apart: str | Iterable[str], **flags: bool | None) -> Fusion:
        """The same with other flags, those that are not None, and more results kept apart."""
        names = _names(apart)
        given = {name: value for name, value in flags.items() if value is not None}
        return replace(self, apart=tuple(dict.fromkeys((*self.apart, *names))), **given)


def _names(apart: str | Iterable[str]) -> tuple[str, ...]:
    """The names in a text, or those given one by one."""
    if isinstance(apart, str):
        return tuple(apart.replace(",", " ").split())
    names = tuple(apart) if isinstance(apart, Iterable) else (apart,)  # pyright: ignore[reportUnnecessaryIsInstance]
    for name in names:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TileError(f"apart names results, as 'E' or ['E', 'S'], not {name!r}")
    return names


FLAGS = ("loads", "rows", "again", "beside")
"""The options that are true or false."""


@dataclass(frozen=True)
class Choices:
    """All of it."""

    schedules: tuple[str, ...] = ()
    """Schedules for kernels, as `tile-loop-tiling` takes them."""
    fusion: Fusion = field(default_factory=Fusion)
    tune: int = 0
    """How many schedules of each kernel are measured."""

    def __post_init__(self):
        tune = self.tune
        if isinstance(tune, bool) or not isinstance(tune, int) or tune < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TileError(f"tune says how many schedules to measure, not {tune!r}")
