"""Contractions on GPUs: tiles of work-groups, sub-groups and registers, fed from local memory.

Each schedule is a choice of roles for the indices (`roles.py`) and of a shape, the sizes that a
schedule is made of (`tiles.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product
from math import inf, prod

from tiledialect.rounding import ceil_div, pads_little, round_up
from tiledialect.schedule.cost.copies import Copy
from tiledialect.schedule.cost.counts import Model
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.estimate import estimated
from tiledialect.schedule.cost.facts import Facts
from tiledialect.schedule.loops import COPIED_BYTES, Schedule
from tiledialect.schedule.search.candidates.contraction_roles import FEW, is_tap
from tiledialect.schedule.search.candidates.roles import MOST_CLASSES, Roles, slide_with, windows_of
from tiledialect.schedule.search.candidates.tiles import FOUR, Shape, Tiles, reach_of

LEAST_ITEMS, MOST_ITEMS = 64, 256
"""Fewest and most work-items of a group."""
CHUNKS = (4, 8, 16, 32)
MOST_CHUNKS = 4
SHARES = (8, 16)
"""Numbers of items that share the steps of a chunk where the tiles of a group are few."""
FEW_SHARES = (2, 4)
"""The same where tiles of fours do not fill the device: sub-groups of a group have parts of each
chunk, and add their sums once."""
SHARED_TILE = (8, 8)
"""Rows and columns of an item whose sums are divided so."""
LONGEST = 64
"""The longest chunk whose steps are divided."""
LEAST_SHARED = 128
"""Fewest steps of a sum that sub-groups divide."""
LEAST_SUB_GROUPS = 8
"""Sub-groups for each unit of the device with which sums are not divided."""
MOST_ALIKE = 2
"""Most tilings that the cost model compares among those that differ only in how items make groups
of a size."""
MOST_SUMS = 48
"""Most accumulators of an item for all residue classes or similar indices."""
LANES_ACROSS = (16, 32)
"""Columns next to one another of the items of a sub-group."""
COLUMNS_ACROSS = range(4, 14)
"""Columns of an item, which are as far apart."""
SUB_GROUPS_ACROSS = range(2, 9)
"""Sub-groups of a group, one below the other."""
MOST_ACROSS = 112
"""Most sums of such an item."""
MOST_APART = 64
"""Most sums of windows of an item that are not adjacent where they are stored."""
MOST_TILINGS = 6
"""Most tilings that are tried with all chunks."""
MOST_UNROLLED = (640, 1152)
"""Most copies of a multiplication in an item: of a small body, or a large one."""
MOST_UNROLLED_PLAIN = (1152, 2304)
"""Most copies without taps, whose absence makes the body simpler."""
LEAST_CAPABILITY = 80
"""Compute capability from which GPUs of NVIDIA copy to local memory asynchronously."""
COPIES = (3, 2)
"""Numbers of tiles of an operand, the most first: a step's, and those in flight."""
MANY_SUMS = 128
"""Fewest sums of a work-item for which transposed tiles are copied word by word: 1576 x 768 x 2304
with B transposed takes 150 us so, through registers 161 to 172; with 64 sums 242 and 198."""
ROWS = 64
"""Size up to which an index is cut into any tiles that divide it."""


def in_chunks(facts: Facts, r: Roles, device: Device) -> Iterator[Schedule]:
    """Every shape that suits the sizes of a contraction."""
    for tiles, shape in _shapes(facts, r, device):
        yield _copied_alone(facts, tiles.in_chunks(shape), device)


