"""Ranking of a program's candidates by the cost model: the best are measured first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import nsmallest
from itertools import pairwise
from math import inf
from typing import Any

from tiledialect.exploration.lift.copies import COPIES, LOCAL, NONE
from tiledialect.exploration.lift.mapping import (
    AHEAD,
    GROUPS_EACH,
    GROUPS_OF_UNIT,
    HELD,
    NO,
    WAYS,
    WIDTHS,
    YES,
)
from tiledialect.exploration.lift.parameters import SIZE, ParameterSpace
from tiledialect.exploration.lift.settings import native_lanes
from tiledialect.exploration.lift.space import PROGRAM, LiftSpace
from tiledialect.exploration.lift.unrolling import UNROLLED
from tiledialect.exploration.parts import Candidate
from tiledialect.passes.lift.strategies.derivation import Derivation
from tiledialect.schedule.search.decisions import (
    Chooser,
    DeadEndError,
    Decisions,
    Option,
    enumerated,
    made,
    nearest,
)

KEPT = 2
"""Number of candidates of a program that are seeds: the best ones of a kind of mapping each, by the
cost model."""
GROUP_SIZES = 16, 128
"""Work-items along an axis of a GPU's groups of two axes and of one."""
BLOCKS = (128, 8, 8), (128, 8, 16), (1 << 14, 128, 128)
"""Elements along an axis of a tile of a GPU's group and of a block of its work-item, and along the
first one; of a row, and of those that its work-items go through in strides."""
SUMS, SIDE = 3 / 4, 2
"""Share of the registers of a core that hold the sums of a block, and vectors in its rows."""
PART = 512
"""Elements that one work-item goes through."""
GAIN = 0.98
"""Most estimate of a changed seed, in multiples of the estimate before."""


@dataclass(frozen=True, order=True)
class Ranked:
    """Decisions by the estimate of the derivation that they make."""

    estimate: float
    number: tuple[int, ...] = field(default=(), kw_only=True)
    """Order among equals."""
    text: str = field(compare=False)
    decisions: dict[str, Option] = field(compare=False)


def best_of(space: LiftSpace, word: str, default: str) -> list[Ranked]:
    """The best candidates of a program, without the default, whose text is given."""
    found: dict[str, Ranked] = {}
    for number, (decisions, candidate) in enumerate(_candidates_of(space, word)):
        if candidate.text != default and candidate.estimate < inf:
            ranked = Ranked(candidate.estimate, candidate.text, {**decisions}, number=(number,))
            kind = _kind(decisions)
            found[kind] = min(ranked, found.get(kind, ranked))
    return nsmallest(KEPT, found.values())


def _kind(decisions: Decisions) -> str:
    """Kind of a mapping, whatever the dimensions."""
    return str(decisions["mapping"]).rstrip("012")


def _candidates_of(space: LiftSpace, word: str) -> Iterator[tuple[Decisions, Candidate]]:
    """Candidates of all mappings of a program, and of the best one of each with copies, which may
    turn the order of mappings round; with the widest vectors and unrolled loops."""
    items_are_lanes = not space.device.traits.has_vectors
    unrolled = UNROLLED[-1 if items_are_lanes else 0]
    given = {PROGRAM: word, "vectors": WIDTHS[-1], "unroll": unrolled, **dict.fromkeys(WAYS, NO)}
    given |= {"copies": NONE, GROUPS_OF_UNIT: 0}
    best: dict[str, tuple[float, Decisions]] = {}
    for decisions, mapped in enumerated(lambda c: space.mapped(_FixedChooser(c, given))[1]):
        mapping = str(decisions["mapping"])
        # Work-items hold sums to share what they sum.
        copies = {"copies": LOCAL} if items_are_lanes and mapping in HELD else {}
        for sizes in _starts(space, mapped):
            with suppress(DeadEndError):
                found, candidate = made(space.candidate, {**given, **decisions, **copies, **sizes})
                yield found, candidate
                ranked = candidate.estimate, found
                best[mapping] = min(best.get(mapping, ranked), ranked, key=lambda pair: pair[0])
    for _, decisions in best.values():
        for ahead in (YES, NO):
            with suppress(DeadEndError):
                copied = {**decisions, "copies": LOCAL, AHEAD: ahead}
                found, candidate = made(space.candidate, copied)
                yield found, candidate
                if AHEAD not in found:
                    break


def _starts(space: LiftSpace, mapped: Derivation) -> Iterator[Decisions]:
    """Sizes to begin with: vectors, or blocks of them that fill registers, and where lanes are
    work-items rows and squares of those of a group, which smaller sizes do not fill."""
    sizes, lanes = space.space_of(mapped), native_lanes(space.device)
    if not space.device.traits.has_vectors:
        for size in (lanes, *GROUP_SIZES) if sizes.names else (lanes,):
            yield {SIZE + name: size for name in sizes.names}
        yield from _starts_of_items(sizes, space.device.sub_group_size)
    elif sizes.in_vectors and len(sizes.names) > 1:
        rows = int(space.device.registers * SUMS / SIDE)
        found = {n: SIDE * lanes if n in sizes.in_vectors else rows for n in sizes.names}
        yield {SIZE + name: size for name, size in found.items()}
    else:
        yield {SIZE + name: lanes for name in sizes.names}


