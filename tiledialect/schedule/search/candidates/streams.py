"""Kernels that stream through memory once: elementwise ones, and those without reductions, as
copies.

On a GPU neighbouring work-items have neighbouring accesses of 16 bytes, and each has several. On a
CPU a work-item has wide vectors of a long piece of the output.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import prod

from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.facts import Facts, Tensor, between_lanes
from tiledialect.schedule.loops import LONG_LANES, SHORT_ROW, Role, Schedule
from tiledialect.schedule.search.candidates.memory import (
    ITEMS,
    Loops,
    by_stride,
    lanes,
    power_above,
    unrolls,
    work_of_group,
)

MOVED = 32
"""Most bytes of a tensor in a work-item of a GPU: with more, few are in flight."""
FEW_OPERATIONS = 8
"""Operations up to which vectors of neighbouring work-items are not worth it where rows are short.

Compilers gather and scatter the lanes of these one by one: mirrored rows of pixels of 3 floats took
2380 us on Zen 5 so, and 70 one number after the other.
"""
INTERLEAVED = 4
"""Most elements between the lanes of vectors whose stores are interleaved."""


def streams(facts: Facts, device: Device) -> Iterator[Schedule]:
    """The ways to go through the output of a kernel that reduces nothing, or single points."""
    if facts.is_rows or any(facts.extents[n] > 1 for n in facts.reduced_indices):
        return
    order = by_stride(facts.outputs[0], facts.output_indices, facts)
    if device.is_cpu:
        yield from _interleaved(facts, device, order)
    if not order or any(is_transposed(t, order[0]) for t in facts.inputs):
        return
    build = _on_cpu if device.is_cpu else _on_gpu
    yield from build(facts, device, order)


def is_transposed(tensor: Tensor, first: str) -> bool:
    """Whether another index than the output's fastest one is the fastest of a tensor."""
    return abs(tensor.strides.get(first, 0)) > 1 and bool(tensor.contiguous)


def _on_gpu(facts: Facts, device: Device, order: list[str]) -> Iterator[Schedule]:
    first = order[0]
    width = _width(facts, device, first)
    most = MOVED // (width * max(t.bytes for t in facts.outputs))
    for count in (n for n in (1, 2, 4, 8) if n <= most):
        for items in (ITEMS // 2, ITEMS):
            loops = Loops(facts)
            loops.add(first, width, Role.VECTOR)
            loops.share(order, items)
            index = next((n for n in order if loops.rest(n) >= count), None)
            if index is not None:
                loops.add(index, count, Role.UNROLL)
                yield loops.schedule()
    for slid in _slid(facts, order)[:1]:
        for count in (n for n in (2, 4, 8) if n <= min(most, facts.extents[slid])):
            loops = Loops(facts)
            loops.add(first, width, Role.VECTOR)
            loops.share(order[:1], ITEMS)
            loops.add(slid, count, Role.UNROLL)
            yield loops.schedule()


def _slid(facts: Facts, order: list[str]) -> list[str]:
    """Slower indices along which neighbours share reads of some tensor, the fastest first.

    An example is a stencil: reads that the rows of a work-item share come from memory once.
    """
    found: set[str] = set()
    for t, u in combinations(facts.inputs, 2):
        if t.number == u.number and t.access is not None and u.access is not None:
            apart = [a - b for a, b in zip(t.access, u.access, strict=True)]
            if all(e.is_constant for e in apart):
                moved = zip(t.access, apart, strict=True)
                found.update(n for e, offset in moved if offset.constant for n in e.names)
    return [n for n in order[1:] if n in found]


def _on_cpu(facts: Facts, device: Device, order: list[str]) -> Iterator[Schedule]:
    first, *others = order
    width = lanes(device, facts.outputs, facts.extents[first])
    for count in unrolls(facts.extents[first], width, 2):
        loops = Loops(facts)
        points = work_of_group(facts, device)
        if facts.extents[first] < SHORT_ROW and facts.operations <= FEW_OPERATIONS:
            loops.add(first, loops.rest(first), Role.UNROLL)
            points //= facts.extents[first]
        elif facts.extents[first] < SHORT_ROW and others:
            # The compiler makes vectors of neighbouring work-items.
            loops.add(
                first, loops.rest(first), Role.UNROLL if loops.rest(first) <= 8 else Role.SERIAL
            )
            loops.share(others, ITEMS)
            points //= ITEMS
        else:
            loops.add(first, width, Role.VECTOR)
            loops.add(first, count, Role.UNROLL)
            points //= width * count
        loops.work(order, points)
        yield loops.schedule()


def _interleaved(facts: Facts, device: Device, order: list[str]) -> Iterator[Schedule]:
    """Schedules of vectors along the second index, with the stores of all values of the first
    interleaved."""
    if len(order) < 2 or between_lanes(facts, order[1]) != order[0]:
        return
    first, second, *_ = order
    width = lanes(device, facts.outputs, facts.extents[second])
    if facts.extents[first] > INTERLEAVED:
        return
    if width < LONG_LANES or not all(_lies_along(t, first, second, facts) for t in facts.inputs):
        return
    for count in unrolls(facts.extents[second], width, 2):
        loops = Loops(facts)
        loops.add(second, width, Role.VECTOR)
        loops.add(second, count, Role.UNROLL)
        loops.add(first, facts.extents[first], Role.UNROLL)
        done = width * count * facts.extents[first]
        loops.work(order[1:], max(1, work_of_group(facts, device) // done))
        yield loops.schedule()


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
