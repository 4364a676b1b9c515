"""Searches on recorded times: repeatable comparisons with random sampling, without a device.

A record has kernels with schedules and their measured times, as `bench/cost_model.py --record`
keeps them. In a replay the space is restricted to these: each candidate stands for the nearest
recorded one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from math import log2
from pathlib import Path
from random import Random
from statistics import geometric_mean, median
from typing import Any

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
from tiledialect.schedule.search.decisions import Chooser, DeadEndError, Decisions, drawn, made
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


class Replayed:
    """A kernel whose space is restricted to recorded candidates."""

    mutations = KernelPart.mutations
    weight = 1.0

    def __init__(self, kernel: Kernel):
        self._part = KernelPart(kernel.name, kernel.op, kernel.described)
        self.name = kernel.name
        self.least = self._part.least
        self.seconds = {t.schedule: t.seconds for t in kernel.timings}
        self._known = [*self._read(kernel)]
        self._near: dict[tuple[object, ...], Recorded] = {}

    @property
    def count(self) -> int:
        """Number of recorded candidates that the space has."""
        return len(self._known)

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
                    yield Recorded(candidate, own, seconds)

    def candidate(self, chooser: Chooser) -> Candidate:
        """The recorded candidate that is nearest to the one that decisions make."""
        own: dict[str, Any] = {}

        class Noting:
            def choose(self, name: str, options: Any, domain: Any = ()) -> Any:
                own[name] = chooser.choose(name, options, domain)
                return own[name]

        self._part.candidate(Noting())
        key = tuple(own.items())
        if key not in self._near:
            self._near[key] = min(self._known, key=lambda r: _distance(own, r.decisions))
        return self._near[key].candidate

    def seeds(self) -> Iterator[Decisions]:
        """The seeds of the space."""
        return self._part.seeds()

    def evaluated(self, implementation: Implementation, best: float) -> Future[Outcome]:
        """The recorded time."""
        ((_, text),) = (own.split(": ", 1) for own in implementation.schedules)
        future = Future[Outcome]()
        future.set_result(Outcome(self.seconds[text]))
        return future


def _distance(a: Decisions, b: Decisions) -> float:
    """Decisions that differ; numbers by as many as their ratio has bits, at most 4, in quarters."""
    found = 0.0
    for name in dict.fromkeys((*a, *b)):
        x, y = a.get(name), b.get(name)
        if x == y:
            continue
        if isinstance(x, int) and isinstance(y, int):
            found += min(1.0, abs(log2((x + 1) / (y + 1))) / 4 + 0.1)
        else:
            found += 1.0
    return found


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
    text = made(part.candidate, next(part.seeds()))[1].text
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
