"""Sums along memory on CPUs: lanes of a vector add neighbours, and are added up at the end.

These are matrix times vector or few columns, sums of rows, and similar kernels: the sum is over
runs along the memory of the largest operand, which is read once, some rows at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.facts import Facts, Tensor
from tiledialect.schedule.default_schedule import on_grid
from tiledialect.schedule.loops import LoopLevel, Role, Schedule, Stage
from tiledialect.schedule.search.candidates.loops import kept
from tiledialect.schedule.search.candidates.memory import even_share

ROWS = (1, 2, 4, 8)
"""Numbers of sums that are made at a time."""
STEPS = (1, 2, 4)
"""Numbers of vectors of a row that are added in a step."""
GROUPS = (1, 4, 16, 64)
"""Fewest work-groups for each core."""
MOST_OPERATIONS = 5000
"""Most operations on vectors in the innermost body: about 32 KiB of instructions, the size of the
first instruction cache. A body of so many hides its own latency."""
COLUMNS = 8
"""Numbers of results of a row that are made together, all of them."""
TILE = 24
"""Most sums, each a vector, in that case."""


def cpu_rows(facts: Facts, device: Device) -> Iterator[Schedule]:
    """Some rows and vectors at a time."""
    if not device.is_cpu or not facts.aggregates or not facts.inputs:
        return
    if not facts.points or any(t.access is None for t in facts.inputs):
        return
    extents = facts.extents
    largest = max(facts.inputs, key=lambda t: t.size)
    lanes = device.lanes(largest.type, largest.bytes)
    along = [
        name
        for name in facts.reduced_indices
        if largest.strides.get(name) == 1 and extents[name] >= lanes
    ]
    if not along or lanes == 1:
        return
    outputs = [name for name in facts.output_indices if extents[name] > 1]
    columns = [name for name in outputs if name not in largest.names]
    together = prod(extents[name] for name in columns)
    is_tiled = bool(columns) and together <= COLUMNS and len(columns) < len(outputs)
    tiles = [{outputs[-1]: rows} if outputs else {} for rows in ROWS]
    if is_tiled:
        last = [name for name in outputs if name in largest.names][-1]
        every = {name: extents[name] for name in columns}
        tiles += [{**every, last: rows} for rows in ROWS[1:] if rows * together <= TILE]
    for tile in tiles:
        tile = {name: min(rows, extents[name]) for name, rows in tile.items()}
        for steps in STEPS:
            copies = steps * prod(tile.values())
            if copies > 1 and copies * facts.operations > MOST_OPERATIONS:
                continue
            for groups in GROUPS:
                shape = Shape(along[0], lanes, tile, steps, groups * device.compute_units)
                yield _schedule(facts, shape)


@dataclass(frozen=True)
class Shape:
    """The numbers that make a schedule."""

    along: str
    lanes: int
    tile: Mapping[str, int]
    """Number of sums that are made at a time along each index."""
    steps: int
    groups: int


def _schedule(facts: Facts, shape: Shape) -> Schedule:
    extents, k, lanes, steps = facts.extents, shape.along, shape.lanes, shape.steps
    outputs = [name for name in facts.output_indices if extents[name] > 1]
    counts = {name: ceil_div(extents[name], shape.tile.get(name, 1)) for name in outputs}
    groups = shape.groups
    grid: list[tuple[str, int, int]] = []
    serial: list[LoopLevel] = []
    for name in outputs:
        # The outermost index that has enough values gives the groups; inner ones are loops.
        size = even_share(counts[name], counts[name] // groups) if groups > 1 else counts[name]
        groups = ceil_div(groups, ceil_div(counts[name], size))
        step = shape.tile.get(name, 1)
        if size < counts[name]:
            grid.append((name, size * step, ceil_div(counts[name], size)))
        serial.append(LoopLevel(name, step, size, Role.SERIAL))
    others = [
        LoopLevel(name, 1, extents[name], Role.SERIAL)
        for name in facts.reduced_indices
        if name != k
    ]
    body = [
        LoopLevel(k, lanes * steps, ceil_div(extents[k], lanes * steps), Role.SERIAL),
        LoopLevel(k, lanes, steps, Role.UNROLL),
        *(LoopLevel(name, 1, count, Role.UNROLL) for name, count in shape.tile.items()),
        LoopLevel(k, 1, lanes, Role.VECTOR),
    ]
    across = [t for t in facts.inputs if abs(t.strides.get(k, 1)) != 1]
    # Copies pay where several rows use them.
    stages = tuple(_stage(t, k) for t in across if len(shape.tile) > 1)
    return Schedule((*on_grid(grid), *kept((*serial, *others, *body))), stages)


def _stage(tensor: Tensor, k: str) -> Stage:
    """A copy of an operand whose rows are along an index that its rows in memory are not."""
    axes = [axis for axis, moves in enumerate(tensor.affine_access.moves) if k in moves]
    others = [axis for axis in range(len(tensor.shape)) if axis != axes[-1]]
    return Stage(tensor.number, local=True, order=(*others, axes[-1]))