def _copied_alone(facts: Facts, schedule: Schedule, device: Device) -> Schedule:
    """Schedule with asynchronous copies of all tiles that are fetched ahead, if all allow it.

    They need no registers and no stores. A product of 4096 whose operands both fit takes 2.74 ms
    instead of 2.87 on an H100. Tiles that are all transposed are copied word by word, where a
    work-item has many sums. A mixture with copies through registers gains nothing.
    """
    if device.compute_capability < LEAST_CAPABILITY or not facts.is_product:
        return schedule
    staged = [stage for stage in schedule.stages if stage.local]
    if not staged or any(stage.copies == 1 for stage in staged):
        return schedule
    model = Model(facts, schedule, device)
    tiles = [copy for copy in model.all_copies if copy.stage.local]
    if all(model.copies_alone(copy) for copy in tiles):
        counts, change = COPIES, {}
    elif model.accumulators >= MANY_SUMS and all(_is_turned(copy) for copy in tiles):
        counts, change = COPIES[:1], {"vector": 1}
    else:
        return schedule
    for count in counts:
        stages = tuple(
            replace(stage, asynchronous=True, copies=count, **change) if stage.local else stage
            for stage in schedule.stages
        )
        found = replace(schedule, stages=stages)
        if Model(facts, found, device).local_memory <= device.local_mem_size:
            return found
    return schedule


def _is_turned(copy: Copy) -> bool:
    """Whether a tile is transposed on its way, and has elements that can be copied one by one."""
    access, order = copy.access, copy.stage.order
    return access is not None and bool(order) and access.tensor.bytes in COPIED_BYTES


def _shapes(facts: Facts, r: Roles, device: Device) -> Iterator[tuple[Tiles, Shape]]:
    """The best tilings, compared at one size of chunk, with all chunks."""
    compared = sorted(_different(facts, r, device), key=lambda tiling: _seconds(*tiling, device))
    k = r.sums[0]
    extent = facts.extents[k]
    # Long rows of which a part is needed come late: they are fetched ahead, in pieces.
    gaps = any(abs(t.affine_access.moves[-1].get(k, 0)) > 1 for t in facts.inputs if t.names)
    plain_ones = [tiling for tiling in compared if not tiling[1].has_classes]
    of_classes = [tiling for tiling in compared if tiling[1].has_classes]
    inside = dict.fromkeys((r.taps, _window(facts, r), ()))
    for tiles, shape in plain_ones[:MOST_TILINGS] + of_classes[:MOST_TILINGS]:
        most = MOST_UNROLLED if r.taps or len(shape.tile) > 1 else MOST_UNROLLED_PLAIN
        for chunk, taps, copies in product(_chunks(extent, shape.shared), inside, (2, 1)):
            steps = prod(facts.extents[x] for x in taps) * chunk // shape.shared
            few = tiles.copies * steps <= most[0]
            if extent > chunk or (copies == 1 and not (gaps and chunk > 2 * FEW)):
                for unrolled in most[:1] if few else most:
                    sized = shape._replace(chunk=chunk, taps=taps, copies=copies)
                    yield tiles, sized._replace(unrolled=unrolled)


def _window(facts: Facts, r: Roles) -> tuple[str, ...]:
    """The taps but those of windows that slide along none of an item's neighbours; the innermost
    one if all or none do.

    In `O[y, x] = +(I[2*y + j, 2*x + i] * K[j, i])`, where an item has several `x`, a row of `I`
    serves all `i`, but a single `j`.
    """
    own = {r.along, r.rows[0], *r.inner}
    found = tuple(x for x in r.taps if not (near := slide_with(facts, x)) or near & own)
    return found if 0 < len(found) < len(r.taps) else r.taps[-1:]


def _seconds(tiles: Tiles, shape: Shape, device: Device) -> float:
    """Seconds of a tiling, with tiles fetched ahead where local memory has room for them."""
    model = Model(tiles.facts, tiles.in_chunks(shape._replace(copies=1)), device)
    free = device.local_mem_size - model.local_memory
    if free < 0:
        return inf
    if (shape.copies - 1) * model.tile_memory <= free:
        model = Model(tiles.facts, tiles.in_chunks(shape), device)
    return estimated(model).seconds


