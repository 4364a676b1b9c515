"""Roles of a kernel's indices, from its accesses: lanes, rows, sums and taps of all schedules.

An index runs along the memory of a tensor if a step moves it to the next element; the fastest one
of the output, or of the operand that is read most, is that of lanes and of neighbouring work-items.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.facts import Facts, Tensor

FEW = 8
"""Extent below which an index is not cut into tiles on GPUs: taps, image channels, residue
classes."""
LONG_ROW = 32
"""Pixels next to one another in memory that are as many move items, as a sub-group has them."""
FILLED, MOSTLY = 4, 0.9
"""An index of so many vectors or more, and of such a share of their lanes, fills them well."""
SPREAD = 3
"""Lanes that take every so many elements of a row, or fewer, are shuffled out of so many vectors:
others may be better, however well these fill vectors."""
SEVERAL = 1.5
"""Fewest windows that share an element for several of them to be computed together."""
OTHERS = 2
"""Number of other indices that are tried as lanes on CPUs."""


@dataclass(frozen=True)
class Roles:
    """Roles of the indices of a kernel."""

    along: str
    """The index of lanes and of neighbouring work-items."""
    rows: tuple[str, ...]
    """The other output indices, in the order in which tiles, items and groups have several
    values."""
    sums: tuple[str, ...]
    """The summed indices, innermost first."""
    taps: tuple[str, ...] = ()
    """Short summed indices that are inside all others, or around them."""
    inner: tuple[str, ...] = ()
    """Output indices of few values, all of which an item may have accumulators for."""
    alone: tuple[str, ...] = ()
    """Output indices each value of which has groups of its own."""
    is_turned: bool = False
    """Whether `along` is not the fastest index in the output's memory."""

    @property
    def outputs(self) -> tuple[str, ...]:
        """The output indices where that of the lanes is one, which is first."""
        return self.along, *self.rows


def by_stride(tensor: Tensor, indices: Iterable[str], facts: Facts) -> list[str]:
    """The indices of several values that move a tensor, the fastest in memory first."""
    moving = [n for n in indices if facts.extents[n] > 1 and tensor.strides.get(n)]
    return sorted(moving, key=lambda n: abs(tensor.strides[n]))


def written(facts: Facts) -> list[str]:
    """The indices that move the output, the fastest in memory first."""
    return by_stride(facts.outputs[0], facts.output_indices, facts)


def summed(facts: Facts) -> list[str]:
    """The summed indices of several values."""
    return [n for n in facts.reduced_indices if facts.extents[n] > 1]


def largest(facts: Facts) -> Tensor:
    """The largest tensor among the inputs."""
    return max(facts.inputs, key=lambda t: t.size)


def are_known(facts: Facts) -> bool:
    """Whether there are inputs, and all are accessed by affine functions of the indices."""
    return bool(facts.inputs) and all(t.access is not None for t in facts.inputs)


def along_input(facts: Facts, order: list[str]) -> Roles | None:
    """The roles where lanes run along an operand, whose indices have an order; None if it sums
    none of them."""
    sums = [n for n in order if n in facts.reduced_indices]
    others = [n for n in facts.reduced_indices if n not in sums]
    rows = [n for n in order[1:] if n not in sums]
    return Roles(order[0], tuple(rows), (*sums, *others)) if sums else None


def windows_of(facts: Facts, name: str) -> Iterator[Mapping[str, int]]:
    """Moves of indices along the axes of inputs that an index moves along."""
    return (moves for t in facts.inputs for moves in t.affine_access.moves if name in moves)


def slide_with(facts: Facts, m: str) -> set[str]:
    """Indices whose steps move an operand as the steps of `m` do: overlapping windows of
    neighbours."""
    return {name for moves in windows_of(facts, m) for name in moves} - {m}


# -- contractions on GPUs --------------------------------------------------------------------------


def gpu_roles(facts: Facts) -> Iterator[Roles]:
    """Roles of a contraction's indices on GPUs, if it has tiles.

    The first row is another index of the tile, the second one has items of the group. The innermost
    sum is cut into chunks.
    """
    extents, outputs = facts.extents, written(facts)
    if len(outputs) < 2 or not facts.reduced_indices:
        return
    n = next((name for name in outputs if extents[name] >= FEW), outputs[0])
    plain = _gpu_roles(facts, outputs, n)
    yield plain
    rows = {x for x in facts.reduced_indices if all(x in t.contiguous for t in facts.inputs)}
    if (k := next(iter(rows - {plain.sums[0]}), None)) is not None and extents[k] >= FEW:
        yield _gpu_roles(facts, outputs, n, k)
    # Channels may move items, though pixels are neighbours in memory: few sums of one element.
    beside_n = {x for t in facts.inputs if n in t.names for x in t.names}
    channels = [x for x in outputs if x not in beside_n and extents[x] >= FEW]
    if channels and _are_few_in_windows(facts, n):
        found = _gpu_roles(facts, outputs, max(channels, key=lambda x: extents[x]))
        yield replace(found, is_turned=True)


