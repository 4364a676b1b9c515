"""Sums along memory on CPUs: the lanes of a vector add neighbours, and are added up at the end.

Matrix times vector, sums of rows, and the like: what is summed over runs along the memory of the
largest operand, which is read once, some rows at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

from tiledialect.schedule.candidates.loops import ceil_div, kept
from tiledialect.schedule.candidates.memory import even_share
from tiledialect.schedule.default import on_grid
from tiledialect.schedule.device import Device, Kind
from tiledialect.schedule.facts import Facts
from tiledialect.schedule.leaves import Leaf, Role, Schedule

ROWS = (1, 2, 4, 8)
"""How many sums are made at a time."""
STEPS = (1, 2, 4)
"""How many vectors of a row are added in a step."""
GROUPS = (1, 4, 16, 64)
"""How many work-groups there should be for each core, at least."""


def cpu_rows(facts: Facts, device: Device) -> Iterator[Schedule]:
    """Some rows and vectors at a time."""
    if device.kind is not Kind.CPU or not facts.aggregates or not facts.inputs:
        return
    if not facts.points or any(t.access is None for t in facts.inputs):
        return
    largest = max(facts.inputs, key=lambda t: t.size)
    lanes = device.lanes(largest.type, largest.bytes)
    along = [
        name
        for name in facts.reduced_indices
        if largest.strides.get(name) == 1 and facts.extents[name] >= lanes
    ]
    if not along or lanes == 1:
        return
    for rows in ROWS:
        for steps in STEPS:
            for groups in GROUPS:
                yield _schedule(facts, along[0], lanes, rows, steps, groups * device.compute_units)


def _schedule(facts: Facts, k: str, lanes: int, rows: int, steps: int, groups: int) -> Schedule:
    extents = facts.extents
    outputs = [name for name in facts.output_indices if extents[name] > 1]
    step = {outputs[-1]: min(rows, extents[outputs[-1]])} if outputs else {}
    counts = {name: ceil_div(extents[name], step.get(name, 1)) for name in outputs}
    grid: list[tuple[str, int, int]] = []
    serial: list[Leaf] = []
    for name in outputs:
        # The outermost index that has enough values gives the groups; what is inside are loops.
        size = even_share(counts[name], counts[name] // groups) if groups > 1 else counts[name]
        groups = ceil_div(groups, ceil_div(counts[name], size))
        if size < counts[name]:
            grid.append((name, size * step.get(name, 1), ceil_div(counts[name], size)))
        serial.append(Leaf(name, step.get(name, 1), size, Role.SERIAL))
    others = [
        Leaf(name, 1, extents[name], Role.SERIAL) for name in facts.reduced_indices if name != k
    ]
    body = [
        Leaf(k, lanes * steps, ceil_div(extents[k], lanes * steps), Role.SERIAL),
        Leaf(k, lanes, steps, Role.UNROLL),
        *(Leaf(name, 1, count, Role.UNROLL) for name, count in step.items()),
        Leaf(k, 1, lanes, Role.VECTOR),
    ]
    return Schedule((*on_grid(grid), *kept((*serial, *others, *body))))
