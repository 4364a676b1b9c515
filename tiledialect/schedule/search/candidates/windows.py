"""Windows of few taps that slide over a tensor: pooling, stencils, depthwise convolutions.

The taps are unrolled, and with them some neighbouring windows, so that their common elements are
loaded once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from math import prod

from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.facts import Facts, Tensor, padded_indices
from tiledialect.schedule.cost.traits import Kind
from tiledialect.schedule.loops import PARALLEL, Role, Schedule, Stage
from tiledialect.schedule.search.candidates.contraction_roles import SHORTEST
from tiledialect.schedule.search.candidates.levels import (
    ITEMS,
    Levels,
    lanes,
    unrolls,
    vectors_of_line,
    work_of_group,
)
from tiledialect.schedule.search.candidates.roles import Roles, meets, slid_over

LANES_AT_EDGES = 256
"""Most unrolled lanes of taps that cross an edge, one by one."""
MOST_UNROLLED = {Kind.CPU: 64, Kind.GPU: 72}
"""Most unrolled taps of neighbouring windows; on GPUs 8 windows of 3 x 3."""


def windows(facts: Facts, r: Roles, device: Device) -> Iterator[Schedule]:
    """The ways to go through the windows."""
    first, taps, source = r.along, r.taps, slid_over(facts, r.taps)
    traits = device.traits
    assert source is not None
    is_slid = meets(source, first, taps)
    is_row = source.strides.get(first) == 1 and (traits.unaligned_vectors or not is_slid)
    width = lanes(device, [source], facts.extents[first]) if is_row else 1
    if traits.has_vectors and width < SHORTEST:
        return
    # At an edge along the vector, each lane has tests of its own.
    tests_lanes = traits.has_vectors and is_slid
    most = LANES_AT_EDGES // width if tests_lanes else MOST_UNROLLED[device.kind]
    # Lines that are written in two pieces with others between them are written twice.
    in_lines = traits.has_vectors and not is_slid
    columns = vectors_of_line(source, width, facts.extents[first]) if in_lines else 1
    # Windows that overlap along a slower index than the fastest one share elements.
    slid = next((n for n in r.rows if meets(source, n, taps)), None)
    for count, inside in _tiles(facts, slid, taps, most // columns):
        levels = Levels(facts).vector(first, width).unroll(first, columns).unroll(slid, count)
        levels.whole(taps[:inside], Role.UNROLL).whole(taps[inside:])
        if traits.has_vectors:
            levels.work(r.outputs, work_of_group(facts, device, levels.points))
        else:
            levels.share(r.outputs, ITEMS // 2)
        yield levels.schedule()
        if tests_lanes and first in padded_indices(facts, source):
            alike = [t for t in facts.inputs if t.access == source.access]
            yield _staged(levels.schedule(), alike, taps, width)


def _tiles(
    facts: Facts, slid: str | None, taps: Sequence[str], unrolled: int
) -> Iterator[tuple[int, int]]:
    """Numbers of unrolled neighbouring windows and of unrolled loops over taps."""
    most = facts.extents[slid] if slid is not None else 1
    for count in unrolls(most, 1, 8):
        reached = [count * prod(facts.extents[n] for n in taps[: k + 1]) for k in range(len(taps))]
        yield count, sum(copies <= unrolled for copies in reached)


def _staged(
    schedule: Schedule, sources: Sequence[Tensor], taps: Sequence[str], width: int
) -> Schedule:
    """Schedule with staged tensors, with zeros, for example, around them: no lane is tested
    then."""
    source = sources[0]
    outside = takewhile(
        lambda level: level.role in PARALLEL or not meets(source, level.index, taps),
        schedule.levels,
    )
    places = [
        level for level in outside if level.role is Role.SERIAL and level.index in source.names
    ]
    at = (places[-1].index, places[-1].stride) if places else None
    numbers = dict.fromkeys(t.number for t in sources)
    stages = tuple(Stage(number, local=True, at=at, vector=width) for number in numbers)
    return replace(schedule, stages=stages)
