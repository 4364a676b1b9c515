"""Options of fusion that a user decides in place of the cost model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tiledialect.errors import TileError


@dataclass(frozen=True)
class Fusion:
    """Options of ``tile-fuse``, by which ops share kernels; None: the cost model decides."""

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
        """Copy with the flags that are not None, and more results kept apart."""
        names = _names(apart)
        given = {name: value for name, value in flags.items() if value is not None}
        return replace(self, apart=tuple(dict.fromkeys((*self.apart, *names))), **given)


def _names(apart: str | Iterable[str]) -> tuple[str, ...]:
    """Names in a text or a sequence."""
    if isinstance(apart, str):
        return tuple(apart.replace(",", " ").split())
    names = tuple(apart) if isinstance(apart, Iterable) else (apart,)  # pyright: ignore[reportUnnecessaryIsInstance]
    for name in names:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TileError(f"apart names results, as 'E' or ['E', 'S'], not {name!r}")
    return names


FLAGS = ("loads", "rows", "again", "beside")
"""Options that are true or false."""
