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
from tiledialect.schedule.cost.facts import Facts, Tensor
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
from tiledialect.schedule.search.candidates.roles import Roles, written

MOVED = 32
"""Most bytes of a tensor in a work-item of a GPU: with more, few are in flight."""
FEW_OPERATIONS = 8
"""Operations up to which vectors of neighbouring work-items are not worth it where rows are short.

Compilers gather and scatter the lanes of these one by one: mirrored rows of pixels of 3 floats took
2380 us on Zen 5 so, and 70 one number after the other.
"""
LEAST_SQUARES = 1 << 10
"""Fewest points of squares for a group of a CPU; of smaller squares it has several."""


def streams_on_gpu(facts: Facts, r: Roles, device: Device) -> Iterator[Schedule]:
    """Streams with neighbouring accesses of neighbouring work-items."""
    first = r.along
    width = _width(facts, device, first)
    most = MOVED // (width * max(t.bytes for t in facts.outputs))
    counts = [n for n in (1, 2, 4, 8) if n <= most]
    for count, items in product(counts, (ITEMS // 2, ITEMS)):
        levels = Levels(facts).vector(first, width).share(r.outputs, items)
        index = next((n for n in r.outputs if levels.rest(n) >= count), None)
        if index is not None:
            yield levels.unroll(index, count).schedule()
    slid = next((n for n in r.rows if n in _slid(facts)), None)
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


def streams_on_cpu(facts: Facts, r: Roles, device: Device) -> Iterator[Schedule]:
    """Streams of vectors, or of whole short rows."""
    first, extent = r.along, facts.extents[r.along]
    width = lanes(device, facts.outputs, extent)
    for count in unrolls(extent, width, 2):
        levels = Levels(facts)
        if extent < SHORT_ROW and facts.operations <= FEW_OPERATIONS:
            levels.unroll(first, extent)
        elif extent < SHORT_ROW and r.rows:
            # The compiler makes vectors of neighbouring work-items.
            levels.unroll(first, extent).share(r.rows, ITEMS)
        else:
            levels.vector(first, width).unroll(first, count)
        done = ITEMS if levels.items else levels.points
        yield levels.work(r.outputs, work_of_group(facts, device, done)).schedule()


def interleaved(facts: Facts, r: Roles, device: Device) -> Iterator[Schedule]:
    """Schedules of vectors with the stores of all values of the first row interleaved."""
    first, *others = r.rows
    width = lanes(device, facts.outputs, facts.extents[r.along])
    for count in unrolls(facts.extents[r.along], width, 2) if width >= LONG_LANES else ():
        levels = Levels(facts).vector(r.along, width).unroll(r.along, count)
        levels.unroll(first, facts.extents[first])
        work = work_of_group(facts, device, levels.points)
        yield levels.work((r.along, *others), work).schedule()


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


def squares_on_gpu(facts: Facts, r: Roles, device: Device) -> Iterator[Schedule]:
    """Copies of squares through local memory."""
    (source,), first, along = facts.inputs, r.along, r.rows[0]
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


def squares_on_cpu(facts: Facts, r: Roles, device: Device) -> Iterator[Schedule]:
    """Copies of squares of lines of the input."""
    (source,), first, along = facts.inputs, r.along, r.rows[0]
    line = max(1, LINE // source.bytes)
    for width, role in product({min(8, line), min(16, line)}, (Role.UNROLL, Role.SERIAL)):
        columns = vectors_of_line(facts.outputs[0], width, facts.extents[first])
        levels = Levels(facts).vector(first, width).add(first, columns, Role.UNROLL)
        levels.add(along, min(line, levels.rest(along)), role)
        levels.work([along, first], work_of_group(facts, device, levels.points))
        if levels.points < LEAST_SQUARES:
            levels.work(written(facts), max(1, LEAST_WORK // levels.points))
        yield levels.schedule()
