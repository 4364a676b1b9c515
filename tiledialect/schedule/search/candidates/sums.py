"""Aggregates that read every element about once: row sums, column sums, maxima, matrix-vector.

Where the fastest index of the operand is aggregated over, lanes and work-items share a row, and are
joined at the end. Where it moves the output, work-items have neighbouring columns, and several of
them share the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from math import prod

from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.facts import Facts, Tensor
from tiledialect.schedule.loops import Role, Schedule, Stage
from tiledialect.schedule.search.candidates.levels import (
    GROUPS,
    GROUPS_TRIED,
    ITEMS,
    Levels,
    even_share,
    lanes,
    power_above,
    unrolls,
    work_of_group,
)
from tiledialect.schedule.search.candidates.roles import Roles, largest
from tiledialect.schedule.search.candidates.tiles import with_fastest

LEAST_ITEMS = 128
"""Fewest work-items that share a row, if it is long enough."""
SHORT = 8
"""Number of elements up to which sums are unrolled for several columns of a GPU's work-item."""
COLUMNS_OF_ITEM = 4
ROWS = (1, 2, 4, 8)
"""Numbers of sums along memory that a CPU makes at a time."""
STEPS = (1, 2, 4)
"""Numbers of vectors of a row that are added in a step."""
MOST_OPERATIONS = 5000
"""Most operations on vectors in the innermost body: about 32 KiB of instructions, the size of the
first instruction cache. A body of so many hides its own latency."""
MOST_RESULTS = 8
"""Most results of a row that are made together, all of them."""
TILE = 24
"""Most sums, each a vector, in that case."""