def _different(facts: Facts, r: Roles, device: Device) -> list[tuple[Tiles, Shape]]:
    """The tilings that waste least among equivalent ones."""
    alike: dict[object, list[Shape]] = {}
    found = _tilings(facts, r, device)
    for shape in sorted(found, key=lambda shape: _roughly(facts, r, shape, device)):
        # Rows of tiles differ in their lanes alone; of the others, small groups may be better.
        size = shape.group if shape.fours or shape.shared > 1 else 0
        tile = shape.tile, shape.columns
        item = tile, shape.fours, shape.staged, shape.shared, size
        alike.setdefault(item, []).append(shape)
    kept = (shape for shapes in alike.values() for shape in shapes[:MOST_ALIKE])
    return [(Tiles(facts, r, shape), shape) for shape in kept]


def _tilings(facts: Facts, r: Roles, device: Device) -> list[Shape]:
    """All tilings, at the size of chunk at which they are compared."""
    extent = facts.extents[r.sums[0]]
    inner = tuple((name, facts.extents[name]) for name in r.inner)
    everything = tuple(t.number for t in facts.inputs if t.names)
    both_ways = {t.number for t in facts.inputs if {r.along, r.rows[0]} <= t.names}
    # An operand that the tile moves both ways is read by each item for itself, or staged, too.
    one_way = tuple(number for number in everything if number not in both_ways)
    plain = [
        shape._replace(
            chunk=_chunks(extent, shape.shared)[-1],
            # Whole groups skip taps that are not their residue class's, if these are outside.
            taps=() if facts.tests else r.taps,
        )
        for shape in (
            *_tiles_in_fours(facts, r),
            *_tiles_across(facts, r, device),
            *_tiles_in_rows(facts, r),
        )
        if shape.group <= device.max_work_group_size
        and (not (shape.fours and shape.shared > 1) or _leaves_idle(facts, r, shape, device))
        # Separate sums need registers for their places.
        and not (r.is_turned and r.taps and shape.rows * shape.columns * shape.lanes > MOST_APART)
    ]
    tilings = [
        shape._replace(tile=(*some, *shape.tile), staged=staged)
        for shape, some, staged in product(
            plain, dict.fromkeys(((), inner[:1])), dict.fromkeys((one_way, everything))
        )
    ]
    of_classes = [
        shape._replace(
            tile=(*inner, *shape.tile),
            taps=r.taps,
            staged=everything,
            chunk=_chunks(extent, 1)[-1],
        )
        for shape in _tiles_of_classes(facts, r)
    ]
    return tilings + of_classes


def _shape(
    r: Roles,
    lanes: tuple[int, int],
    tile: tuple[int, int],
    *,
    sub_groups: tuple[int, int] = (1, 1),
    third: int = 1,
    shared: int = 1,
    fours: bool = False,
    wide: int = FOUR,
) -> Shape:
    """Tiles of rows and columns, and items and sub-groups along both and a third index."""
    (m, n), (rows, columns) = (r.rows[0], r.along), tile
    return Shape(
        wide,
        columns // wide,
        ((m, rows),),
        items=((n, lanes[1]), (m, lanes[0])),
        sub_groups=((n, sub_groups[1]), (m, sub_groups[0]), *((x, third) for x in r.rows[1:])),
        shared=shared,
        fours=fours,
        unrolled=MOST_UNROLLED[0],
        copies=2,
    )


def _chunks(extent: int, shared: int) -> list[int]:
    """Sizes of chunks that waste little of an extent; the one to compare tilings at is last."""
    if extent <= FEW:
        return [shared * ceil_div(extent, shared)] if shared > 1 else [extent, 1]
    if shared in FEW_SHARES:
        steps = [shared * c for c in CHUNKS if shared * c <= LONGEST]
        found = [c for c in steps if pads_little(extent, c, 16)] or steps
        return sorted(found, key=lambda c: -abs(c - shared * CHUNKS[1]))
    if shared > 1:
        steps = range(shared, LONGEST + 1, shared)
        found = [c for c in steps if pads_little(extent, c, 32)] or [2 * shared]
        return found[-MOST_CHUNKS:]
    found = [c for c in CHUNKS if pads_little(extent, c, 32)]
    divisors = [c for c in range(32, 3, -1) if extent % c == 0 and c not in found]
    others = [c for c in CHUNKS if c not in found and pads_little(extent, c, 16)]
    found = [*found, *divisors, *others][:MOST_CHUNKS] or [*CHUNKS]
    return sorted(found, key=lambda c: -abs(c - CHUNKS[1]))


