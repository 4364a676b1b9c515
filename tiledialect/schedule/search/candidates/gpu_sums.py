"""Sums of products on GPUs that gain nothing by tiles in local memory.

Few results of long sums: the work-items of a group share the sums. Each has a small tile of results
in registers, for its part of the points, and reads the operands in place. So a weight gradient of a
depthwise convolution reads an image once for all taps, and a product of two long operands needs no
second kernel for partial results.

Sums of few elements times the numbers of a small table: a work-item has all results of a few
elements, such as the 16 sums of a tile of 4 x 4 places that `tile-winograd` makes. It loads each
element once, and the numbers lie in local memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from tiledialect.rounding import pads_little
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.facts import Facts, Tensor
from tiledialect.schedule.loops import Role, Schedule, Stage
from tiledialect.schedule.search.candidates.levels import Levels, lanes
from tiledialect.schedule.search.candidates.roles import Roles, slide_with

ITEMS = (128, 256)
"""Approximate number of work-items of a group."""
TILES = (1, 4, 8)
"""Rows of an item, each of a vector of columns; and numbers of items along columns."""
MOST_SUMS = 64
"""Accumulators of an item, which are joined with those of others in local memory."""
WINDOWS = 8
"""Most unrolled neighbouring points of a sliding window."""
STEPS = 4
"""Numbers of unrolled points without shared reads."""
WIDE = 4
"""Number of elements that are read at once."""


def shared_sums(facts: Facts, r: Roles, device: Device) -> Iterator[Schedule]:
    """The ways to share sums of products."""
    extents, width = facts.extents, lanes(device, [facts.outputs[0]], facts.extents[r.along])
    row = next(iter(r.rows), None)
    for rows, items, columns in product(TILES if row is not None else TILES[:1], ITEMS, TILES):
        levels = Levels(facts).vector(r.along, width).unroll(row, rows)
        levels.whole(r.inner, Role.UNROLL)
        if levels.points <= MOST_SUMS and columns * width <= extents[r.along]:
            _share(levels.item(r.along, columns), r, items // columns)
            yield levels.schedule()


def _share(levels: Levels, r: Roles, items: int) -> None:
    """Give items to sums, the fastest in memory first, and loops over the rest."""
    first = r.sums[0]
    slides = bool(slide_with(levels.facts, first))
    if slides:
        levels.unroll(first, _divisor(levels.rest(first), WINDOWS))
    for name in r.sums:
        count = _divisor(levels.rest(name), items)
        levels.item(name, count)
        items //= count
    levels.unroll(first, 1 if slides else STEPS).whole(r.sums)


def _divisor(extent: int, most: int) -> int:
    """The largest number up to another one that divides an extent, or wastes little of it."""
    counts = range(min(extent, most), 0, -1)
    even = next(n for n in counts if extent % n == 0)
    near = next((n for n in counts if pads_little(extent, n, 16)), 1)
    return even if 2 * even >= near else near


# -- tables ----------------------------------------------------------------------------------------


def tables(facts: Facts, r: Roles, _: Device) -> Iterator[Schedule]:
    """Schedules that give each work-item all results of a few elements, neighbours in memory to
    neighbours."""
    table, source = sorted(facts.inputs, key=lambda t: t.size)
    output = facts.outputs[0]
    for items in ITEMS:
        levels = Levels(facts)
        for k, name in enumerate(r.inner):
            # Pixels next to one another are written together.
            extent = facts.extents[name]
            is_pair = k == 0 and output.strides.get(name) == 1 and output.shape[-1] % extent == 0
            levels.add(
                name, extent, Role.VECTOR if is_pair and extent in (2, 3, 4) else Role.UNROLL
            )
        levels.whole(r.sums, Role.UNROLL)
        for name in r.outputs:
            count = _part(levels.rest(name), items)
            levels.item(name, count)
            items //= count
        # All elements are loaded before the first is needed.
        elements = Stage(source.number, local=False, at=None)
        yield levels.schedule((*_table(table, r), elements))


def _part(extent: int, items: int) -> int:
    """Number of work-items of an index: all of its values, or a part that divides it."""
    if extent <= items:
        return extent
    return next(n for n in range(items, 0, -1) if extent % n == 0 or n <= items // 2)


def _table(table: Tensor, r: Roles) -> tuple[Stage, Stage]:
    """Stage of the table in local memory, with the elements of a step of the sum adjacent."""
    axes = tuple(range(len(table.shape)))
    moved = [any(n in r.inner for n in e.names) for e in table.access or ()]
    order = tuple(sorted(axes, key=lambda k: moved[k]))
    local = Stage(table.number, True, vector=WIDE, order=() if order == axes else order)
    return local, Stage(table.number, local=False, at=(r.sums[0], 1), vector=WIDE)
