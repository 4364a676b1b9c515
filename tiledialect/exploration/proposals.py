"""Proposals of candidates for a part: seeds, mutations of the best, and the sampler's own.

The cost model decides which are worth a trial: mutations are drawn by the dozen, and of these the
one is tried that is thought to be fastest. The measured times of similar candidates correct the
estimates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from math import exp, inf, log
from random import Random
from statistics import fmean
from time import monotonic

from tiledialect.exploration.parts import Candidate
from tiledialect.exploration.study import OpenTrial, Proposal, Study, Trial
from tiledialect.schedule.search.decisions import (
    DeadEndError,
    Decisions,
    Option,
    drawn,
    enumerated,
    made,
    mutated,
)

SEED, MUTATION, SAMPLER, DRAW = "seed", "mutation", "sampler", "draw"
"""Origins of candidates."""
PARENTS = 6
"""Number of best candidates that are mutated."""
ASKS = 6
"""Candidates of the sampler that are estimated for one trial."""
OPENED = 3
"""Decisions of one of the best candidates that the sampler makes otherwise: with many, most
decisions make no schedule that the device has room for."""
DRAWS = 20
"""Draws after which the space counts as exhausted, where nothing else gives a new candidate, for
each mutation of a trial."""
ENUMERATED = 200
"""Candidates that are enumerated where draws give nothing new, for each mutation of a trial: small
spaces are searched to their ends, however rare a candidate is among draws."""
WORTH = 3.0
"""Most expected time of a candidate of the sampler, in multiples of the best one's."""
TURNS = (SEED, MUTATION, MUTATION, SAMPLER)
"""Origins in turn, after the default."""


@dataclass
class Proposals:
    """Source of a study's candidates, one after the other."""

    study: Study
    random: Random
    best: list[Trial] = field(default_factory=list[Trial])
    """Measured candidates, the fastest first."""

    def __post_init__(self):
        self._correction = Correction()
        self._seeds = self.study.part.seeds()
        tries = ENUMERATED * self.study.part.mutations
        self._first_ones = enumerated(self.study.proposal, tries)
        self._turn = 0
        default = next(self._seeds)
        assert default is not None
        self._default = made(self.study.proposal, default)
        self.first = self._default[1].candidate.text
        """Text of the default candidate."""
        self._look()

    def note(self, trial: Trial) -> None:
        """Take the outcome of a candidate into account."""
        self._correction.note(trial)
        if trial.seconds < inf:
            self.best.append(trial)
            self.best.sort(key=lambda t: t.own)

    def default(self) -> OpenTrial | None:
        """The candidate without a search; None if its outcome is known."""
        return self.study.ask(SEED, *self._default)

    def next(self, end: float) -> OpenTrial | None:
        """The next candidate; None if none is found before the clock shows ``end``."""
        sources: Mapping[str, Callable[[], OpenTrial | None]] = {
            SEED: self.seed,
            MUTATION: self._mutation,
            SAMPLER: self._sample,
        }
        self._look()
        count = len(self.best)
        if count < self.study.part.least_seeds:
            found = self.seed(end if count < self.study.part.awaited_seeds else -inf)
            if found is not None:
                return found
        for _ in TURNS:
            self._turn += 1
            if (found := sources[TURNS[self._turn % len(TURNS)]]()) is not None:
                return found
        return self._draw()

    def _look(self) -> None:
        """Take the trials of other processes into account."""
        for trial in self.study.new_trials():
            self.note(trial)

    def _draw(self) -> OpenTrial | None:
        """Any new candidate; the first ones of the space, where draws give none."""
        for _ in range(DRAWS * self.study.part.mutations):
            with suppress(DeadEndError):
                found = self.study.ask(DRAW, *drawn(self.study.proposal, self.random, 1))
                if found is not None:
                    return found
        for decisions, proposal in self._first_ones:
            if (found := self.study.ask(DRAW, decisions, proposal)) is not None:
                return found
        return None

    def seed(self, end: float = -inf) -> OpenTrial | None:
        """The next seed, or None; where seeds pause, only until the clock shows ``end``."""
        for decisions in self._seeds:
            if decisions is None:
                if monotonic() >= end:
                    return None
                continue
            with suppress(DeadEndError):
                found = self.study.ask(SEED, *made(self.study.proposal, decisions))
                if found is not None:
                    return found
        return None

    def _mutation(self) -> OpenTrial | None:
        """The most promising of some mutations of the best candidates."""
        found = min(self._mutations(), key=lambda triple: triple[0], default=None)
        return None if found is None else self.study.ask(MUTATION, *found[1:])

    def _mutations(self) -> Iterator[tuple[float, Decisions, Proposal]]:
        """New candidates, after the times that are expected of them."""
        for _ in range(self.study.part.mutations if self.best else 0):
            parent = self.random.choice(self.best[:PARENTS])
            with suppress(DeadEndError):
                given = parent.decisions, self.random, 4
                decisions, proposal = mutated(self.study.proposal, *given)
                candidate = proposal.candidate
                if candidate.text not in self.study.seen:
                    yield self._correction.expected(candidate, decisions), decisions, proposal

    def _sample(self) -> OpenTrial | None:
        """A candidate of the sampler that is worth a trial."""
        for _ in range(ASKS if self.best else 0):
            parent = self.random.choice(self.best[:PARENTS]).decisions
            opened = self.random.sample([*parent], min(OPENED, len(parent)))
            asking = self.study.ask_sampler(SAMPLER, parent, opened)
            if asking is None:
                continue
            expected = self._correction.expected(asking.candidate, asking.decisions)
            if expected <= WORTH * self.best[0].own:
                return asking
            self.study.drop(asking)
        return None


FAILED = 10.0
"""Time over estimate of a failed candidate, in multiples of the others' mean, for candidates like
it."""
PRIOR = 0.5
"""Weight of the estimate as it is, against similar candidates of weight 1 for an equal one."""


Made = frozenset[tuple[str, Option]]
"""Decisions as a set: what two have in common is soon counted."""


class Correction:
    """Correction of estimates by measured times: a mean over trials, weighted by similarity.

    It is kernel regression (Nadaraya, Watson) of the logarithm of time over estimate, where the
    distance of two candidates is the share of decisions in which they differ.
    """

    def __init__(self):
        self._trials: list[tuple[Made, float | None]] = []
        """Decisions with the logarithms of time over estimate; None for failed candidates."""
        self._known: list[float] = []
        """These logarithms."""

    def note(self, trial: Trial) -> None:
        """Take a trial into account."""
        ratio = log(trial.own / trial.estimate) if trial.own < inf else None
        self._trials.append((frozenset(trial.decisions.items()), ratio))
        self._known += [] if ratio is None else [ratio]

    def expected(self, candidate: Candidate, decisions: Decisions) -> float:
        """Seconds that a candidate is thought to take."""
        failed = log(FAILED) + (fmean(self._known) if self._known else 0.0)
        total, weights, own = 0.0, PRIOR, frozenset(decisions.items())
        for other, ratio in self._trials:
            weight = exp(-SHARPNESS * _distance(own, other))
            total += weight * (failed if ratio is None else ratio)
            weights += weight
        return candidate.estimate * exp(total / weights)


SHARPNESS = 12.0
"""Factor of the distance in the exponent: each of 17 decisions that differs halves
the weight."""


def _distance(a: Made, b: Made) -> float:
    """Share of decisions that differ, or that one of the two lacks."""
    return 1 - len(a & b) / max(len(a), len(b), 1)