def _roughly(facts: Facts, r: Roles, shape: Shape, device: Device) -> float:
    """Rough cost of a tiling by its waste, its loads, and the occupancy of the device."""
    reach, extents = reach_of(facts, r, shape), facts.extents
    groups, waste = 1, 1.0
    for name in facts.output_indices:
        extent, own = extents[name], reach.get(name, 1)
        count = ceil_div(extent, own)
        groups *= count
        waste *= count * own / extent
    fill = groups / device.compute_units / ceil_div(groups, device.compute_units)
    columns = reach[r.along]
    rows = prod(reach.values()) // columns
    near = 0.5 / shape.rows + 0.5 / (shape.columns * shape.lanes)
    return waste * (1 + near + 8 / rows + 8 / columns) / fill


def _tiles_in_fours(facts: Facts, r: Roles) -> Iterator[Shape]:
    """Two-dimensional sub-groups whose items share out fours along both indices."""
    m, n = facts.extents[r.rows[0]], facts.extents[r.along]
    for lanes in ((4, 8), (8, 4)):
        for tile in ((4, 4), (8, 4), (8, 8), (16, 4), (16, 8)):
            for warps in ((1, 1), (1, 2), (2, 1), (2, 2), (4, 1), (4, 2), (2, 4)):
                rows, columns = (w * x * t for w, x, t in zip(warps, lanes, tile, strict=True))
                if rows < 2 * m and columns < 2 * n:
                    for shared in _few_shares(facts, r, tile, prod(lanes) * prod(warps)):
                        yield _shape(r, lanes, tile, sub_groups=warps, shared=shared, fours=True)


