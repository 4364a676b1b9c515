"""Contractions on CPUs: a tile of vectors in registers, fed by packed operands.

Of the indices that move the output, `n` runs along its memory: its steps are lanes, and several
vectors of them are the tile's columns. Other output indices are its rows. A work-group is one
work-item, which takes a block of tiles, one after the other; an operand whose elements are no
neighbours where a vector reads them, or which is padded, is staged once for the block. A sum so
long that the operands of a row of tiles do not fit the caches is summed in parts.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum, auto
from math import inf, prod
from operator import itemgetter
from typing import TypeVar

from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.cpu_caches import FEW_ROWS
from tiledialect.schedule.cost.cpu_estimate import CpuModel
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.estimate import estimated_below
from tiledialect.schedule.cost.facts import Facts, Tensor, between_lanes, padded_indices
from tiledialect.schedule.loops import Schedule
from tiledialect.schedule.search.candidates.contraction_roles import cpu_roles, is_window
from tiledialect.schedule.search.candidates.levels import GROUPS_TRIED
from tiledialect.schedule.search.candidates.roles import Roles
from tiledialect.schedule.search.candidates.tiles import (
    Shape,
    Sizes,
    Tiles,
    has_vectors,
    written_out,
)

T = TypeVar("T")

TILES = (
    *((1, n) for n in (1, 2, 4, 8)),
    *((2, n) for n in (1, 2, 4, 8)),
    *((3, 4), (3, 8), (4, 2), (4, 3), (4, 4), (5, 2), (5, 4), (6, 2), (6, 3), (6, 4), (7, 2)),
    *((7, 4), (8, 1), (8, 2), (8, 3), (9, 2), (10, 2), (12, 1), (12, 2), (14, 1), (14, 2), (16, 1)),
)
"""Rows and vectors of the tiles that are tried."""
MOST_ROWS = {1: 24, 2: 12}
"""Most rows of tiles of so many vectors that hold all rows, or half of them."""
BATCHES = 8
"""Minimum batch at which batch tiles, which need no tests at edges, equal all rows of an image."""
MOST_TILES = 4
"""Most tiles that are tried in all blocks."""
BLOCKS = (2, 4, 7, 8)
"""Numbers of parts in which an image may be read whose pixels are summed over."""
BETWEEN = 2
"""Number of indices along which tiles have rows besides those between the lanes in memory."""
STRIPES = (16, 64)
"""Numbers of rows of an operand that are read at a time, if it is used seldom."""
FEW_TILES = 7
"""Number of tiles along an index up to which even shares are tried, too."""
GROUPS_OF_COPIES = (1, 2, 4, 16, 64)
"""Fewest work-groups for each core where some copy the same: neighbours copy common rows, too."""
WAITING_SUMS = 1 << 18
"""Bytes of results of a group whose sums are in memory while others are added to, where long sums
are in parts: a quarter of a core's second cache, which also holds the operands."""
PACKED_GROUPS = (1, 4, 8, 16, 64)
"""Fewest work-groups for each core where all operands are packed: the larger a group is, the less
often they are read."""


def best_tiles(facts: Facts, device: Device) -> Iterable[tuple[Roles, Shape]]:
    """The best tiles of all roles."""

    def seconds(tiled: tuple[Roles, Shape], below: float) -> float:
        r, tile = tiled
        tiles = Tiles(facts, r, tile)
        counts, groups = tiles.counts, GROUPS_TRIED[1] * device.compute_units
        shapes = (
            tile._replace(blocks=blocks, staged=staged, parts=parts)
            for columns in sorted({1, counts[r.along]})
            for blocks in (_serial(r, counts, columns, groups),)
            for staged in _packings(facts, r, tile)
            for parts in ((), *_image_blocks(facts, r)[-1:])
        )
        for shape in shapes:
            model = CpuModel(facts, tiles.in_blocks(shape), device)
            if (faster := estimated_below(model, below)) is not None:
                below = faster.seconds
        return below

    found = ((r, tile) for r in cpu_roles(facts, device) for tile in _tiles(facts, r, device))
    return _fastest(MOST_TILES, found, seconds)


