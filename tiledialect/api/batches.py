"""Axes of batches, as users name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from tiledialect.errors import TileError, count

Axis: TypeAlias = int | None
Axes: TypeAlias = Axis | Sequence[Axis] | Mapping[str, Axis]
"""An axis for all, for each in order, or by name."""


def chosen_axes(
    option: str, axes: Axes, names: Sequence[str], missing: Axis
) -> tuple[tuple[str, Axis], ...]:
    """Axis for each name; ``missing`` for those that a dict leaves out."""
    known = ", ".join(names)
    given: list[Any]
    if isinstance(axes, Mapping):
        for name in axes:
            if name not in names:
                raise TileError(f"{option} names {name}, which is none of {known}")
        given = [axes.get(name, missing) for name in names]
    elif isinstance(axes, list | tuple):
        given = list(axes)
        if len(given) != len(names):
            raise TileError(f"{option} gives {count(len(given), 'axis', 'axes')} for {known}")
    else:
        given = [axes] * len(names)
    return tuple((n, _checked(option, n, axis)) for n, axis in zip(names, given, strict=True))


def _checked(option: str, name: str, axis: object) -> Axis:
    # A bool is an int to Python, but no axis.
    if axis is None or (isinstance(axis, int) and not isinstance(axis, bool)):
        return axis
    raise TileError(f"{option} gives {axis!r} for {name}: an axis is a whole number or None")
