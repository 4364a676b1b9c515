"""Index at which a contraction is split, and numbers of parts that fill a device."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, prod

from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.passes.split.rewrites.reduction_split import split_obstacle
from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.facts import Facts

RESULTS_PER_GROUP = (32 * 32, 64 * 64, 128 * 128)
"""Results of a work-group: there are parts for two groups of that size a unit."""
RESULTS_OF_ONE_WAVE, FEW_PARTS = 64 * 128, 8
"""The same for so few parts, on CPUs for fewer: no third group of a unit comes after the others."""
LONG_PARTS_PER_CORE = 8
"""Minimum long parts for each core of a CPU, where there is one result."""
MIN_LONG_SUM = 1 << 19
"""Minimum points of a sum in long parts."""
MAX_LONG_PART = 1 << 18
"""Maximum length of long parts: the more is added to a number, the more digits of it are lost."""
CHUNK = 16
"""Alignment of long parts, so that they are read in whole vectors."""
MIN_LONG_INDEX = 32
"""Extent of an index that is long enough, as its parts have groups for other indices, too."""
SIDE, MOST_FILLING, FILLED = 64, 16, 0.95
"""Rows and columns of a group's tile of a product, and the most parts with which such groups take
this share of the units at least in each of their rounds."""
EVEN = 1.5
"""Largest ratio of numbers of parts, of which the one is taken whose parts are of the same size."""


def splits_of(op: ContractionOp, facts: Facts, device: Device) -> Iterator[tuple[str, int]]:
    """Index that moves the inputs farthest, and numbers of parts that fill the device.

    Where units need several groups, an index of few values, as taps have, or fewer than the parts
    that few results need, has no parts if there is another.
    """
    many_groups, groups = device.traits.interleaves_groups, 2 * device.compute_units
    needed = min(groups, ceil(groups * RESULTS_PER_GROUP[0] / facts.results))
    summed = [
        name
        for name in facts.reduced_indices
        if facts.extents[name] > 1 and split_obstacle(op, name) is None
    ]

    def reach(name: str) -> tuple[bool, int]:
        is_long = many_groups and facts.extents[name] >= max(FEW_PARTS, min(needed, MIN_LONG_INDEX))
        strides = (abs(t.strides.get(name, 0)) for t in facts.inputs)
        return is_long, max(strides) * facts.extents[name]

    if summed:
        index = max(summed, key=reach)
        extent = facts.extents[index]
        wanted = _wanted(facts, index, device)
        several = (n for n in wanted if n > 1)
        fitting = {_even(n, extent) if many_groups else min(n, extent) for n in several}
        yield from ((index, parts) for parts in sorted(fitting))


def _wanted(facts: Facts, index: str, device: Device) -> list[int]:
    """Numbers of parts along an index that fill the device."""
    outputs, many_groups = facts.results, device.traits.interleaves_groups
    wanted = [ceil(2 * device.compute_units * size / outputs) for size in RESULTS_PER_GROUP]
    if many_groups:
        # Of few results each group may have all, and a part.
        wanted.append(2 * device.compute_units)
        if outputs >= device.compute_units:
            # Half as many groups, whose sums are longer.
            wanted.append(ceil(device.compute_units * RESULTS_PER_GROUP[0] / outputs))
        if is_matrix(facts):
            wanted += _filling(facts, index, device)
    elif outputs == 1 and facts.points >= MIN_LONG_SUM:
        # Long parts are read in vectors from end to end; each short one joins their lanes.
        longest = ceil_div(facts.extents[index], MAX_LONG_PART)
        wanted.append(max(LONG_PARTS_PER_CORE * device.compute_units, longest))
    few = 2 * device.compute_units * RESULTS_OF_ONE_WAVE // outputs
    most = FEW_PARTS if many_groups else FEW_PARTS - 1
    return [*wanted, few] if few <= most else wanted


def _filling(facts: Facts, index: str, device: Device) -> list[int]:
    """The least number of parts of whose tiles all units have as many, or nearly; none if few parts
    have none."""
    outputs = {name for name in facts.output_indices if facts.extents[name] > 1}
    common = outputs.intersection(*(t.names for t in facts.inputs))
    sides = [prod(facts.extents[n] for n in (outputs & t.names) - common) for t in facts.inputs]
    tiles = prod(facts.extents[n] for n in common) * prod(ceil_div(n, SIDE) for n in sides)
    for parts in range(2, MOST_FILLING + 1):
        rounds = tiles * parts / device.compute_units
        if facts.extents[index] % (CHUNK * parts) == 0 and rounds >= FILLED * ceil(rounds):
            return [parts]
    return []


def _even(parts: int, extent: int) -> int:
    """Nearest number of parts of the same size, in whole chunks if parts are that long."""
    parts = min(parts, extent)
    unit = CHUNK if extent >= CHUNK * parts else 1
    near = range(ceil(parts / EVEN), int(parts * EVEN) + 1)
    return min(
        (n for n in near if extent % (unit * n) == 0), key=lambda n: abs(n - parts), default=parts
    )


def multiple_of(extent: int, parts: int) -> int:
    """Number that divides the sizes of parts: aligned chunks, if parts are long."""
    return CHUNK if extent >= 4 * CHUNK * parts else 1


def is_matrix(facts: Facts) -> bool:
    """Whether the results are a product of matrices, with an index of each alone."""
    moving = {name for name in facts.output_indices if facts.extents[name] > 1}
    return facts.is_product and all(moving - t.names for t in facts.inputs)
