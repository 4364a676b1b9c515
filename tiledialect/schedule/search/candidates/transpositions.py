"""Copies whose input and output have different fastest indices.

Squares go through local memory on a GPU, so that both sides are rows there. A CPU uses up the lines
of the input that it reads while they are in its first cache, and writes vectors.
"""

from __future__ import annotations

from collections.abc import Iterator

from tiledialect.schedule.cost.device import LINE, Device
from tiledialect.schedule.cost.facts import Facts, Tensor
from tiledialect.schedule.loops import Role, Schedule, Stage
from tiledialect.schedule.search.candidates.memory import (
    ITEMS,
    LEAST_WORK,
    Loops,
    by_stride,
    lanes,
    largest,
    vectors_of_line,
    work_of_group,
)

LEAST_SQUARES = 1 << 10
"""Fewest points of squares for a group of a CPU; of smaller squares it has several."""


def transpositions(facts: Facts, device: Device) -> Iterator[Schedule]:
    """The ways to copy the squares that two indices make."""
    if facts.is_rows or facts.aggregation != "assign" or len(facts.inputs) != 1:
        return
    source = largest(facts)
    written = by_stride(facts.outputs[0], facts.output_indices, facts)
    read = by_stride(source, facts.output_indices, facts)
    if not read or not written or read[0] == written[0] or source.strides[read[0]] != 1:
        return
    build = _on_cpu if device.is_cpu else _on_gpu
    yield from build(facts, device, source, written, read[0])


def _on_gpu(
    facts: Facts, device: Device, source: Tensor, written: list[str], along: str
) -> Iterator[Schedule]:
    first = written[0]
    width = min(lanes(device, [source], facts.extents[n]) for n in (first, along))
    axis = next((k for k, e in enumerate(source.access or ()) if first in e.names), None)
    if axis is None:
        return
    order = (*(k for k in range(len(source.shape)) if k != axis), axis)
    columns = 64 // width if width > 1 else 32
    for count in (4, 2):
        for items in (ITEMS, ITEMS // 2):
            loops = Loops(facts)
            loops.add(first, width, Role.VECTOR)
            loops.add(along, count, Role.UNROLL)
            loops.add(first, columns, Role.LOCAL, "x")
            loops.add(along, items // columns, Role.LOCAL, "x")
            yield loops.schedule([Stage(source.number, True, pad=width, order=order, vector=width)])


def _on_cpu(
    facts: Facts, device: Device, source: Tensor, written: list[str], along: str
) -> Iterator[Schedule]:
    first = written[0]
    line = max(1, LINE // source.bytes)
    for width in {min(8, line), min(16, line)}:
        columns = vectors_of_line(facts.outputs[0], width, facts.extents[first])
        for role in (Role.UNROLL, Role.SERIAL):
            loops = Loops(facts)
            loops.add(first, width, Role.VECTOR)
            loops.add(first, columns, Role.UNROLL)
            loops.add(along, min(line, loops.rest(along)), role)
            points = work_of_group(facts, device)
            loops.work([along, first], max(1, points // loops.points))
            if loops.points < LEAST_SQUARES:
                loops.work(written, max(1, LEAST_WORK // loops.points))
            yield loops.schedule()
