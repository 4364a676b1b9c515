"""Scans: roles of a schedule's levels along an axis whose running aggregates are computed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product

from tiledialect.rounding import ceil_div
from tiledialect.schedule.loops import PARALLEL, LoopLevel, Role, Schedule, ScheduleError

Levels = tuple[LoopLevel, ...]


@dataclass(frozen=True)
class ScanLevels:
    """The levels along the axis, inside a block, by number."""

    steps: tuple[int, ...]
    """Serial loops: their aggregate is carried from one step to the next."""
    segments: tuple[int, ...]
    """Unrolled, outside the work-items: each step is scanned by all of them."""
    items: int | None
    """The work-items that share a segment."""
    chunk: tuple[int, ...]
    """Unrolled levels that a work-item scans by itself."""

    @staticmethod
    def of(schedule: Schedule, index: str, block: int | None) -> ScanLevels:
        """The levels of an index that starts anew after each ``block`` values, or never (None).

        Raises:
            ScheduleError: the loops do not come by the elements in order.
        """
        own = [
            (k, level)
            for k, level in enumerate(schedule.levels)
            if level.index == index and (block is None or level.stride < block)
        ]
        for _, level in own:
            _check_level(level, block)
        _check_order([level for _, level in own])
        items = next((k for k, level in own if level.role is Role.LOCAL), None)
        share = schedule.levels[items].stride if items is not None else 0
        inside = [(k, x) for k, x in own if x.role not in (*PARALLEL, Role.SERIAL)]
        return ScanLevels(
            tuple(k for k, level in own if level.role is Role.SERIAL),
            tuple(k for k, level in inside if items is not None and level.stride > share),
            items,
            tuple(k for k, level in inside if items is None or level.stride < share),
        )

    @property
    def inside(self) -> tuple[int, ...]:
        """Levels whose elements a work-item has in registers."""
        return tuple(sorted((*self.segments, *self.chunk)))


def _check_level(level: LoopLevel, block: int | None) -> None:
    if level.role is Role.GROUP:
        raise ScheduleError(
            f"{level.index} is scanned along, so no work-group can have part of it to itself: "
            "divide it into blocks first (tile-split-scan)"
        )
    if block is not None and level.stride * level.extent > block:
        raise ScheduleError(f"the loop {level} does not end with the blocks of {block}")


def _check_order(own: list[LoopLevel]) -> None:
    """Refuse loops that would come by later elements first."""
    locals_ = [level for level in own if level.role is Role.LOCAL and level.extent > 1]
    if len(locals_) > 1:
        raise ScheduleError(f"a scan along {own[0].index} has one loop over work-items at most")
    rest = [level for level in own if level.role is not Role.LOCAL]
    for outer, inner in pairwise(rest):
        if outer.stride < inner.stride:
            raise ScheduleError(f"a scan needs the loop {inner} outside the loop {outer}")
    inside = [level for level in own if level.role is not Role.SERIAL]
    for level in own:
        if level.role is Role.SERIAL and any(x.stride > level.stride for x in inside):
            raise ScheduleError(
                f"in a scan, the loop {level} must be outside the unrolled loops "
                "and outside the work-items"
            )


@dataclass(frozen=True)
class ScanShape:
    """A tensor that is scanned along an axis, anew after each ``block`` elements."""

    shape: tuple[int, ...]
    axis: int
    block: int | None

    @property
    def name(self) -> str:
        """The index along the axis."""
        return f"d{self.axis}"

    @property
    def length(self) -> int:
        """Number of elements that are scanned together."""
        size = max(self.shape[self.axis], 1)
        return size if self.block is None else self.block

    @property
    def divisor(self) -> int:
        """A power of 2 of elements that are scanned together: blocks must end with their steps."""
        return _power(self.length) if self.block is None else self.block & -self.block

    @property
    def rows(self) -> list[ScanRow]:
        """Indices with a separate scan for each value, the nearest in memory last."""
        found = [ScanRow(f"d{k}", 1, size) for k, size in enumerate(self.shape) if k != self.axis]
        if self.block is not None:
            blocks = ceil_div(self.shape[self.axis], self.block)
            found.insert(self.axis, ScanRow(self.name, self.block, blocks))
        return [row for row in found if row.extent > 1]

    @property
    def is_contiguous(self) -> bool:
        """Whether neighbours along the axis are neighbours in memory."""
        return all(size == 1 for size in self.shape[self.axis + 1 :])


@dataclass(frozen=True)
class ScanRow:
    """An index, or the blocks along the axis, whose values have a scan each."""

    name: str
    stride: int
    extent: int

    def level(self, step: int, extent: int, role: Role, axis: str = "") -> LoopLevel:
        """A level that moves by ``step`` values."""
        return LoopLevel(self.name, step * self.stride, extent, role, axis)


def scan_schedules(scan: ScanShape, vectors: bool, most_items: int) -> Iterator[Schedule]:
    """Schedules of a scan for a kind of device, the preferred one first, with at most so many
    work-items in a group.

    On CPUs a work-item scans several independent rows at the same time, or the neighbours along the
    innermost axis, in vectors. On GPUs work-items share a row, with neighbouring work-items at
    neighbouring elements.
    """
    if vectors:
        found = _cpu_rows(scan) if scan.is_contiguous else _cpu_columns(scan)
    else:
        found = (_gpu_rows if scan.is_contiguous else _gpu_columns)(scan, most_items)
    yield from dict.fromkeys(Schedule(tuple(x for x in own if x.extent > 1)) for own in found)


CPU_ROWS = (4, 1, 2, 8)
"""Numbers of rows that a work-item scans at the same time, the preferred one first, as in all sizes
below."""
CPU_CHUNKS = (4, 8, 16)
"""Numbers of elements of each that it adds up before it adds the carried aggregate."""
CPU_LANES = (16, 8, 4)
CPU_VECTORS = (16, 4, 1)
"""Numbers of vectors along the innermost axis that a work-item scans at the same time."""


def _cpu_rows(scan: ScanShape) -> Iterator[Levels]:
    *outer, row = scan.rows or [ScanRow(scan.name, scan.length, 1)]
    for most_together, most_chunk in product(CPU_ROWS, CPU_CHUNKS):
        together, chunk = min(most_together, row.extent), min(most_chunk, scan.divisor)
        yield (
            *_groups([*outer, row], {row: together}),
            *_serial(scan, chunk),
            row.level(1, together, Role.UNROLL),
            LoopLevel(scan.name, 1, chunk, Role.UNROLL),
        )


def _cpu_columns(scan: ScanShape) -> Iterator[Levels]:
    row = scan.rows[-1]
    for most_lanes, most_vectors in product(CPU_LANES, CPU_VECTORS):
        lanes = min(most_lanes, 1 << (row.extent.bit_length() - 1))
        vectors = min(most_vectors, ceil_div(row.extent, lanes))
        yield (
            *_groups(scan.rows, {row: lanes * vectors}),
            *_serial(scan, 1),
            row.level(lanes, vectors, Role.UNROLL),
            row.level(1, lanes, Role.VECTOR),
        )


GPU_ITEMS = (256, 128, 512, 1024)
GPU_VECTORS = (4, 2)
GPU_SEGMENTS = (4, 2, 1)
"""Numbers of vectors of a work-item, interleaved with the vectors of its neighbours."""
ITEMS_OF_ROWS = 128
"""Number of work-items of a group that has several short rows."""


SHARED_BYTES = 2 * max(GPU_SEGMENTS) * 8
"""Local memory that a work-item needs at most: two totals of each segment, of 64 bits."""
RUN_BYTES = 2 * max(GPU_SEGMENTS)
"""Additional bytes in a segmented scan: flags of a segment's beginning."""


