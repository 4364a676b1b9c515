"""The search: candidates of all parts are evaluated, until trials or time are used up."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from math import inf
from random import Random

from tiledialect.errors import TileError
from tiledialect.exploration.evaluation import Outcome
from tiledialect.exploration.implementation import Implementation
from tiledialect.exploration.parts import Part
from tiledialect.exploration.proposals import Proposals
from tiledialect.exploration.study import OpenTrial, Study, Trial
from tiledialect.exploration.workers import LostError, Workers, outcome_of
from tiledialect.rounding import ceil_div

Assemble = Callable[[Mapping[str, str]], Implementation]
"""Makes an implementation of the candidates of all parts, by their names."""

CONTENDERS, ROUNDS = 3, 3
"""Fastest implementations that are measured again in the end, and the number of times."""
CLOSE = 1.3
"""Least time, in multiples of the fastest one's, of which once is enough in the end."""
PAUSE = 0.05
"""Seconds between looks for seeds while the default is measured."""

AHEAD = 2
"""Workers for each candidate that waits for one: no worker waits for a proposal."""
GRACE = 5.0
"""Seconds after the end of a search in which trials in flight may end."""


@dataclass(frozen=True)
class Limits:
    """Bounds of a search."""

    trials: int
    seconds: float = inf


@dataclass
class Search:
    """State of a search: the best candidates so far, and the trials in flight."""

    studies: Sequence[Study]
    assemble: Assemble
    workers: Workers
    random: Random
    base: tuple[Implementation, float] | None = None
    """Default with its seconds, where that is not the one of the parts."""
    trials: list[Trial] = field(default_factory=list[Trial])
    """Trials of this search, in the order of their ends."""

    def __post_init__(self):
        self._proposals = [Proposals(study, self.random) for study in self.studies]
        self._shares = _Shares([study.part for study in self.studies])
        self._chosen: dict[str, str] = {}
        self._fastest: list[tuple[float, Implementation]] = []
        self.best = self.default_seconds = inf
        """Least seconds of a call so far, and of the default."""
        self.default = self.implementation = self.assemble({})
        """The default and the fastest implementation so far."""
        self.lost = ""
        """Reason for which no more candidates can be evaluated."""

    def run(self, limits: Limits) -> Generator[Trial]:
        """Evaluate candidates within the limits, and give each trial at its end.

        Where the workers are lost, the search ends: what was in flight says nothing of candidates.
        """
        try:
            yield from self._run(limits)
        except LostError as error:
            if self.best == inf and self.base is None:
                raise TileError(f"the workers are lost: {error}") from None
            self.lost = str(error)
        finally:
            for study in self.studies:
                study.end()

    def _run(self, limits: Limits) -> Iterator[Trial]:
        end = time.monotonic() + limits.seconds
        count = self.workers.count
        most = count + ceil_div(count, AHEAD)
        flying: dict[Future[Outcome], _Flight] = {}
        asked = deque[tuple[int, OpenTrial]]()
        yield from self._first(asked, most, limits.trials)
        left = limits.trials - len(self.trials) - len(asked)
        with self._ended(flying):
            while True:
                while left > 0 and len(flying) + len(asked) < most and time.monotonic() < end:
                    self._submit(asked, flying)
                    if (found := self._ask(end)) is None:
                        left = 0
                        break
                    asked.append(found)
                    left -= 1
                if time.monotonic() < end:
                    self._submit(asked, flying)
                if not flying or time.monotonic() > end + GRACE:
                    return
                done, _ = wait(flying, timeout=1.0, return_when=FIRST_COMPLETED)
                lost: LostError | None = None
                # In the order of their beginnings: what is done at once must not depend on chance.
                for future in [future for future in flying if future in done]:
                    flight = flying.pop(future)
                    try:
                        outcome = outcome_of(future)
                    except LostError as error:
                        # What else is done counts.
                        lost = error
                        continue
                    yield self._land(flight, outcome)
                if lost is not None:
                    raise lost

    def confirm(self, others: Sequence[Implementation] = ()) -> bool:
        """Measure the default, the fastest and other implementations in turns, and keep the
        fastest; false if the workers are lost: what they measured before counts."""
        # The best of each part may have been found beside others.
        together = self.assemble(self._chosen)
        fastest = (i for _, i in self._fastest[:CONTENDERS])
        try:
            least = contest(self._evaluate_all, [self.default, together, *others, *fastest])
        except LostError as error:
            self.lost = str(error)
            return False
        if not least:
            return False
        self.default_seconds = least.get(self.default, self.default_seconds)
        self.implementation = min(least, key=least.__getitem__)
        self.best = least[self.implementation]
        return True

    def _first(self, asked: deque[tuple[int, OpenTrial]], most: int, trials: int) -> list[Trial]:
        """The default of every part together, which others are compared with, and the best of
        earlier sessions. Seeds that are found meanwhile are asked for, at most so many."""
        defaults: dict[int, OpenTrial] = {}
        for number, (study, proposals) in enumerate(
            zip(self.studies, self._proposals, strict=True)
        ):
            if (asking := proposals.default()) is not None:
                defaults[number] = asking
            self._chosen[study.part.name] = proposals.first
        first = self.default = self.implementation = self.assemble(self._chosen)
        future, most = self.workers.submit(first, inf), min(most, trials - len(defaults))
        while len(asked) < most and not future.done():
            if (found := self._proposed(Proposals.seed)) is not None:
                asked.append(found)
            else:
                wait([future], PAUSE)
        outcome = outcome_of(future)
        if not outcome.is_good and self.base is None:
            raise TileError(f"the program as it is cannot be explored: {outcome.message}")
        self.best = self.default_seconds = outcome.seconds
        self._fastest = [(outcome.seconds, first)]
        if self.base is not None:
            self.default, self.default_seconds = self.base
        ends = [self._tell(n, asking, outcome, first) for n, asking in defaults.items()]
        self._resume()
        return ends

    def _resume(self) -> None:
        """Go on from the best of earlier sessions, if it is the fastest now, too."""
        best = [trial for proposals in self._proposals for trial in proposals.best[:1]]
        chosen = self._chosen | {trial.part: trial.text for trial in best}
        implementation = self.assemble(chosen)
        if implementation == self.implementation:
            return
        if self._take(self._evaluated(implementation), implementation):
            self._chosen = chosen

    def _evaluated(self, implementation: Implementation) -> Outcome:
        """Outcome of an implementation, however long it takes."""
        return outcome_of(self.workers.submit(implementation, inf))

    def _evaluate_all(self, implementations: Sequence[Implementation]) -> list[Outcome]:
        """Outcomes of implementations, measured in turns as runs or, where builds disturb runs, as
        wholes."""
        if not self.workers.apart:
            return [*map(self._evaluated, implementations)]
        futures = [self.workers.submit(implementation, inf) for implementation in implementations]
        return [*map(outcome_of, futures)]

    def _take(self, outcome: Outcome, implementation: Implementation) -> bool:
        """Keep an implementation if it is the fastest so far."""
        if not outcome.is_good:
            return False
        self._fastest.append((outcome.seconds, implementation))
        self._fastest.sort(key=lambda pair: pair[0])
        if outcome.seconds >= self.best:
            return False
        self.best, self.implementation = outcome.seconds, implementation
        return True

    def _ask(self, end: float) -> tuple[int, OpenTrial] | None:
        """The next candidate, found before the clock shows ``end``, and the number of its part."""
        return self._proposed(lambda proposals: proposals.next(end))

    def _proposed(
        self, ask: Callable[[Proposals], OpenTrial | None]
    ) -> tuple[int, OpenTrial] | None:
        """A candidate of the first part that has one, and the part's number."""
        for number in self._shares.order():
            if (asking := ask(self._proposals[number])) is not None:
                self._shares.spend(number)
                return number, asking
        return None

    def _submit(
        self, asked: deque[tuple[int, OpenTrial]], flying: dict[Future[Outcome], _Flight]
    ) -> None:
        """Begin trials of candidates, one for each of several workers: more would wait for certain
        ones, while others are idle."""
        count = self.workers.count
        while asked and len(flying) < max(count, 2):
            number, asking = asked.popleft()
            name = self.studies[number].part.name
            implementation = self.assemble({**self._chosen, name: asking.candidate.text})
            flight = _Flight(number, asking, implementation)
            flying[self.workers.submit(implementation, self.best)] = flight

    @contextmanager
    def _ended(self, flying: Mapping[Future[Outcome], _Flight]) -> Generator[None]:
        """End what is in flight when the search ends early: others need the workers."""
        try:
            yield
        finally:
            for future in flying:
                with suppress(Exception):
                    future.cancel()
            if flying:
                self.workers.interrupt()

    def _land(self, flight: _Flight, outcome: Outcome) -> Trial:
        trial = self._tell(flight.number, flight.asking, outcome, flight.implementation)
        if self._take(outcome, flight.implementation):
            self._chosen[trial.part] = trial.text
        return trial

    def _tell(
        self, number: int, asking: OpenTrial, outcome: Outcome, implementation: Implementation
    ) -> Trial:
        study = self.studies[number]
        trial = study.tell(asking, outcome, implementation.but(study.part.name))
        self._proposals[number].note(trial)
        self.trials.append(trial)
        return trial