def _gpu_roles(facts: Facts, outputs: Sequence[str], n: str, k: str | None = None) -> Roles:
    """The roles of all other indices."""
    extents = facts.extents
    lone = {name for name in outputs if all(name in t.names for t in facts.inputs)}
    # The innermost that is long enough for tiles, and along which some operand stays the same.
    m, *others = sorted(
        [name for name in outputs if name != n],
        key=lambda x: (x in lone, -min(extents[x], FEW)),
    )
    inner = tuple(name for name in others if extents[name] <= FEW // 2)
    far = {*lone, *inner[:1], *(x for x in inner if is_tap(facts, x))}
    third = [x for x in others if x not in far][:1]
    along = [x for t in facts.inputs for x in t.contiguous]
    slide = slide_with(facts, m)
    chunked, *reduced = sorted(
        facts.reduced_indices,
        key=lambda x: (
            x == k,
            min(extents[x], 2 * FEW),
            x in along,
            x not in slide or extents[x] > FEW,
            -max(abs(t.strides.get(x, 0)) for t in facts.inputs),
        ),
        reverse=True,
    )
    reduced = [x for x in facts.reduced_indices if x in reduced]
    taps = tuple(x for x in reduced if 1 < extents[x] <= FEW)
    outer = [x for x in reduced if x not in taps]
    alone = tuple(x for x in facts.output_indices if x not in (n, m, *third, *inner))
    return Roles(n, (m, *third), (chunked, *reversed(outer)), taps, inner, alone)


def _are_few_in_windows(facts: Facts, n: str) -> bool:
    """Whether pixels next to one another are few for items, or far from those they read."""
    slides = [moves for moves in windows_of(facts, n) if len(moves) > 1]
    return bool(slides) and (
        facts.extents[n] < LONG_ROW or any(abs(moves[n]) > 1 for moves in slides)
    )


def is_tap(facts: Facts, name: str) -> bool:
    """Whether an output index is a point of a window, with an axis of its own in the result."""
    written = [tuple(e.names) for e in facts.outputs[0].access or ()]
    return (name,) in written and bool(slide_with(facts, name))


# -- contractions on CPUs --------------------------------------------------------------------------


def cpu_roles(facts: Facts, device: Device) -> Iterator[Roles]:
    """Roles of a contraction's indices on CPUs: the lanes run along the output's memory, or fill
    vectors better."""
    extents, output = facts.extents, facts.outputs[0]
    outputs = written(facts)
    if not outputs:
        return
    width = device.lanes(output.type, output.bytes)
    filled = {name: _filled(extents[name], width) for name in outputs}
    first, *others = outputs
    yield from _cpu_roles(facts, outputs, first)
    if (
        extents[first] < FILLED * width
        or filled[first] < MOSTLY
        or _are_better_across(facts, first, device)
    ):
        # Lanes that are apart where they are read fill vectors at a cost.
        are_apart = any(abs(t.strides.get(first, 1)) != 1 for t in facts.inputs)
        least = filled[first]
        others = [n for n in others if filled[n] > least or (are_apart and filled[n] == least)]
        others.sort(key=lambda name: (-filled[name], -extents[name]))
        # Steps along the axis of a residue class enclose only elements of other classes.
        near = {n for e in output.access or () if first in e.names for n in e.names}
        for n in (*others[:OTHERS], *(name for name in others[OTHERS:] if name in near)):
            yield from _cpu_roles(facts, outputs, n)


def _are_better_across(facts: Facts, name: str, device: Device) -> bool:
    """Whether lanes along an index are so far apart in their operand that others are tried.

    With AVX-512 it does not hold where all comes from memory, once: lanes along channels read short
    pieces of many rows there, which are copied faster. Shuffles of shorter vectors cost more than
    that.
    """
    is_near = facts.moved <= device.cache_sizes[-1] / 2
    far = device.has_long_vectors and not is_near
    for t in facts.inputs:
        results = prod(facts.extents[n] for n in facts.output_indices if n not in t.names)
        is_apart = t.shape and abs(t.affine_access.moves[-1].get(name, 0)) >= SPREAD
        # An operand of one result alone gains nothing by transposition.
        if is_apart and results > 1:
            windows = facts.points / results / prod(t.shape)
            if not far or windows >= SEVERAL:
                return True
    return False


def _filled(extent: int, width: int) -> float:
    """Share of the lanes that an index fills."""
    return extent / (width * ceil_div(extent, width))


def _cpu_roles(facts: Facts, outputs: Sequence[str], n: str) -> Iterator[Roles]:
    """The roles if vectors run along an index."""
    rows = [name for name in outputs if name != n]
    walked = next((t for t in facts.inputs if n not in t.names), facts.inputs[0])
    # The other indices are summed over in the order of memory.
    sums = sorted(summed(facts), key=lambda name: -abs(walked.strides.get(name, 0)))
    # A group has all rows that share the vectors before it has others.
    vectors = [t for t in facts.inputs if n in t.names]
    apart = [name for name in rows if all(name in t.names for t in vectors)]
    order = (*(name for name in rows if name not in apart), *apart)
    # Each residue class has few taps: loops skip the others, but unrolled taps are not skipped.
    tested = set[str]().union(*(names for names, _ in facts.tests))
    taps_first = sorted(sums, key=lambda name: name not in tested)
    for outermost_first in dict.fromkeys((tuple(sums), tuple(taps_first))):
        yield Roles(n, order, outermost_first[::-1])
