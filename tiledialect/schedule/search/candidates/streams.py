"""Kernels that reduce nothing: elementwise ones that stream through memory once, and copies.

On a GPU neighbouring work-items have neighbouring accesses of 16 bytes, and each has several. On a
CPU a work-item has wide vectors of a long piece of the output. Where input and output have
different fastest indices, squares go through local memory on a GPU, so that both sides are rows
there; a CPU uses up the lines of the input that it reads while they are in its first cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from math import prod

from tiledialect.schedule.cost.device import LINE, Device
from tiledialect.schedule.cost.facts import Facts, Tensor, between_lanes
from tiledialect.schedule.loops import LONG_LANES, SHORT_ROW, Role, Schedule, Stage
from tiledialect.schedule.search.candidates.levels import (
    ITEMS,
    LEAST_WORK,
    Levels,
    lanes,
    power_above,
    unrolls,
    vectors_of_line,
    work_of_group,
)
from tiledialect.schedule.search.candidates.roles import by_stride, written

MOVED = 32
"""Most bytes of a tensor in a work-item of a GPU: with more, few are in flight."""
FEW_OPERATIONS = 8
"""Operations up to which vectors of neighbouring work-items are not worth it where rows are short.

Compilers gather and scatter the lanes of these one by one: mirrored rows of pixels of 3 floats took
2380 us on Zen 5 so, and 70 one number after the other.
"""
INTERLEAVED = 4
"""Most elements between the lanes of vectors whose stores are interleaved."""
LEAST_SQUARES = 1 << 10
"""Fewest points of squares for a group of a CPU; of smaller squares it has several."""


def streams(facts: Facts, device: Device) -> Iterator[Schedule]:
    """The ways to go through the output of a kernel that reduces nothing, or single points."""
    if facts.is_rows or any(facts.extents[n] > 1 for n in facts.reduced_indices):
        return
    order = written(facts)
    if device.is_cpu:
        yield from _interleaved(facts, device, order)
    if not order or any(is_transposed(t, order[0]) for t in facts.inputs):
        return
    yield from (_on_cpu if device.is_cpu else _on_gpu)(facts, device, order)


def is_transposed(tensor: Tensor, first: str) -> bool:
    """Whether another index than the output's fastest one is the fastest of a tensor."""
    return abs(tensor.strides.get(first, 0)) > 1 and bool(tensor.contiguous)


