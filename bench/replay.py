"""Searches on recorded times: repeatable comparisons with random sampling, without a device.

A record has kernels with schedules and their measured times, as `bench/exploration.py --record`
keeps them. In a replay the space is restricted to these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import geometric_mean, median

from timings import Kernel, read

from tiledialect.dialects.tile.schedule_text import parse_schedule_text
from tiledialect.errors import TileError
from tiledialect.exploration.evaluation import Outcome
from tiledialect.exploration.implementation import Implementation
from tiledialect.exploration.kernels import FREE, WHOLE, KernelPart
from tiledialect.exploration.parts import Candidate
from tiledialect.exploration.search import Limits, Search
from tiledialect.exploration.study import Study
from tiledialect.exploration.workers import Workers
from tiledialect.schedule.search.decisions import (
    Chooser,
    DeadEndError,
    Decisions,
    Option,
    drawn,
    made,
)
from tiledialect.schedule.search.space import decisions_of

POINTS = (50, 200)
"""Numbers of trials at which searches are compared."""
FEWEST = 20
"""Recorded candidates of the space up to which a kernel is left out."""
SEARCHES = 10
"""Seeds of each program."""


@dataclass(frozen=True)
class Recorded:
    """A recorded candidate of a space."""

    candidate: Candidate
    decisions: Decisions
    seconds: float


@dataclass(frozen=True)
class Node:
    """A decision, and what is left to decide after each option."""

    name: str
    options: Mapping[Option, Node | Candidate]
    words: Sequence[str]


class Replayed:
    """A kernel whose space is restricted to recorded candidates.

    A decision has the options of the recorded candidates that agree in all earlier ones.
    """

    mutations = KernelPart.mutations
    least_seeds = KernelPart.least_seeds
    awaited_seeds = KernelPart.awaited_seeds
    weight = 1.0

    def __init__(self, kernel: Kernel):
        self._part = KernelPart(kernel.name, kernel.op, kernel.described)
        self.name = kernel.name
        self.least = self._part.least
        self.seconds = {t.schedule: t.seconds for t in kernel.timings}
        known = [*self._read(kernel)]
        self.count = len(known)
        """Number of recorded candidates that the space has."""
        self._words: dict[str, set[str]] = {}
        """Words of each decision."""
        for name, option in (pair for r in known for pair in r.decisions.items()):
            if isinstance(option, str):
                self._words.setdefault(name, set()).add(option)
        self._root = self._node(known, 0)

    def _node(self, known: Sequence[Recorded], depth: int) -> Node | Candidate:
        """The space of candidates that agree in so many decisions."""
        first, *others = known
        if depth == len(first.decisions):
            assert not others
            return first.candidate
        name = [*first.decisions][depth]
        inner: dict[Option, list[Recorded]] = {}
        for recorded in known:
            inner.setdefault(recorded.decisions[name], []).append(recorded)
        options = {o: self._node(inner[o], depth + 1) for o in sorted(inner, key=_order)}
        return Node(name, options, sorted(self._words.get(name, ())))

    @property
    def default(self) -> str:
        """The schedule without a search."""
        return made(self.candidate, next(self.seeds()))[1].text

    def _read(self, kernel: Kernel) -> Iterator[Recorded]:
        """Recorded candidates that are in the space as it is now."""
        outside: dict[str, Decisions] = {}
        for seed in self._part.seeds():
            with suppress(DeadEndError):
                outside.setdefault(made(self._part.candidate, seed)[1].text, seed)
        for text, seconds in self.seconds.items():
            with suppress(DeadEndError, TileError):
                given = outside.get(text)
                if given is None:
                    schedule = parse_schedule_text(text, kernel.op)
                    given = {WHOLE: FREE, **decisions_of(self._part.facts, schedule)}
                own, candidate = made(self._part.candidate, given)
                if candidate.text == text:
                    yield Recorded(candidate, _from_one(own), seconds)

    def candidate(self, chooser: Chooser) -> Candidate:
        """The recorded candidate that decisions make."""
        found = self._root
        while isinstance(found, Node):
            found = found.options[chooser.choose(found.name, [*found.options], found.words)]
        return found

    def seeds(self) -> Iterator[Decisions]:
        """The seeds of the space."""
        return map(_from_one, self._part.seeds())

    def evaluated(self, implementation: Implementation, best: float) -> Future[Outcome]:
        """The recorded time."""
        ((_, text),) = (own.split(": ", 1) for own in implementation.schedules)
        future = Future[Outcome]()
        future.set_result(Outcome(self.seconds[text]))
        return future


def _from_one(decisions: Decisions) -> Decisions:
    """Decisions whose numbers are one more: samplers take logarithms where no option is 0, and must
    do so in all trials."""
    return {k: v + 1 if isinstance(v, int) else v for k, v in decisions.items()}


def _order(option: Option) -> tuple[int, str]:
    """Numbers rise, and words have any order."""
    return (option, "") if isinstance(option, int) else (0, option)


def searched(part: Replayed, trials: int, seed: int, sampler: str = "tpe") -> list[float]:
    """Seconds of the candidates that a search tries, one after the other."""
    study = Study("replay", part, None, seed, sampler)
    search = Search(
        *([study], Implementation.of_kernels),
        *(Workers(part.evaluated, 1), Random(seed)),
    )
    return [trial.seconds for trial in search.run(Limits(trials))]


def sampled(part: Replayed, trials: int, seed: int) -> list[float]:
    """The same for candidates at random, after the default."""
    random, found = Random(seed), dict[str, float]()
    text = part.default
    found[text] = part.seconds[text]
    for _ in range(100 * trials):
        if len(found) == min(trials, part.count):
            break
        with suppress(DeadEndError):
            text = drawn(part.candidate, random)[1].text
            found.setdefault(text, part.seconds[text])
    return [*found.values()]


def compare(path: Path, seeds: int = SEARCHES, points: Sequence[int] = POINTS) -> Iterator[str]:
    """Lines of a table: medians of the best times, in multiples of the best recorded one."""
    yield (
        "| program | recorded | "
        + " | ".join(f"search, {n} trials | random, {n} trials" for n in points)
        + " |"
    )
    yield "| --- " * (2 + 2 * len(points)) + "|"
    columns: list[list[float]] = [[] for _ in range(2 * len(points))]
    for kernel in read(path):
        part = Replayed(kernel)
        if part.count <= FEWEST:
            continue
        best = min(part.seconds.values())
        runs = [
            [way(part, max(points), seed) for seed in range(seeds)] for way in (searched, sampled)
        ]
        own = [median(min(r[:n]) / best for r in way) for n in points for way in runs]
        for column, value in zip(columns, own, strict=True):
            column.append(value)
        yield (
            f"| {kernel.program} {kernel.name} | {part.count} | "
            + " | ".join(f"{v:.3f}" for v in own)
            + " |"
        )
    means = " | ".join(f"{geometric_mean(column):.3f}" for column in columns)
    yield f"| geometric mean | | {means} |"