def _starts_of_items(sizes: ParameterSpace, lanes: int) -> Iterator[Decisions]:
    """Sizes to begin with where lanes are work-items: blocks of a work-item in tiles of a group and
    strides of its work-items in rows, or columns of a work-item beside those of others, and parts
    of the elements of a sub-group."""
    if sizes.parts:
        wholes, first = frozenset[str]().union(*sizes.parts.values()), next(iter(sizes.parts))
        for whole, part, longer in BLOCKS:
            found = {n: whole if n in wholes else GROUP_SIZES[0] for n in sizes.names}
            found |= {**dict.fromkeys(sizes.parts, part), first: longer}
            yield {SIZE + name: size for name, size in found.items()}
    elif sizes.in_vectors and len(sizes.names) > 1:
        found = {n: 1 if n in sizes.in_vectors else GROUP_SIZES[0] for n in sizes.names}
        yield {"vectors": 1, **{SIZE + name: size for name, size in found.items()}}
    if sizes.inverse:
        yield {SIZE + n: PART if n in sizes.inverse else lanes for n in sizes.names}


def refined(space: LiftSpace, start: Ranked) -> Ranked:
    """Decisions that are better by the cost model, after a pass of small changes."""
    best, has_vectors = start, space.device.traits.has_vectors
    for change in [*_changes(start.decisions, has_vectors=has_vectors)]:
        best = _changed(space, best, change)
    return best


def _changed(space: LiftSpace, best: Ranked, change: Callable[[Decisions], Decisions]) -> Ranked:
    """Decisions after a change, made again as long as it helps: sizes may be far off."""
    with suppress(DeadEndError):
        while True:
            before, wanted = best.decisions, change(best.decisions)
            run = partial(_candidate_of_change, space, before, wanted)
            decisions, candidate = made(run, wanted)
            if candidate.estimate >= best.estimate * GAIN:
                break
            best = replace(
                best, estimate=candidate.estimate, text=candidate.text, decisions={**decisions}
            )
    return best


def _candidate_of_change(
    space: LiftSpace, before: Decisions, wanted: Decisions, chooser: Chooser
) -> Candidate:
    """The candidate of changed decisions, with sizes that grow or shrink by a step at least."""
    return space.candidate(_ChangedSizeChooser(chooser, before, wanted))


def _changes(
    decisions: Decisions, *, has_vectors: bool
) -> Iterator[Callable[[Decisions], Decisions]]:
    """Small changes: another copy or way, numbers instead of vectors, as many of them or, where
    these are work-items, a vector's lanes less, a size that grows or shrinks, and two at the
    expense of each other."""
    sizes = [name for name in decisions if name.startswith(SIZE)]
    for name in decisions:
        if name == GROUPS_OF_UNIT:
            yield lambda given: {**given, GROUPS_OF_UNIT: GROUPS_EACH[1]}
        elif name in WAYS:
            yield lambda given, n=name: {**given, n: YES}
        elif name == "vectors":
            scaled = [] if has_vectors else sizes
            for factors in ({}, *({size: 1 / int(decisions[name])} for size in scaled)):
                yield lambda given, f=factors: {**_scaled(given, f), "vectors": 1}
        elif name == "unroll":
            for most in UNROLLED:
                yield lambda given, n=most: {**given, "unroll": n}
        elif name == "copies":
            for copies in COPIES[1:]:
                yield lambda given, c=copies: {**given, "copies": c}
    for name in sizes:
        for factor in (2.0, 1.5, 0.5):
            yield partial(_scaled, factors={name: factor})
    for pair in pairwise(sizes):
        for factors in ((0.5, 2.0), (2.0, 0.5)):
            yield partial(_scaled, factors=dict(zip(pair, factors, strict=True)))


def _scaled(given: Decisions, factors: Mapping[str, float]) -> Decisions:
    """Decisions with some sizes multiplied."""
    return {
        **given,
        **{n: max(1, int(int(given[n]) * f)) for n, f in factors.items() if n in given},
    }


@dataclass(frozen=True)
class _FixedChooser:
    """Chooser with some decisions fixed, and another chooser's for the rest."""

    chooser: Chooser
    given: Decisions

    def choose(self, name: str, options: Any, domain: Any = ()) -> Any:
        """The given option, or another chooser's choice."""
        if name in self.given and options:
            options = [nearest(self.given[name], options, domain)]
        return self.chooser.choose(name, options, domain)


@dataclass(frozen=True)
class _ChangedSizeChooser:
    """Chooser of changed sizes: smaller or greater ones than before, as is wanted."""

    chooser: Chooser
    before: Decisions
    wanted: Decisions

    def choose(self, name: str, options: Any, domain: Any = ()) -> Any:
        """Another option than before, if a size is changed; any chooser's choice else."""
        if name.startswith(SIZE) and name in self.before:
            old, new = int(self.before[name]), int(self.wanted[name])
            if old != new:
                options = [x for x in options if (x > old) == (new > old) and x != old]
            if not options:
                raise DeadEndError(name)
        return self.chooser.choose(name, options, domain)
