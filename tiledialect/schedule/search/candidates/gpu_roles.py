"""Roles of the indices of a contraction on a GPU: tiles, chunks, taps.

Of those that move the output, `n` runs along its memory and `m` is another; an item has a tile of
both in registers. Of the summed ones, `k` is cut into chunks, at each of which the operands are
staged; the others, such as the taps of a convolution, are loops around the chunks or inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tiledialect.schedule.cost.facts import Facts

FEW = 8
"""Extent below which an index is not cut into tiles: taps, image channels, residue classes."""
LONG_ROW = 32
"""Pixels next to one another in memory that are as many move items, as a sub-group has them."""


@dataclass(frozen=True)
class Roles:
    """Roles of the indices of a contraction."""

    n: str
    m: str
    third: str | None
    """An output index next to `m`, for the items of a group where `m` is short."""
    inner: tuple[str, ...]
    """Output indices of few values, all of which an item may have accumulators for."""
    rest: tuple[str, ...]
    """The other output indices: each value has groups of its own."""
    k: str
    taps: tuple[str, ...]
    """Summed indices of few values, inside or around the chunks."""
    outer: tuple[str, ...]
    """The other summed indices: loops around everything."""
    is_turned: bool = False
    """Whether the fastest index in the output's memory is `m`, or another one."""


def roles(facts: Facts) -> Iterator[Roles]:
    """Roles of the indices of a contraction of at least two tensors, if it has tiles."""
    extents, strides = facts.extents, facts.outputs[0].strides
    outputs = sorted(facts.output_indices, key=lambda name: abs(strides.get(name, 0)))
    outputs = [name for name in outputs if extents[name] > 1]
    if len(outputs) < 2 or not facts.reduced_indices:
        return
    lone = {name for name in outputs if all(name in t.names for t in facts.inputs)}
    n = next((name for name in outputs if extents[name] >= FEW), outputs[0])
    plain = _roles(facts, outputs, lone, n)
    yield plain
    rows = {x for x in facts.reduced_indices if all(x in t.contiguous for t in facts.inputs)}
    if (k := next(iter(rows - {plain.k}), None)) is not None and extents[k] >= FEW:
        yield _roles(facts, outputs, lone, n, k)
    # Channels may move items, though pixels are neighbours in memory: few sums of one element.
    beside_n = {x for t in facts.inputs if n in t.names for x in t.names}
    channels = [x for x in outputs if x not in beside_n and extents[x] >= FEW]
    if channels and _are_few_in_windows(facts, n):
        found = _roles(facts, outputs, lone, max(channels, key=lambda x: extents[x]))
        yield replace(found, is_turned=True)


def _roles(facts: Facts, outputs: list[str], lone: set[str], n: str, k: str | None = None) -> Roles:
    """The roles of all other indices."""
    extents = facts.extents
    # The innermost that is long enough for tiles, and along which some operand stays the same.
    m, *others = sorted(
        [name for name in outputs if name != n],
        key=lambda x: (x in lone, -min(extents[x], FEW)),
    )
    inner = tuple(name for name in others if extents[name] <= FEW // 2)
    far = {*lone, *inner[:1], *(x for x in inner if is_tap(facts, x))}
    third = next((x for x in others if x not in far), None)
    along = [x for t in facts.inputs for x in t.contiguous]
    slide = slide_with(facts, m)
    reduced = sorted(
        facts.reduced_indices,
        key=lambda x: (
            x == k,
            min(extents[x], 2 * FEW),
            x in along,
            x not in slide or extents[x] > FEW,
            -_stride(facts, x),
        ),
        reverse=True,
    )
    taps = [x for x in facts.reduced_indices if x != reduced[0] and 1 < extents[x] <= FEW]
    outer = [x for x in facts.reduced_indices if x != reduced[0] and x not in taps]
    rest = [x for x in facts.output_indices if x not in (n, m, third, *inner)]
    return Roles(n, m, third, inner, tuple(rest), reduced[0], tuple(taps), tuple(outer))


def slide_with(facts: Facts, m: str) -> set[str]:
    """Indices whose steps move an operand as the steps of `m` do: overlapping windows of
    neighbours."""
    axes = [e.names for t in facts.inputs for e in t.access or () if m in e.names]
    return {name for names in axes for name in names} - {m}


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


def windows_of(facts: Facts, name: str) -> Iterator[Mapping[str, int]]:
    """Moves of indices along the axes of inputs that an index moves along."""
    return (moves for t in facts.inputs for moves in t.affine_access.moves if name in moves)


def _stride(facts: Facts, name: str) -> int:
    """Distance that an index moves some input."""
    return max(abs(t.strides.get(name, 0)) for t in facts.inputs)
