"""Roles of the indices of contractions, whose operands are read more often than once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.facts import READ_TWICE, Facts, Tensor
from tiledialect.schedule.loops import SHORT_ROW
from tiledialect.schedule.search.candidates.roles import (
    Roles,
    are_known,
    largest,
    slide_with,
    summed,
    windows_of,
    written,
)

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
FEW_USES = 16
"""Most uses of an element of the largest input in sums, windows and similar kernels on CPUs."""
SHORTEST = 8
"""Shorter vectors are not worth writing out windows for on CPUs."""
LEAST_SUM = 256
"""Fewest points of each sum that items share: fewer are not worth joining."""
MAX_TAPS = 16
"""Most values of short indices for which an item has accumulators."""
MOST_NUMBERS = 1024
"""Most elements of a table."""
MOST_RESULTS, MOST_TERMS = 16, 16
"""Most sums of a work-item by a table, and most elements of each."""
LEAST_AXES = 3
"""Sums over one index with results along one are products of matrices."""


# -- contractions on GPUs --------------------------------------------------------------------------


def gpu_roles(facts: Facts, device: Device) -> Iterator[Roles]:
    """Roles of a contraction's indices on GPUs, if it has tiles.

    The first row is another index of the tile, the second one has items of the group. The innermost
    sum is cut into chunks.
    """
    if not facts.aggregates or len(facts.inputs) < 2 or not are_known(facts):
        return
    extents, outputs = facts.extents, written(facts)
    if len(outputs) < 2 or not facts.reduced_indices or any(table_roles(facts, device)):
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
    if not facts.aggregates or not facts.points or not are_known(facts):
        return
    if _is_written_alone(facts) or _is_read_once(facts, device):
        return
    extents, output = facts.extents, facts.outputs[0]
    outputs = written(facts)
    if not outputs:
        return
    width = device.lanes(output.type, output.bytes)
    filled = {name: _filled(extents[name], width) for name in outputs}
    first, *others = outputs
    yield from _cpu_roles(facts, device, outputs, first)
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
            yield from _cpu_roles(facts, device, outputs, n)


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


def _cpu_roles(facts: Facts, device: Device, outputs: Sequence[str], n: str) -> Iterator[Roles]:
    """The roles if vectors run along an index."""
    rows = [name for name in outputs if name != n]
    walked = next((t for t in facts.inputs if n not in t.names), facts.inputs[0])
    vectors = [t for t in facts.inputs if n in t.names]
    # The other indices are summed over in the order of memory.
    sums = sorted(summed(facts), key=lambda name: -abs(walked.strides.get(name, 0)))
    # With nothing in the caches before, 3 x 3 convolutions of 512 channels of 7 x 7 take 1.1 times
    # as long with channels innermost, of 256 of 14 x 14 1.08, of 128 of 28 x 28 1.01; where weights
    # stay near, channels are faster.
    is_far = not device.is_near(sum(t.size for t in vectors))
    if device.has_long_vectors and is_far and (tap := _sliding(walked, rows, sums)):
        sums = [*(name for name in sums if name != tap), tap]
    # A group has all rows that share the vectors before it has others.
    apart = [name for name in rows if all(name in t.names for t in vectors)]
    order = (*(name for name in rows if name not in apart), *apart)
    # Each residue class has few taps: loops skip the others, but unrolled taps are not skipped.
    tested = set[str]().union(*(names for names, _ in facts.tests))
    taps_first = sorted(sums, key=lambda name: name not in tested)
    for outermost_first in dict.fromkeys((tuple(sums), tuple(taps_first))):
        yield Roles(n, order, outermost_first[::-1])


def _sliding(walked: Tensor, rows: Sequence[str], sums: Sequence[str]) -> str:
    """The tap of the nearest rows that windows slide along; empty without one.

    If it is innermost, rows share what they read, and vectors come from memory from as many places
    at a time as there are taps.
    """
    slides = [moves for moves in walked.affine_access.moves if not moves.keys().isdisjoint(rows)]
    own = ([name for name in sums if name in moves] for moves in reversed(slides))
    return next((taps[0] for taps in own if len(taps) == 1), "")


def _is_written_alone(facts: Facts) -> bool:
    """Whether nothing is summed, and rows of the result are computed as they lie: they are streams.

    Tiles write pieces of many rows, of 1001 x 999 in 48 us, where one row after the other takes 30.
    """
    outputs = written(facts)
    if not outputs or any(facts.extents[name] > 1 for name in facts.reduced_indices):
        return False
    first = outputs[0]
    if facts.extents[first] < SHORT_ROW or facts.outputs[0].strides[first] != 1:
        return False
    are_plain = all(len(e.names) <= 1 for e in facts.outputs[0].access or ())
    along_rows = all(t.strides.get(first, 0) in (0, 1) for t in facts.inputs)
    return are_plain and along_rows and not facts.padded


def _is_read_once(facts: Facts, device: Device) -> bool:
    """Whether reads lie along vectors, and each is used so seldom that register tiles gain
    nothing."""
    source = largest(facts)
    elements, results = prod(source.shape), prod(facts.outputs[0].shape)
    outputs, width = written(facts), device.lanes(source.type, source.bytes)
    mixed = (e.names for e in facts.outputs[0].access or () if len(e.names) > 1)
    if any(not set(outputs[:1]).isdisjoint(names) for names in mixed):
        # The fastest is a residue class: vectors go along its steps, between which others lie.
        return False
    extents = facts.extents
    long = [name for name in facts.reduced_indices if extents[name] >= width]
    along = {name for name, stride in source.strides.items() if abs(stride) == 1}
    is_short = any(extents[name] < SHORTEST for name in outputs[:1])
    if is_short and is_window(facts) and facts.points > READ_TWICE * elements:
        # Rows of small images, or of few channels, are too short for vectors of windows.
        return False
    if along.isdisjoint(long):
        is_used_by_several = facts.is_product and not source.names.issuperset(outputs)
        if along.isdisjoint(outputs[:1]) or is_used_by_several:
            return False
    # Sums for few results are no windows, nor are products without sums of indices.
    are_few = results <= elements // FEW_USES or (
        facts.is_product and all(results < prod(t.shape) for t in facts.inputs)
    )
    uses = FEW_USES if is_window(facts) and not are_few else READ_TWICE
    return results <= elements and facts.points <= uses * elements


def is_window(facts: Facts) -> bool:
    """Whether the kernel is no plain product: reads at sums of indices, or another aggregation."""
    places = (e for t in facts.inputs for e in t.access or ())
    moving = ([n for n in e.names if facts.extents[n] > 1] for e in places)
    return not facts.is_product or any(len(names) > 1 for names in moving)


# -- sums of products on GPUs ----------------------------------------------------------------------


def shared_roles(facts: Facts, _: Device) -> Iterator[Roles]:
    """The roles of a product whose sums are long: the results of all short indices, the taps of a
    window, are an item's."""
    order, sums, extents = written(facts), summed(facts), facts.extents
    if not facts.is_product or not are_known(facts):
        return
    if not order or prod(extents[n] for n in sums) < LEAST_SUM:
        return
    long = [n for n in order if extents[n] >= FEW]
    inner = tuple(n for n in order if extents[n] < FEW)
    if not long or prod(extents[n] for n in inner) > MAX_TAPS:
        return
    lone = {n for n in long if all(n in t.names for t in facts.inputs)}
    rows = tuple(n for n in long[1:] if n not in lone and long[0] not in lone)
    near = {n: min(abs(t.strides[n]) for t in facts.inputs if t.strides.get(n)) for n in sums}
    yield Roles(long[0], rows[:1], tuple(sorted(sums, key=near.__getitem__)), inner=inner)


def table_roles(facts: Facts, _: Device) -> Iterator[Roles]:
    """The roles of a sum of products by a table of several axes.

    The inner indices are those of a work-item's results.
    """
    if not facts.is_product or not facts.aggregates or not are_known(facts):
        return
    table, source = sorted(facts.inputs, key=lambda t: t.size)
    own = [n for n in facts.output_indices if n in table.names - source.names]
    sums, rows = summed(facts), [n for n in written(facts) if n not in own]
    if not own or not sums or not rows or len(own) + len(sums) < LEAST_AXES:
        return
    if not set(sums) <= source.names & table.names or set(rows) & table.names:
        return
    results, terms = (prod(facts.extents[n] for n in names) for names in (own, sums))
    if table.size > MOST_NUMBERS * table.bytes or results > MOST_RESULTS or terms > MOST_TERMS:
        return
    own.sort(key=lambda n: facts.outputs[0].strides.get(n, 0))
    sums.sort(key=lambda n: abs(source.strides[n]))
    yield Roles(rows[0], tuple(rows[1:]), tuple(sums), inner=tuple(own))
