"""Windows of few taps that slide over a tensor: pooling, stencils, depthwise convolutions.

The taps are unrolled, and with them some neighbouring windows, so that their common elements are
loaded once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from math import prod

from tiledialect.schedule.cost.device import Device, Kind
from tiledialect.schedule.cost.facts import Facts, Tensor, padded_indices
from tiledialect.schedule.loops import PARALLEL, Role, Schedule, Stage
from tiledialect.schedule.search.candidates.memory import (
    ITEMS,
    Loops,
    are_known,
    by_stride,
    lanes,
    unrolls,
    vectors_of_line,
    work_of_group,
)

MAX_TAPS = 128
"""Windows of more taps are contractions."""
SHORTEST = 8
"""Shorter vectors are not worth writing out windows for on CPUs."""
LANES_AT_EDGES = 256
"""Most unrolled lanes of taps that cross an edge, one by one."""
MOST_CLASSES = 16
"""Most residue classes of the output of windows."""
MOST_UNROLLED = {Kind.CPU: 64, Kind.GPU: 72}
"""Most unrolled taps of neighbouring windows; on GPUs 8 windows of 3 x 3."""


def windows(facts: Facts, device: Device) -> Iterator[Schedule]:
    """The ways to go through the windows."""
    if not facts.aggregates or not facts.reduced_indices:
        return
    if not facts.inputs or not are_known(facts.inputs):
        return
    taps = [n for n in facts.reduced_indices if facts.extents[n] > 1]
    slid = [t for t in facts.inputs if set(taps) <= t.names]
    if prod(facts.extents[n] for n in taps) > MAX_TAPS or not slid:
        return
    source = max(slid, key=lambda t: t.size)
    order = by_stride(facts.outputs[0], facts.output_indices, facts)
    if not order or not _moves(facts, source, order):
        return
    if not any(_meets(source, n, taps) for n in order):
        return
    taps.sort(key=lambda n: abs(source.strides[n]))
    build = _on_cpu if device.is_cpu else _on_gpu
    yield from build(facts, device, source, order, taps)


def _moves(facts: Facts, source: Tensor, order: list[str]) -> bool:
    """Whether the output's indices, except residue classes, move the tensor that the taps slide
    over."""
    others = [n for n in order if n not in source.names]
    return not others or (
        not facts.is_product and prod(facts.extents[n] for n in others) <= MOST_CLASSES
    )


def sliding(facts: Facts, source: Tensor, order: list[str], taps: list[str]) -> str | None:
    """Index that moves overlapping windows, slower than the fastest one if possible."""
    mixed = {n for e in source.access or () if set(e.names) & set(taps) for n in e.names}
    found = [n for n in order if n in mixed]
    return next((n for n in found if n != order[0]), None)


def _tiles(
    facts: Facts, slid: str | None, taps: list[str], unrolled: int
) -> Iterator[tuple[int, int]]:
    """Numbers of unrolled neighbouring windows and of unrolled loops over taps."""
    most = facts.extents[slid] if slid is not None else 1
    for count in unrolls(most, 1, 8):
        inside, copies = 0, count
        for n in taps:
            if copies * facts.extents[n] > unrolled:
                break
            copies *= facts.extents[n]
            inside += 1
        yield count, inside


def _on_gpu(
    facts: Facts, device: Device, source: Tensor, order: list[str], taps: list[str]
) -> Iterator[Schedule]:
    first, slid = order[0], sliding(facts, source, order, taps)
    plain = source.strides.get(first) == 1 and not _meets(source, first, taps)
    width = lanes(device, [source], facts.extents[first]) if plain else 1
    for count, inside in _tiles(facts, slid, taps, MOST_UNROLLED[device.kind]):
        loops = Loops(facts)
        loops.add(first, width, Role.VECTOR)
        if slid is not None:
            loops.add(slid, count, Role.UNROLL)
        _taps(loops, facts, taps, inside)
        loops.share(order, ITEMS // 2)
        yield loops.schedule()


def _on_cpu(
    facts: Facts, device: Device, source: Tensor, order: list[str], taps: list[str]
) -> Iterator[Schedule]:
    first, slid = order[0], sliding(facts, source, order, taps)
    one_by_one = source.strides.get(first) == 1
    width = lanes(device, [source], facts.extents[first]) if one_by_one else 1
    if width < SHORTEST:
        return
    # At an edge along the vector, each lane has tests of its own.
    is_slid = _meets(source, first, taps)
    at_edges = LANES_AT_EDGES // width if is_slid else MOST_UNROLLED[device.kind]
    # Lines that are written in two pieces with others between them are written twice.
    columns = 1 if is_slid else vectors_of_line(source, width, facts.extents[first])
    for count, inside in _tiles(facts, slid, taps, at_edges // columns):
        loops = Loops(facts)
        loops.add(first, width, Role.VECTOR)
        loops.add(first, columns, Role.UNROLL)
        if slid is not None:
            loops.add(slid, count, Role.UNROLL)
        _taps(loops, facts, taps, inside)
        done = width * columns * count * prod(facts.extents[n] for n in taps)
        loops.work(order, max(1, work_of_group(facts, device) // done))
        yield loops.schedule()
        if is_slid and first in padded_indices(facts, source):
            alike = [t for t in facts.inputs if t.access == source.access]
            yield _staged(loops.schedule(), alike, taps, width)


def _staged(schedule: Schedule, sources: Sequence[Tensor], taps: list[str], width: int) -> Schedule:
    """Schedule with staged tensors, with zeros, for example, around them: no lane is tested
    then."""
    source = sources[0]
    outside = takewhile(
        lambda level: level.role in PARALLEL or not _meets(source, level.index, taps),
        schedule.levels,
    )
    places = [
        level for level in outside if level.role is Role.SERIAL and level.index in source.names
    ]
    at = (places[-1].index, places[-1].stride) if places else None
    numbers = dict.fromkeys(t.number for t in sources)
    stages = tuple(Stage(number, local=True, at=at, vector=width) for number in numbers)
    return replace(schedule, stages=stages)


def _taps(loops: Loops, facts: Facts, taps: list[str], inside: int) -> None:
    """Add the loops over the taps, the first ``inside`` of them unrolled."""
    for k, n in enumerate(taps):
        loops.add(n, facts.extents[n], Role.UNROLL if k < inside else Role.SERIAL)
    loops.serial(n for n in facts.reduced_indices if n not in taps)


def _meets(source: Tensor, name: str, taps: list[str]) -> bool:
    """Whether an index moves along an axis on which there are taps."""
    return any(name in e.names and set(e.names) & set(taps) for e in source.access or ())