def _tiles_across(facts: Facts, r: Roles, device: Device) -> Iterator[Shape]:
    """Sub-groups whose items have neighbouring columns, and fours of rows, where rows of the output
    are no whole vectors.

    A vector would be stored element by element there, and each store of a sub-group would touch all
    of its sectors.
    """
    m, n = facts.extents[r.rows[0]], facts.extents[r.along]
    if r.taps or slide_with(facts, r.along) or not _is_stored_apart(facts, r):
        return
    for across in LANES_ACROSS:
        down = max(1, device.sub_group_size // across)
        for columns in _least_waste(n, across, COLUMNS_ACROSS):
            for rows in (x for x in (FOUR, 2 * FOUR) if x * columns <= MOST_ACROSS):
                for sub_groups in _least_waste(m, down * rows, SUB_GROUPS_ACROSS):
                    lanes, tile = (down, across), (rows, columns)
                    yield _shape(r, lanes, tile, sub_groups=(sub_groups, 1), fours=True, wide=1)


def _is_stored_apart(facts: Facts, r: Roles) -> bool:
    """Whether rows of the output along the lanes begin at places that vectors do not."""
    strides = facts.outputs[0].strides
    others = (strides.get(n, 0) for n in facts.output_indices if n != r.along)
    return strides.get(r.along) == 1 and any(stride % FOUR for stride in others)


def _least_waste(extent: int, size: int, counts: Iterable[int]) -> list[int]:
    """The two numbers of pieces of a size whose multiples waste least of an extent, if little."""
    covered = {count: round_up(extent, count * size) for count in counts}
    good = [count for count in covered if covered[count] <= extent * 8 // 7]
    return sorted(good, key=lambda count: (covered[count], -count))[:2]


def _few_shares(facts: Facts, r: Roles, tile: tuple[int, int], items: int) -> Iterator[int]:
    """Numbers of parts of the sum of a tile, each with as many items."""
    yield 1
    if tile == SHARED_TILE and not r.taps and facts.extents[r.sums[0]] >= LEAST_SHARED:
        yield from (n for n in FEW_SHARES if n * items <= MOST_ITEMS)


def _leaves_idle(facts: Facts, r: Roles, shape: Shape, device: Device) -> bool:
    """Whether tiles whose sums are not divided have too few sub-groups for a device."""
    reach = reach_of(facts, r, shape)
    groups = prod(ceil_div(facts.extents[n], reach.get(n, 1)) for n in facts.output_indices)
    sub_groups = groups * shape.group // shape.shared // max(device.sub_group_size, 1)
    return sub_groups < LEAST_SUB_GROUPS * device.compute_units


def _tiles_in_rows(facts: Facts, r: Roles) -> Iterator[Shape]:
    """Tilings of neighbours along `m` in an item, and items of a group along `n`, `m` and a third
    index."""
    m, n = facts.extents[r.rows[0]], facts.extents[r.along]
    if m >= ROWS and not slide_with(facts, r.rows[0]):
        return
    for wide in (4, 8):
        for columns in (x for x in (1, 2, 4, 8, 16, 32) if x * wide < n + wide * x / 2):
            for rows in _row_tiles(m):
                for along in _counts(ceil_div(m, rows)):
                    for third in _counts(facts.extents[r.rows[1]] if r.rows[1:] else 1):
                        items = columns * along * third
                        for shared in (1,) if items >= LEAST_ITEMS else SHARES:
                            if LEAST_ITEMS <= items * shared <= MOST_ITEMS and _is_even(items):
                                lanes, tile = (along, columns), (rows, wide)
                                yield _shape(r, lanes, tile, third=third, shared=shared)


def _tiles_of_classes(facts: Facts, r: Roles) -> Iterator[Shape]:
    """Tilings of several whole short indices in an item, and few neighbours along `m` and `n`.

    So all residue classes of a strided convolution's input gradient share an item's loads.
    """
    deep = prod(facts.extents[name] for name in r.inner)
    if len(r.inner) < 2 or deep > MOST_CLASSES or not _share_windows(facts, r):
        return
    m, n = facts.extents[r.rows[0]], facts.extents[r.along]
    for rows, wide in ((1, 4), (2, 4), (1, 8)):
        if rows * wide * deep <= MOST_SUMS:
            for lanes in product(_counts(ceil_div(m, rows)), _counts(ceil_div(n, wide))):
                if LEAST_ITEMS <= prod(lanes) <= MOST_ITEMS and _is_even(prod(lanes)):
                    yield _shape(r, lanes, (rows, wide))


def _share_windows(facts: Facts, r: Roles) -> bool:
    """Whether short indices share the loads of an item.

    Residue classes do. Results for each tap do if windows overlap along a long row of the sum.
    """
    taps = [x for x in r.inner if is_tap(facts, x)]
    steps = [abs(moves.get(r.sums[0], 0)) for x in taps for moves in windows_of(facts, x)]
    return not taps or (1 in steps and facts.extents[r.sums[0]] >= 2 * FEW)


def _is_even(items: int) -> bool:
    """Whether items fill whole sub-groups, or nearly."""
    return items < LEAST_ITEMS or pads_little(items, 32, 8)


def _row_tiles(extent: int) -> list[int]:
    """Numbers of neighbours that divide an extent, or waste little of it."""
    sizes = range(4, min(extent, 16) + 1)
    good = [n for n in sizes if extent % n == 0]
    return good or [n for n in sizes if pads_little(extent, n, 8)] or [extent]


def _counts(extent: int) -> list[int]:
    """Numbers of items along an index that waste little of it."""
    counts = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 32)
    return [n for n in counts if pads_little(extent, n, 8)]