def in_blocks(facts: Facts, tiled: tuple[Roles, Shape], device: Device) -> Iterator[Schedule]:
    """Schedules of a tile in several blocks; different numbers of groups often give the same."""
    r, tile = tiled
    tiles = Tiles(facts, r, tile)
    for shape in dict.fromkeys(_blocks(facts, r, tile, tiles.counts, device)):
        yield tiles.in_blocks(shape)


def _fastest(count: int, found: Iterable[T], seconds: Callable[[T, float], float]) -> list[T]:
    """The given number of items of fewest seconds, the fastest first.

    ``seconds`` gets a bound, and may return it where the seconds are no fewer.
    """
    kept: list[tuple[float, T]] = []
    for one in found:
        below = kept[-1][0] if len(kept) == count else inf
        taken = seconds(one, below)
        if taken < below:
            insort(kept, (taken, one), key=itemgetter(0))
            del kept[count:]
    return [one for _, one in kept]


def _tiles(facts: Facts, r: Roles, device: Device) -> Iterator[Shape]:
    """Tiles with the required stages of operands, and all other loops in work-groups.

    Rows along an index that moves no padded axis, as a batch index, need neither tests nor stages:
    loops skip the points outside.
    """
    padded = {t.number: padded_indices(facts, t) for t in facts.inputs}
    everywhere = set[str]().union(*padded.values())
    others = r.rows[2:] if everywhere else ()
    along = (*r.rows[:2], *[name for name in others if name not in everywhere][:1])
    output = facts.outputs[0]
    width = device.lanes(output.type, output.bytes)
    for lanes in _lanes(facts.extents[r.along], width):
        vectors = ceil_div(facts.extents[r.along], lanes)
        is_row = lanes == width and abs(output.strides.get(r.along, 0)) == 1
        are_few = all(facts.extents[n] < BATCHES or _moves_lanes(facts, r, n) for n in along[2:])
        for rows, columns in (*TILES, *_fitted(facts, r, vectors if is_row and are_few else None)):
            if columns > vectors:
                blocks = _blocks_of_tile(facts, r, columns, vectors, device)
                own = _vector_tiles(facts, r, (rows, blocks), along) if blocks else ()
            else:
                between = _tiles_between(facts, r, rows) if device.has_long_vectors else ()
                own = dict.fromkeys((*_row_tiles(facts, r, (rows, columns), along), *between))
            for tile in own:
                shape = Shape(lanes, min(columns, vectors), tile)
                if not device.has_long_vectors:
                    shape = shape._replace(by_vectors=_has_more_vectors(facts, r, shape))
                yield shape._replace(staged=_must_pack(facts, r, shape, padded, device))


def _blocks_of_tile(facts: Facts, r: Roles, columns: int, vectors: int, device: Device) -> int:
    """Number of blocks, of so many vectors each, that have the columns of a tile; 0: none fit.

    With AVX-512 a block of several vectors has tiles of its own: 7 rows of two reach 0.94 to 0.97
    of a core's rate. With 16 registers 3 rows of four do better than 6 of two where windows slide
    over few rows; of others all rows are along one index, of which 6 leave little.
    """
    slides = any(_is_slid(facts, name) for name in r.rows)
    if columns % vectors or (vectors > 1 and (device.has_long_vectors or not slides)):
        return 0
    return columns // vectors