@dataclass(frozen=True)
class _Flight:
    """A trial that is being evaluated."""

    number: int
    """Number of its part."""
    asking: OpenTrial
    implementation: Implementation


class _Shares:
    """Trials of parts in proportion to their weights."""

    def __init__(self, parts: Sequence[Part]):
        total = sum(part.weight for part in parts) or 1.0
        self._weights = [max(part.weight / total, 1e-3) for part in parts]
        self._spent = [0.0] * len(parts)

    def order(self) -> list[int]:
        """Numbers of parts, the one first that has had the least of its share."""
        return sorted(
            range(len(self._spent)), key=lambda k: (self._spent[k] + 1) / self._weights[k]
        )

    def spend(self, number: int) -> None:
        """Count a trial of a part."""
        self._spent[number] += 1


def contest(
    evaluate: Callable[[Sequence[Implementation]], Sequence[Outcome]],
    contenders: Sequence[Implementation],
) -> dict[Implementation, float]:
    """Least seconds of implementations that are measured in turns, without those that fail once.

    A single measurement may be lucky, or unlucky, and a kernel with a race may be right at times.
    Those that are much slower than the fastest one cannot win, and have one turn.
    """
    least = dict.fromkeys(contenders, inf)
    own = [*least]
    for _ in range(ROUNDS):
        for implementation, outcome in zip(own, evaluate(own), strict=True):
            if outcome.is_good:
                least[implementation] = min(least[implementation], outcome.seconds)
            else:
                del least[implementation]
        most = CLOSE * min(least.values(), default=inf)
        own = [implementation for implementation, seconds in least.items() if seconds <= most]
    return least
