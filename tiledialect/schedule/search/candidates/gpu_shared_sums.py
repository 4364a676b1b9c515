"""Contractions of few results and long sums on GPUs: the work-items of a group share the sums.

Each has a small tile of results in registers, for its part of the points, and reads the operands in
place. So a weight gradient of a depthwise convolution reads an image once for all taps, and a
product of two long operands needs no second kernel for partial results.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.facts import Facts
from tiledialect.schedule.loops import Role, Schedule
from tiledialect.schedule.search.candidates.memory import Loops, are_known, by_stride, lanes

LEAST_SUM = 256
"""Fewest points of each sum: fewer are not worth joining."""
MAX_TAPS = 16
"""Most values of short indices for which an item has accumulators."""
SHORT = 8
"""Extent below which an index is short."""
TILES = (1, 4, 8)
"""Rows of an item, each of a vector of columns."""
MOST_SUMS = 64
"""Accumulators of an item, which are joined with those of others in local memory."""
ITEMS = (128, 256)
WINDOWS = 8
"""Most unrolled neighbouring points of a sliding window."""
STEPS = 4
"""Numbers of unrolled points without shared reads."""


def gpu_shared_sums(facts: Facts, device: Device) -> Iterator[Schedule]:
    """The ways to share sums of products."""
    if not device.is_gpu or not facts.is_product or not are_known(facts.inputs):
        return
    extents = facts.extents
    order = by_stride(facts.outputs[0], facts.output_indices, facts)
    summed = [n for n in facts.reduced_indices if extents[n] > 1]
    if not order or prod(extents[n] for n in summed) < LEAST_SUM:
        return
    long = [n for n in order if extents[n] >= SHORT]
    taps = [n for n in order if extents[n] < SHORT]
    if not long or prod(extents[n] for n in taps) > MAX_TAPS:
        return
    lone = {n for n in long if all(n in t.names for t in facts.inputs)}
    column = long[0]
    row = next((n for n in long[1:] if n not in lone and column not in lone), None)
    for rows in TILES if row is not None else TILES[:1]:
        for items in ITEMS:
            for columns in (1, 4, 8):
                loops = Loops(facts)
                width = lanes(device, [facts.outputs[0]], extents[column])
                loops.add(column, width, Role.VECTOR)
                if row is not None:
                    loops.add(row, min(rows, extents[row]), Role.UNROLL)
                for tap in taps:
                    loops.add(tap, extents[tap], Role.UNROLL)
                sums = prod(level.extent for level in loops.inner)
                if sums <= MOST_SUMS and columns * width <= extents[column]:
                    _share(loops, facts, column, columns, summed, items // columns)
                    yield loops.schedule()


def _share(
    loops: Loops, facts: Facts, column: str, columns: int, summed: list[str], items: int
) -> None:
    """Give items to columns and sums, the fastest in memory first, and loops over the rest."""
    if columns > 1:
        loops.add(column, columns, Role.LOCAL, "x")
    strides = {n: min(abs(t.strides[n]) for t in facts.inputs if t.strides.get(n)) for n in summed}
    order = sorted(summed, key=strides.__getitem__)
    first = order[0]
    slides = any(
        first in e.names and not {first}.issuperset(e.names)
        for t in facts.inputs
        for e in t.access or ()
    )
    if slides:
        loops.add(first, _divisor(facts.extents[first], WINDOWS), Role.UNROLL)
    for name in order:
        count = _divisor(loops.rest(name), items)
        if count > 1:
            loops.add(name, count, Role.LOCAL, "x")
            items //= count
    if not slides:
        loops.add(first, min(STEPS, loops.rest(first)), Role.UNROLL)
    loops.serial(order)


def _divisor(extent: int, most: int) -> int:
    """The largest number up to another one that divides an extent, or wastes little of it."""
    counts = range(min(extent, most), 0, -1)
    even = next(n for n in counts if extent % n == 0)
    near = next((n for n in counts if ceil_div(extent, n) * n <= extent * 17 // 16), 1)
    return even if 2 * even >= near else near
