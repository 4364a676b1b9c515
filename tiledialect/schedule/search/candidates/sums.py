"""Aggregates that read every element about once: row sums, column sums, maxima, matrix-vector.

Where the fastest index of the operand is aggregated over, lanes and work-items share a row, and are
joined at the end. Where it moves the output, work-items have neighbouring columns, and several of
them share the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.facts import Facts, Tensor
from tiledialect.schedule.loops import Role, Schedule
from tiledialect.schedule.search.candidates.memory import (
    ITEMS,
    Loops,
    are_known,
    by_stride,
    columns_on_cpu,
    lanes,
    largest,
    power_above,
    unrolls,
    work_of_group,
)

LEAST_ITEMS = 128
"""Fewest work-items that share a row, if it is long enough."""
TOGETHER = 8
"""Number of neighbouring rows of a few elements each that a work-item of a CPU sums at the same
time."""
SHORT = 8
"""Number of elements up to which sums are unrolled for several columns of a GPU's work-item."""
COLUMNS_OF_ITEM = 4
READ_TWICE = 2
"""Most reads of each element of the largest input, on average."""


def sums(facts: Facts, device: Device) -> Iterator[Schedule]:
    """Schedules of aggregates whose operands are read once."""
    if not facts.aggregates or not facts.reduced_indices:
        return
    if not facts.inputs or not are_known(facts.inputs):
        return
    source = largest(facts)
    if facts.points * source.bytes > READ_TWICE * source.size:
        return
    order = by_stride(source, facts.extents, facts)
    if not order or source.strides[order[0]] != 1:
        return
    summed = [n for n in order if n in facts.reduced_indices]
    if not summed:
        return
    along_rows = order[0] == summed[0]
    if device.is_cpu:
        build = _rows_on_cpu if along_rows else _columns_on_cpu
    else:
        build = _rows_on_gpu if along_rows else _columns_on_gpu
    others = [n for n in facts.reduced_indices if n not in summed]
    yield from build(facts, device, source, [*summed, *others], order)


def _rows_on_gpu(
    facts: Facts, device: Device, source: Tensor, summed: list[str], order: list[str]
) -> Iterator[Schedule]:
    first = summed[0]
    width = lanes(device, [source], facts.extents[first])
    rows = [n for n in order if n not in summed]
    most = power_above(facts.extents[first] // width)
    for items in (1, 4, 8, 32, 128, 256, 512, 1024):
        if not min(LEAST_ITEMS, most // 2) <= items <= most:
            continue
        for count in (1, 4):
            loops = Loops(facts)
            loops.add(first, width, Role.VECTOR)
            left = loops.share([first], items)
            loops.share(rows, max(1, ITEMS // items))
            if count > 1 and loops.rest(first) < 2:
                continue
            loops.add(first, min(count, loops.rest(first)), Role.UNROLL)
            if left > 1:
                loops.share(summed[1:], left)
            loops.serial(summed)
            yield loops.schedule()
    if len(summed) > 1:
        loops = Loops(facts)
        loops.add(first, width, Role.VECTOR)
        loops.share(summed, ITEMS)
        loops.serial(summed)
        yield loops.schedule()


def _columns_on_gpu(
    facts: Facts, device: Device, source: Tensor, summed: list[str], order: list[str]
) -> Iterator[Schedule]:
    first, longest = order[0], max(summed, key=lambda n: facts.extents[n])
    widest = lanes(device, [source], facts.extents[first])
    is_short = prod(facts.extents[n] for n in summed) <= SHORT
    for width in {1, widest}:
        for columns in (32, 64, 128, 256):
            for parts in (1, 4, 8, 16):
                if columns * parts > 2 * ITEMS or parts > facts.extents[longest]:
                    continue
                if columns * parts < LEAST_ITEMS and columns < facts.extents[first]:
                    continue
                for count in (1, 4):
                    loops = Loops(facts)
                    loops.add(first, width, Role.VECTOR)
                    loops.share([first], columns)
                    if parts > 1:
                        loops.add(longest, parts, Role.LOCAL, "y")
                    loops.add(longest, min(count, loops.rest(longest)), Role.UNROLL)
                    if is_short:
                        loops.add(first, min(COLUMNS_OF_ITEM, loops.rest(first)), Role.UNROLL)
                    loops.serial(summed)
                    yield loops.schedule()


def _rows_on_cpu(
    facts: Facts, device: Device, source: Tensor, summed: list[str], order: list[str]
) -> Iterator[Schedule]:
    first = summed[0]
    width = lanes(device, [source], facts.extents[first])
    rows = [n for n in order if n not in summed]
    length = facts.points
    for n in facts.output_indices:
        length //= max(1, facts.extents[n])
    for count in unrolls(facts.extents[first], width, 4):
        is_short = len(summed) > 1 and facts.extents[first] == width * count
        for together in (1, TOGETHER) if is_short and rows else (1,):
            if together > 1 and facts.extents[rows[0]] % together:
                continue
            loops = Loops(facts)
            loops.add(first, width, Role.VECTOR)
            loops.add(first, count, Role.UNROLL)
            if together > 1:
                loops.add(rows[0], together, Role.UNROLL)
            loops.serial(summed)
            work = work_of_group(facts, device) // max(length * together, 1)
            loops.work(rows, max(1, work))
            yield loops.schedule()


def _columns_on_cpu(
    facts: Facts, device: Device, source: Tensor, summed: list[str], order: list[str]
) -> Iterator[Schedule]:
    first = order[0]
    width = lanes(device, [source], facts.extents[first])
    yield from columns_on_cpu(facts, device, summed, [n for n in order if n not in summed], most=16)
    for groups in (1, 2, 4, 8):
        panel = facts.extents[first] // (groups * device.compute_units)
        for count in (1, 4):
            for together in (4, 8):
                if not panel or panel % (width * count) or facts.extents[summed[0]] % together:
                    continue
                loops = Loops(facts)
                loops.add(first, width, Role.VECTOR)
                loops.add(first, count, Role.UNROLL)
                loops.add(summed[0], together, Role.UNROLL)
                loops.add(first, panel // (width * count), Role.SERIAL)
                loops.serial(summed)
                yield loops.schedule()