def row_sums_on_gpu(facts: Facts, r: Roles, device: Device) -> Iterator[Schedule]:
    """Sums of rows that work-items share."""
    width = lanes(device, [largest(facts)], facts.extents[r.along])
    most = power_above(facts.extents[r.along] // width)
    shares = (1, 4, 8, 32, 128, 256, 512, 1024)
    shares = [n for n in shares if min(LEAST_ITEMS, most // 2) <= n <= most]
    for items, count in product(shares, (1, 4)):
        levels = Levels(facts).vector(r.along, width).share([r.along], items)
        levels.share(r.rows, max(1, ITEMS // items))
        if count == 1 or levels.rest(r.along) > 1:
            yield levels.unroll(r.along, count).whole(r.sums).schedule()
    if len(r.sums) > 1:
        yield Levels(facts).vector(r.along, width).share(r.sums, ITEMS).whole(r.sums).schedule()


def column_sums_on_gpu(facts: Facts, r: Roles, device: Device) -> Iterator[Schedule]:
    """Sums of columns of neighbouring work-items, of which several share the rows."""
    first, longest = r.along, max(r.sums, key=lambda n: facts.extents[n])
    widest = lanes(device, [largest(facts)], facts.extents[first])
    is_short = prod(facts.extents[n] for n in r.sums) <= SHORT
    for width, columns, parts, count in product(
        dict.fromkeys((1, widest)), (32, 64, 128, 256), (1, 4, 8, 16), (1, 4)
    ):
        are_few = columns * parts < LEAST_ITEMS and columns < facts.extents[first]
        if are_few or columns * parts > 2 * ITEMS or parts > facts.extents[longest]:
            continue
        levels = Levels(facts).vector(first, width).share([first], columns)
        levels.item(longest, parts, "y").unroll(longest, count)
        levels.unroll(first, COLUMNS_OF_ITEM if is_short else 1)
        yield levels.whole(r.sums).schedule()


def column_sums_on_cpu(facts: Facts, r: Roles, device: Device) -> Iterator[Schedule]:
    """Sums of columns in panels, some of whose rows are added at a time."""
    first, sums = r.along, r.sums
    yield from columns_on_cpu(facts, r, device, most=16)
    width = lanes(device, [largest(facts)], facts.extents[first])
    for groups, count, together in product((1, 2, 4, 8), (1, 4), (4, 8)):
        panel = facts.extents[first] // (groups * device.compute_units)
        if panel and panel % (width * count) == 0 and facts.extents[sums[0]] % together == 0:
            levels = Levels(facts).vector(first, width).unroll(first, count)
            levels.unroll(sums[0], together).loop(first, panel // (width * count))
            yield levels.whole(sums).schedule()


def columns_on_cpu(facts: Facts, r: Roles, device: Device, most: int) -> Iterator[Schedule]:
    """Schedules with up to ``most`` vectors of columns at a time, and enough of them for a
    group."""
    extent, source = facts.extents[r.along], largest(facts)
    width = lanes(device, [source], extent)
    length = prod(facts.extents[n] for n in r.sums)
    others = 0 if facts.is_rows else prod(facts.extents[n] for n in r.rows)
    near = device.is_near(length * extent * source.bytes)
    may_be_whole = near and others >= GROUPS * device.compute_units
    for count in _columns_together(extent, width, most, device):
        for whole in (False, True) if may_be_whole else (False,):
            levels = Levels(facts).vector(r.along, width).unroll(r.along, count).whole(r.sums)
            if whole:
                # All of a row is read after its beginning, and the next elements come with it.
                levels.whole([r.along])
            levels.work(r.outputs, work_of_group(facts, device, length * levels.reach[r.along]))
            yield levels.schedule()


def _columns_together(extent: int, width: int, most: int, device: Device) -> Iterable[int]:
    """Numbers of vectors of columns to unroll.

    Columns that vectors do not fill have an edge to test for anyway, however many there are; and
    their rows begin anywhere in a cache line, so that the vectors before and after one fetch it
    twice.
    """
    if extent % width == 0:
        return unrolls(extent, width, most)
    whole = min(most, extent // width, device.whole_vectors)
    return [1 << n for n in range(whole.bit_length())]


# -- sums of several rows at a time ----------------------------------------------------------------


def sums_along_memory(facts: Facts, r: Roles, device: Device) -> Iterator[Schedule]:
    """Schedules in which lanes of a CPU's vectors add neighbours, and are added up at the end.

    These are for matrix times vector or few columns, sums of rows, and similar kernels: the largest
    operand is read once, some rows at a time.
    """
    source = largest(facts)
    width = lanes(device, [source], facts.extents[r.along])
    # Short rows that end within a vector are summed one by one: each end is tested for.
    is_short = width < device.lanes(source.type, source.bytes)
    has_end = is_short and facts.extents[r.along] % width > 0
    for tile, steps, groups in product(_row_tiles(facts, r, source), STEPS, GROUPS_TRIED):
        copies = steps * prod(tile.values())
        fits = not has_end and copies * facts.operations <= MOST_OPERATIONS
        if copies == 1 or fits:
            levels = Levels(facts).vector(r.along, width)
            for name, count in reversed([*tile.items()]):
                levels.unroll(name, count)
            levels.add(r.along, steps, Role.UNROLL).whole(r.sums)
            _share_rows(levels, r, groups * device.compute_units)
            yield levels.schedule(_across(facts, r) if len(tile) > 1 else ())


def _row_tiles(facts: Facts, r: Roles, source: Tensor) -> Iterator[Mapping[str, int]]:
    """Numbers of sums along indices that are made at a time: some rows, or all columns of them."""
    extents = facts.extents
    columns = [n for n in reversed(r.rows) if n not in source.names]
    together = prod(extents[n] for n in columns)
    last = [n for n in facts.output_indices if n in r.rows][-1:]
    for rows in ROWS:
        yield {n: min(rows, extents[n]) for n in last}
    if columns and together <= MOST_RESULTS and len(columns) < len(r.rows):
        row = next(n for n in r.rows if n in source.names)
        for rows in ROWS[1:]:
            if rows * together <= TILE:
                yield {n: extents[n] for n in columns} | {row: min(rows, extents[row])}


def _share_rows(levels: Levels, r: Roles, groups: int) -> None:
    """Loops over rows for at least so many groups, as far as there are.

    The outermost index that has enough values gives the groups; inner ones are loops.
    """
    own: dict[str, int] = {}
    for name in reversed(r.rows):
        rest = levels.rest(name)
        own[name] = even_share(rest, rest // groups) if groups > 1 else rest
        groups = ceil_div(groups, ceil_div(rest, own[name]))
    for name in r.rows:
        levels.loop(name, own[name])


def _across(facts: Facts, r: Roles) -> Iterator[Stage]:
    """Copies of operands whose rows in memory are along another index, for the use of several
    rows."""
    for t in facts.inputs:
        if abs(t.strides.get(r.along, 1)) != 1:
            yield Stage(t.number, local=True, order=with_fastest(t, r.along))