def _lanes(extent: int, width: int) -> list[int]:
    """Lanes of the vectors that are tried: those of the hardware, or parts that divide an
    extent."""
    found = [k for k in (width, width // 2, width // 4) if 1 < k < 2 * extent] or [2]
    divides = next((k for k in found if extent % k == 0), 0)
    return [k for k in found if k in (found[0], divides)]


def _has_more_vectors(facts: Facts, r: Roles, shape: Shape) -> bool:
    """Whether a step reads fewer elements than vectors: the fewer are kept in registers."""
    vectors, elements = shape.columns, 1
    for name, count in shape.tile:
        if has_vectors(facts, r, name):
            vectors *= count
        else:
            elements *= count
    return 1 < elements < vectors


def _fitted(facts: Facts, r: Roles, channels: int | None) -> Iterator[tuple[int, int]]:
    """Tiles that leave no rest where there are few rows: of plain products, and of all channels.

    These lie side by side, in so many whole vectors, if tiles of them may do better than others.
    """
    extent = facts.extents[r.rows[0]] if r.rows else 1
    is_product, is_slid = not is_window(facts), _is_slid(facts, r.along)
    for columns, most in MOST_ROWS.items():
        rows = ceil_div(extent, ceil_div(extent, most))
        fits = is_product or (columns == channels and not is_slid)
        if fits and extent <= 2 * most and (rows, columns) not in TILES:
            yield rows, columns


def _moves_lanes(facts: Facts, r: Roles, name: str) -> bool:
    """Whether no vector is read again for other values of an index, as of a group of channels."""
    return all(name in t.names for t in facts.inputs if r.along in t.names)


def _is_slid(facts: Facts, name: str) -> bool:
    """Whether windows slide along an index."""
    places = (e.names for t in facts.inputs for e in t.access or ())
    return any(name in names and len(names) > 1 for names in places)


def _row_tiles(
    facts: Facts, r: Roles, size: tuple[int, int], along: Sequence[str]
) -> Iterator[Sizes]:
    """Distributions of so many rows: along one index, or two of which one is short."""
    rows, columns = size
    if rows == 1:
        yield ()
        return
    for name in along:
        extent = facts.extents[name]
        if rows <= extent and ceil_div(extent, rows) < _most_tiles(extent, rows, columns):
            yield ((name, rows),)
    if len(r.rows) > 1:
        a, b = r.rows[0], r.rows[1]
        for first, second in ((a, b), (b, a)):
            few = facts.extents[first]
            if 1 < few < 4 and rows % few == 0 and 1 < rows // few <= facts.extents[second]:
                yield ((first, few), (second, rows // few))


def _most_tiles(extent: int, rows: int, columns: int) -> float:
    """Tiles along an index of the next smaller ones of as many vectors: if they are as few, these
    leave less of a rest: of 14 rows 5, 5 and 4, not 6, 6 and 2."""
    smaller = (own for own, vectors in TILES if vectors == columns and own < rows)
    return min((ceil_div(extent, own) for own in smaller), default=inf)


def _vector_tiles(
    facts: Facts, r: Roles, size: tuple[int, int], along: Sequence[str]
) -> Iterator[Sizes]:
    """Tiles of rows along one index, and of vectors along another, where all lanes are a vector.

    Blocks of one vector are these: a vector of each of several blocks meets the same elements.
    """
    rows, columns = size
    others = set[str]().union(*(t.names for t in facts.inputs if r.along not in t.names))
    own = (n for n in r.rows if n not in others and has_vectors(facts, r, n))
    if not others or (block := next(own, None)) is None or columns > facts.extents[block]:
        return
    for name in along:
        if name in others and 1 < rows <= facts.extents[name]:
            yield ((name, rows), (block, columns))


def _tiles_between(facts: Facts, r: Roles, rows: int) -> Iterator[Sizes]:
    """The ways to have so many rows, those among them that lie between the lanes in memory."""
    if (between := between_lanes(facts, r.along)) is None or rows % facts.extents[between]:
        return
    count = facts.extents[between]
    if rows == count:
        yield ((between, count),)
    others = [n for n in r.rows if n != between and 1 < rows // count <= facts.extents[n]]
    for name in others[:BETWEEN]:
        yield ((between, count), (name, rows // count))


def _must_pack(
    facts: Facts, r: Roles, shape: Shape, padded: Mapping[int, frozenset[str]], device: Device
) -> tuple[int, ...]:
    """Operands that the tile would read out of bounds, or whose lanes lie apart.

    Operands for which another layout gains nothing are excluded.
    """
    moving, known = written_out(facts, r, shape)
    known = known if device.has_long_vectors else frozenset[str]()

    def must(t: Tensor) -> bool:
        is_apart = r.along in t.names and abs(t.strides[r.along]) != 1
        on_lanes = is_apart and not _is_read_as_copied(facts, r, t)
        if on_lanes or moving.isdisjoint(padded[t.number]):
            return on_lanes
        return not moving.isdisjoint(padded_indices(facts, t, known))

    return tuple(t.number for t in facts.inputs if must(t))


def _is_read_as_copied(facts: Facts, r: Roles, t: Tensor) -> bool:
    """Whether a copy of an operand would be read as the operand is: each element for one result,
    and the lanes as far apart. Gradients of maxima read the maximum's operand so."""
    moving = {name for name, extent in facts.extents.items() if extent > 1}
    is_last = abs(t.affine_access.moves[-1].get(r.along, 0)) == abs(t.strides[r.along])
    return is_last and moving & t.names == moving & {*facts.output_indices}


def _group_counts(facts: Facts, r: Roles, tile: Shape, device: Device) -> Sequence[int]:
    """Numbers of work-groups to try: of many results also so many that one's sums fit near
    caches, and with copies that groups may share all those between."""
    several = GROUPS_TRIED if _rows_of_copies(facts, r, tile) == r.rows else GROUPS_OF_COPIES
    counts = [k * device.compute_units for k in several]
    least = ceil_div(facts.outputs[0].size, WAITING_SUMS)
    return [*counts, least] if len(r.sums) == 1 and least > counts[-1] else counts


def _blocks(
    facts: Facts, r: Roles, tile: Shape, counts: Mapping[str, int], device: Device
) -> Iterator[Shape]:
    """Blocks of tiles of a work-group: from few large groups to many small ones."""
    whole = counts[r.along]
    for groups in _group_counts(facts, r, tile, device):
        # Where there are few rows, groups share the columns.
        rows = prod(counts.values()) // whole
        for columns in sorted({1, whole, max(1, whole * rows // max(rows, groups))}):
            several = (
                _serial(r, counts, columns, groups, share=share, first=first)
                for share in _Share
                for first in _orders(facts, r, tile)
            )
            for blocks in dict.fromkeys(several):
                is_end = columns in (1, whole)
                yield from _in_blocks(facts, r, tile, blocks, device, is_end=is_end)
    if whole > 1 and r.rows and len(r.sums) == 1:
        everything = tuple(t.number for t in facts.inputs if t.shape)
        for wanted in PACKED_GROUPS:
            *rows, columns = _serial(r, counts, whole, wanted * device.compute_units)
            for parts in _parts(facts, r):
                yield tile._replace(
                    blocks=(columns, *rows), staged=everything, inside=r.along, parts=parts
                )


def _in_blocks(
    facts: Facts,
    r: Roles,
    tile: Shape,
    blocks: Sizes,
    device: Device,
    *,
    is_end: bool,
) -> Iterator[Shape]:
    """Stages and their places, if a work-group has these tiles."""
    for staged in _packings(facts, r, tile):
        if staged and not is_end:
            continue
        moving = {n for t in facts.inputs if t.number in staged for n in t.names}
        several = [n for n, count in blocks[:-1] if count > 1 and n in moving]
        shape = tile._replace(blocks=blocks, staged=staged)
        for inside in _places(facts, r, shape, several, device):
            for parts in _parts(facts, r, is_plain=not staged):
                yield shape._replace(inside=inside, parts=parts)


def _places(
    facts: Facts, r: Roles, s: Shape, several: Sequence[str], device: Device
) -> Sequence[str]:
    """Indices inside which copies may be made; of equally fast ones the first one is best.

    The largest blocks that the first cache holds come first: a read right after its write waits
    until all of it is in the cache, unless it was written as one vector. Of others the smallest is
    nearer.
    """
    sizes = {inside: _staged_bytes(facts, r, s, inside) for inside in (*reversed(several), "")}
    near = {inside for inside, size in sizes.items() if size <= device.cache_sizes[0]}
    return sorted(sizes, key=lambda k: (k not in near, -sizes[k] if k in near else sizes[k]))


def _staged_bytes(facts: Facts, r: Roles, s: Shape, inside: str) -> int:
    """Bytes of the copies that are made for each step of an index."""
    after = [name for name, _ in s.blocks].index(inside) + 1 if inside else 0
    tile = {**dict(s.tile), r.along: s.lanes * s.columns}
    body = [(name, 1, size) for name, size in tile.items()]
    body += [(name, 1, facts.extents[name]) for name in r.sums]
    total = 0
    for t in (t for t in facts.inputs if t.number in s.staged):
        own = s.blocks[after:] if inside in t.names else s.blocks
        steps = (*((name, tile.get(name, 1), count) for name, count in own), *body)
        total += prod(t.affine_access.extents(steps)) * t.bytes
    return total


def _packings(facts: Facts, r: Roles, tile: Shape) -> list[tuple[int, ...]]:
    """Sets of operands to stage: the required ones, or all that vectors are read from."""
    vectors = (t.number for t in facts.inputs if r.along in t.names)
    return [*dict.fromkeys((tile.staged, tuple(sorted({*tile.staged, *vectors}))))]


def _orders(facts: Facts, r: Roles, tile: Shape) -> Iterator[Sequence[str]]:
    """The indices of rows in the orders in which a group may have all tiles along them.

    Blocks of the lanes' index move the operand that vectors are read from alone. A group that has
    all of them reads few rows again for each, which the second cache holds where it has no room for
    all rows.
    """
    yield r.rows
    yield _rows_of_copies(facts, r, tile)
    lanes = [r.along in t.names for t in facts.inputs]
    moving = {n: [n in t.names for t in facts.inputs] for n in r.rows}
    yield sorted(r.rows, key=lambda name: moving[name] != lanes)


def _rows_of_copies(facts: Facts, r: Roles, tile: Shape) -> Sequence[str]:
    """The indices of rows, those first along which groups would make the same required copies."""
    moving = {name for t in facts.inputs if t.number in tile.staged for name in t.names}
    return tuple(sorted(r.rows, key=lambda name: name in moving)) if moving else r.rows


class _Share(Enum):
    """Ways to share the tiles along an index among work-groups."""

    LEAST = auto()
    """At least so many groups."""
    EVEN = auto()
    """Few tiles evenly: three classes go to one group or to three, not to two."""
    MOST = auto()
    """At most so many groups, a multiple of the cores: of 63 tiles 8 groups, the last with 7, not
    9."""


def _serial(
    r: Roles,
    counts: Mapping[str, int],
    columns: int,
    groups: int,
    *,
    share: _Share = _Share.LEAST,
    first: Sequence[str] = (),
) -> Sizes:
    """Numbers of tiles along each index in a work-group for about so many groups.

    A group has all tiles along the first rows before it has others.
    """
    blocks = {r.along: columns}
    left = prod(counts.values()) // columns
    for name in first or r.rows:
        most = ceil_div(left, groups) if share is _Share.MOST else max(1, left // groups)
        count = counts[name]
        size = min(count, most)
        # Equal sizes, where they cost little.
        size = ceil_div(count, ceil_div(count, size))
        if share is _Share.EVEN and count <= FEW_TILES:
            size = max(k for k in range(1, size + 1) if count % k == 0)
        blocks[name] = size
        left //= size
    return (*((name, blocks[name]) for name in reversed(r.rows)), (r.along, columns))


def _parts(facts: Facts, r: Roles, *, is_plain: bool = False) -> Iterator[tuple[int, ...]]:
    """Numbers of parts of the outermost sums."""
    yield ()
    if r.sums:
        extent = facts.extents[r.sums[-1]]
        # Without rows nothing is read again: whole rows of memory are added one after the other.
        stripes = STRIPES if is_plain and _uses(facts, r) <= FEW_ROWS else ()
        sizes = (*stripes, 256, 512)
        # Blocks of channels are so many: where operands are copied anew, their parts gain nothing.
        each = prod(facts.extents[name] for name in r.sums[:-1]) if r.rows and is_plain else 1
        for size in sizes if r.rows else (4, 8, 16):
            if extent >= 3 * (steps := max(1, size // each)) // 2:
                yield (_even_parts(extent, steps),)
        if len(r.sums) > 1:
            yield (extent,)
        yield from _image_blocks(facts, r)


def _even_parts(extent: int, size: int) -> int:
    """Numbers of parts of about a size, equal ones if possible: else all steps are tested."""
    least = ceil_div(extent, size)
    if extent % least == 0:
        return least
    several = range(least, 2 * least)
    even = [k for steps in (4, 2, 1) for k in several if extent % (steps * k) == 0]
    return next(iter(even), least)


def _image_blocks(facts: Facts, r: Roles) -> list[tuple[int, ...]]:
    """Numbers of parts of the two outermost sums where they are a batch and rows of images."""
    if len(r.sums) < 3:
        return []
    rows, images = (facts.extents[name] for name in r.sums[-2:])
    return [(images, k) for k in BLOCKS if k <= rows // 2 and rows % k == 0]


def _uses(facts: Facts, r: Roles) -> int:
    """Number of uses of an element that vectors are read from."""
    sizes = (prod(t.shape) for t in facts.inputs if r.along in t.names)
    return facts.points // max(sizes, default=1)
