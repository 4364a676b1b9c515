"""Scatters: the rows and columns of the result that a schedule's levels give a work-item."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import gcd, prod

from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.traits import Kind
from tiledialect.schedule.loops import PARALLEL, LoopLevel, Role, Schedule, ScheduleError


def row_index(axis: int) -> str:
    """The loop index of the axis that the scattered indices name places of."""
    return f"d{axis}"


SIZES = {
    Kind.CPU: ((2, 1, 4), (16, 8, 4), (4, 1, 2, 8), (1,)),
    Kind.GPU: ((8, 4, 16), (4, 2, 1), (1,), (256, 128, 512)),
}
"""Numbers of work-groups that share the rows for each compute unit, over all columns; of lanes of a
vector, and of vectors; and of work-items that search the indices together: the preferred one first.
"""


def rows_of_item(schedule: Schedule, axis: int, size: int) -> int:
    """Number of adjacent rows along an axis that each work-item has of ``size``.

    Raises:
        ScheduleError: they do not lie together.
    """
    own = [level for level in schedule.levels if level.index == row_index(axis)]
    rows = min((level.stride for level in own if level.role in PARALLEL), default=size)
    for level in own:
        if level.role not in PARALLEL and level.stride >= rows and level.extent > 1:
            raise ScheduleError(
                f"in a scatter, the rows of a work-item must lie together: the loop {level} must "
                "have a smaller stride than those over work-groups and work-items"
            )
    return rows


def scatter_schedule(whole: tuple[int, ...], axis: int, device: Device) -> Schedule:
    """The preferred schedule of a scatter."""
    return next(scatter_schedules(whole, axis, device))


def scatter_schedules(whole: tuple[int, ...], axis: int, device: Device) -> Iterator[Schedule]:
    """Schedules of a scatter: work-items for the columns, and for slabs of the rows.

    The rows are along ``axis`` of the result; the axes before it are parts, for work-groups.
    """
    found = product(*SIZES[device.kind])
    yield from dict.fromkeys(_schedule(whole, axis, device, *own) for own in found)


def _schedule(
    whole: tuple[int, ...],
    axis: int,
    device: Device,
    slabs_unit: int,
    lanes: int,
    vectors: int,
    items: int,
) -> Schedule:
    shape, parts = whole[axis:], prod(whole[:axis])
    row, first = row_index(axis), axis + 1
    *outer, last = shape[1:] or (1,)
    together = 1
    if device.traits.has_vectors:
        lanes = min(lanes, 1 << (last.bit_length() - 1))
        vectors = min(vectors, ceil_div(last, lanes))
    else:
        lanes = gcd(last, lanes)
        most = min(items, device.max_work_group_size)
        items = min(most, last // lanes)
        together = max(1, min(most // items, shape[0]))
    tile = items * lanes * vectors
    groups = ceil_div(last, tile) * prod(outer) * parts
    slabs = max(1, ceil_div(slabs_unit * device.compute_units, groups)) * together
    rows = ceil_div(shape[0], min(shape[0], slabs))
    name = f"d{len(whole) - 1}"
    levels = [
        *(LoopLevel(f"d{k}", 1, size, Role.GROUP, "x") for k, size in enumerate(whole[:axis])),
        LoopLevel(row, rows * together, ceil_div(shape[0], rows * together), Role.GROUP, "x"),
        *(LoopLevel(f"d{first + k}", 1, size, Role.GROUP, "x") for k, size in enumerate(outer)),
        LoopLevel(name, tile, ceil_div(last, tile), Role.GROUP, "x"),
        LoopLevel(row, rows, together, Role.LOCAL, "y"),
        LoopLevel(name, lanes * vectors, items, Role.LOCAL, "x"),
        LoopLevel(row, 1, rows, Role.SERIAL),
        LoopLevel(name, lanes, vectors, Role.UNROLL),
        LoopLevel(name, 1, lanes, Role.VECTOR),
    ]
    return Schedule(tuple(level for level in levels if level.extent > 1))
