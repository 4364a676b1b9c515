"""Axes of batches, as users name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from tiledialect.errors import TileError, count

Axis: TypeAlias = int | None
Axes: TypeAlias = Axis | Sequence[Axis] | Mapping[str, Axis]
"""An axis for all, for each in order, or by name."""


def chosen_axes(
    option: str, axes: Axes, names: Sequence[str], missing: Axis
) -> tuple[tuple[str, Axis], ...]:
    """Axis for each name; ``missing`` for those that a dict leaves out."""
    known = ", ".join(names)
    match axes:
        case Mapping():
            for name in axes:
                if name not in names:
                    raise TileError(f"{option} names {name}, which is none of {known}")
            given = [axes.get(name, missing) for name in names]
        case list() | tuple():
            given = list(axes)
            if len(given) != len(names):
                raise TileError(f"{option} gives {count(len(given), 'axis', 'axes')} for {known}")
        case _:
            given = [axes] * len(names)
    for name, axis in zip(names, given, strict=True):
        # A bool is an int to Python, but no axis.
        if axis is not None and (isinstance(axis, bool) or not isinstance(axis, int)):
            raise TileError(
                f"{option} gives {axis!r} for {name}: an axis is a whole number or None"
            )
    return tuple(zip(names, given, strict=True))
