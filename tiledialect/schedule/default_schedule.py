"""The default schedule, by which every kernel can run, and the grid of levels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tiledialect.rounding import ceil_div
from tiledialect.schedule.loops import LoopIndex, LoopLevel, Role

LOCAL_SIZE = 64
"""Most work-items in a group of the default schedule."""
MAX_GROUPS = {"x": 2**31 - 1, "y": 2**16 - 1, "z": 2**16 - 1}
"""Number of work-groups along an axis of the grid that every GPU allows."""


def on_grid(wanted: Iterable[tuple[str, int, int]]) -> Iterator[LoopLevel]:
    """Levels of role group for indices, strides and counts.

    The last is along x, the one before along y, others along z, as far as the grid has room.
    """
    blocks = list(wanted)
    size = dict.fromkeys("xyz", 1)
    axes: list[str] = []
    for position, (_, _, count) in enumerate(reversed(blocks)):
        axis = "xyz"[min(position, 2)]
        axis = axis if size[axis] * count <= MAX_GROUPS[axis] else "x"
        size[axis] *= count
        axes.insert(0, axis)
    for (index, stride, count), axis in zip(blocks, axes, strict=True):
        if count > 1:
            yield LoopLevel(index, stride, count, Role.GROUP, axis)


def default_levels(indices: Sequence[LoopIndex], local_size: int) -> tuple[LoopLevel, ...]:
    """A work-item for each element of the output, in work-groups of at most ``local_size``.

    Work-groups take the innermost output indices first, so that neighbours in a group are
    neighbours in memory; the other indices are serial loops in each work-item.
    """
    blocks: list[tuple[str, int, int]] = []
    items: list[LoopLevel] = []
    budget = local_size
    for index in reversed([index for index in indices if index.is_output]):
        extent = index.range.extent
        tile = max(1, min(extent, budget))
        budget //= tile
        if tile > 1:
            items.insert(0, LoopLevel(index.name, 1, tile, Role.LOCAL, "x"))
        blocks.insert(0, (index.name, tile, ceil_div(extent, tile)))
    serial = [
        LoopLevel(index.name, 1, index.range.extent, Role.SERIAL)
        for index in indices
        if not index.is_output
    ]
    return (*on_grid(blocks), *items, *serial)