def _gpu_rows(scan: ScanShape, most_items: int) -> Iterator[Levels]:
    *outer, row = scan.rows or [ScanRow(scan.name, scan.length, 1)]
    for wanted, most_vector, most_segments in product(GPU_ITEMS, GPU_VECTORS, GPU_SEGMENTS):
        vector = min(most_vector, scan.divisor)
        items = min(wanted, most_items, scan.divisor // vector)
        segments = min(most_segments, scan.divisor // (vector * items))
        most_rows = min(max(1, ITEMS_OF_ROWS // items), max(1, most_items // items))
        together, segment = min(most_rows, _power(row.extent)), items * vector
        yield (
            *_groups([*outer, row], {row: together}),
            row.level(1, together, Role.LOCAL, "y"),
            LoopLevel(scan.name, vector, items, Role.LOCAL, "x"),
            *_serial(scan, segment * segments),
            LoopLevel(scan.name, segment, segments, Role.UNROLL),
            LoopLevel(scan.name, 1, vector, Role.VECTOR),
        )


GPU_COLUMNS = (32, 64, 128)
GPU_SHARERS = (16, 8, 4, 1)
"""Numbers of work-items that share a column."""
GPU_CHUNKS = (16, 8, 4)


def _gpu_columns(scan: ScanShape, most_items: int) -> Iterator[Levels]:
    row = scan.rows[-1]
    for most_columns, sharers, most_chunk in product(GPU_COLUMNS, GPU_SHARERS, GPU_CHUNKS):
        columns = min(most_columns, most_items, _power(row.extent))
        chunk = min(most_chunk, scan.divisor)
        items = min(sharers, max(1, most_items // columns), scan.divisor // chunk)
        yield (
            *_groups(scan.rows, {row: columns}),
            LoopLevel(scan.name, chunk, items, Role.LOCAL, "y"),
            row.level(1, columns, Role.LOCAL, "x"),
            *_serial(scan, chunk * items),
            LoopLevel(scan.name, 1, chunk, Role.UNROLL),
        )


def _power(extent: int) -> int:
    """The least power of 2 that is not less."""
    return 1 << max(extent - 1, 0).bit_length()


def _serial(scan: ScanShape, step: int) -> tuple[LoopLevel, ...]:
    """The loop along the axis, by steps of so many elements."""
    return (LoopLevel(scan.name, step, ceil_div(scan.length, step), Role.SERIAL),)


def _groups(rows: list[ScanRow], tiles: dict[ScanRow, int]) -> list[LoopLevel]:
    """Work-groups for all rows, several of some together."""
    return [
        row.level(tiles.get(row, 1), ceil_div(row.extent, tiles.get(row, 1)), Role.GROUP, "x")
        for row in rows
    ]