def _on_gpu(facts: Facts, device: Device, order: list[str]) -> Iterator[Schedule]:
    first, *others = order
    width = _width(facts, device, first)
    most = MOVED // (width * max(t.bytes for t in facts.outputs))
    counts = [n for n in (1, 2, 4, 8) if n <= most]
    for count, items in product(counts, (ITEMS // 2, ITEMS)):
        levels = Levels(facts).vector(first, width).share(order, items)
        index = next((n for n in order if levels.rest(n) >= count), None)
        if index is not None:
            yield levels.unroll(index, count).schedule()
    slid = next((n for n in others if n in _slid(facts)), None)
    for count in counts[1:] if slid is not None else ():
        if count <= facts.extents[slid or first]:
            levels = Levels(facts).vector(first, width).share([first], ITEMS)
            yield levels.unroll(slid, count).schedule()


def _slid(facts: Facts) -> set[str]:
    """Indices along which neighbours share reads of some tensor.

    An example is a stencil: reads that the rows of a work-item share come from memory once.
    """
    found: set[str] = set()
    for t, u in combinations(facts.inputs, 2):
        if t.number == u.number and t.access is not None and u.access is not None:
            apart = [a - b for a, b in zip(t.access, u.access, strict=True)]
            if all(e.is_constant for e in apart):
                moved = zip(t.access, apart, strict=True)
                found.update(n for e, offset in moved if offset.constant for n in e.names)
    return found


def _on_cpu(facts: Facts, device: Device, order: list[str]) -> Iterator[Schedule]:
    first, *others = order
    extent = facts.extents[first]
    width = lanes(device, facts.outputs, extent)
    for count in unrolls(extent, width, 2):
        levels = Levels(facts)
        if extent < SHORT_ROW and facts.operations <= FEW_OPERATIONS:
            levels.unroll(first, extent)
        elif extent < SHORT_ROW and others:
            # The compiler makes vectors of neighbouring work-items.
            levels.unroll(first, extent).share(others, ITEMS)
        else:
            levels.vector(first, width).unroll(first, count)
        done = ITEMS if levels.items else levels.points
        yield levels.work(order, work_of_group(facts, device, done)).schedule()


def _interleaved(facts: Facts, device: Device, order: list[str]) -> Iterator[Schedule]:
    """Schedules of vectors along the second index, with the stores of all values of the first
    interleaved."""
    if len(order) < 2 or between_lanes(facts, order[1]) != order[0]:
        return
    first, second, *_ = order
    own, extent = facts.extents[first], facts.extents[second]
    width = lanes(device, facts.outputs, extent)
    if own > INTERLEAVED or width < LONG_LANES:
        return
    if not all(_lies_along(t, first, second, facts) for t in facts.inputs):
        return
    for count in unrolls(extent, width, 2):
        levels = Levels(facts).vector(second, width).unroll(second, count).unroll(first, own)
        yield levels.work(order[1:], work_of_group(facts, device, levels.points)).schedule()


def _lies_along(tensor: Tensor, first: str, second: str, facts: Facts) -> bool:
    """Whether vectors along the second index are read in a row, or interleaved as they are written.

    Either may be the last one first.
    """
    stride = abs(tensor.strides.get(second, 0))
    return stride in (0, 1) or (stride == facts.extents[first] and tensor.strides.get(first) == 1)


def _width(facts: Facts, device: Device, first: str) -> int:
    """The lanes of a vector along an index: 1 where some tensor has no neighbours there."""
    tensors = (*facts.inputs, *facts.outputs)
    strides = {t.strides.get(first, 0) for t in tensors if t.access is not None}
    if strides - {0, 1}:
        return 1
    # A lone row has one end, which is tested for; of many each begins at another place of 16 bytes.
    is_alone = all(prod(t.shape) == facts.extents[first] for t in tensors)
    extent = facts.extents[first]
    width = lanes(device, facts.outputs, power_above(extent) if is_alone else extent)
    # Neighbours that begin elsewhere are loaded one by one, each time from as many lines.
    return 1 if any(_begins_inside(t, first, width) for t in facts.inputs) else width


def _begins_inside(tensor: Tensor, first: str, width: int) -> bool:
    """Whether the vectors along an index are read at no multiple of their width."""
    is_along = tensor.access is not None and tensor.strides.get(first) == 1
    return is_along and bool(tensor.access) and tensor.access[-1].constant % width != 0


# -- transpositions --------------------------------------------------------------------------------


def transpositions(facts: Facts, device: Device) -> Iterator[Schedule]:
    """The ways to copy the squares that two indices make."""
    if facts.is_rows or facts.aggregation != "assign" or len(facts.inputs) != 1:
        return
    (source,) = facts.inputs
    order, read = written(facts), by_stride(source, facts.output_indices, facts)
    if not read or not order or read[0] == order[0] or source.strides[read[0]] != 1:
        return
    build = _squares_on_cpu if device.is_cpu else _squares_on_gpu
    yield from build(facts, device, source, order, read[0])


def _squares_on_gpu(
    facts: Facts, device: Device, source: Tensor, order: list[str], along: str
) -> Iterator[Schedule]:
    first = order[0]
    width = min(lanes(device, [source], facts.extents[n]) for n in (first, along))
    axis = next((k for k, e in enumerate(source.access or ()) if first in e.names), None)
    if axis is None:
        return
    axes = (*(k for k in range(len(source.shape)) if k != axis), axis)
    columns = 64 // width if width > 1 else 32
    for count, items in product((4, 2), (ITEMS, ITEMS // 2)):
        levels = Levels(facts).vector(first, width).add(along, count, Role.UNROLL)
        levels.item(first, columns).item(along, items // columns)
        yield levels.schedule([Stage(source.number, True, pad=width, order=axes, vector=width)])


def _squares_on_cpu(
    facts: Facts, device: Device, source: Tensor, order: list[str], along: str
) -> Iterator[Schedule]:
    first = order[0]
    line = max(1, LINE // source.bytes)
    for width, role in product({min(8, line), min(16, line)}, (Role.UNROLL, Role.SERIAL)):
        columns = vectors_of_line(facts.outputs[0], width, facts.extents[first])
        levels = Levels(facts).vector(first, width).add(first, columns, Role.UNROLL)
        levels.add(along, min(line, levels.rest(along)), role)
        levels.work([along, first], work_of_group(facts, device, levels.points))
        if levels.points < LEAST_SQUARES:
            levels.work(order, max(1, LEAST_WORK // levels.points))
        yield levels.schedule()
