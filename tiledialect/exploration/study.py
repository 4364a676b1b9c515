"""Studies of Optuna: the trials of a part of a program, kept in a storage."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from tiledialect.errors import TileError
from tiledialect.exploration.evaluation import Failure, Outcome
from tiledialect.exploration.parts import Candidate, Part
from tiledialect.passes.diagnostics.reporting import warn
from tiledialect.schedule.search.decisions import (
    DeadEndError,
    Decisions,
    Fixed,
    Option,
    nearest,
)

if TYPE_CHECKING:
    import optuna

INSTALL = "exploring needs Optuna: pip install 'tiledialect[explore]'"
TEXT, ESTIMATE, FAILURE, MESSAGE, SOURCE = "text", "estimate", "failure", "message", "source"
DECISIONS = "decisions"
"""Attributes of trials in a storage."""
OFTEN = 5.0
"""Seconds between looks for trials of other processes."""
JOURNALS = (".log", ".journal")
"""Names of files of Optuna's journal end so; other texts are URLs of databases."""


def library() -> Any:
    """Optuna, without its lines about every trial; a TileError if it is not installed."""
    try:
        import optuna
    except ImportError:
        raise TileError(INSTALL) from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def storage_of(where: str | Path | None) -> Any:
    """A storage of Optuna: a URL of a database, or a file of a journal; None: memory is enough."""
    optuna = library()
    if where is None:
        return None
    text = str(where)
    try:
        if text.endswith(JOURNALS):
            backend = optuna.storages.journal.JournalFileBackend(text)
            return optuna.storages.JournalStorage(backend)
        return optuna.storages.RDBStorage(text)
    except Exception as error:
        raise TileError(f"the storage {text} cannot be opened: {error}") from None


def parameter(name: str, options: Sequence[Option], domain: Sequence[str]) -> str:
    """Name of a decision for samplers, which take equal names for equal words: in a storage there
    may be trials of a space with others, as by other settings."""
    if isinstance(options[0], int):
        return name
    digest = hashlib.sha256("\n".join(map(str, domain or options)).encode())
    return f"{name} {digest.hexdigest()[:8]}"


class Named(Fixed):
    """Chooser of given decisions, with their names for samplers."""

    def __init__(self, given: Decisions):
        super().__init__(given)
        self.named: dict[str, Option] = {}
        """Decisions so far by these names."""

    def choose(self, name: str, options: Sequence[Option], domain: Sequence[str] = ()) -> Option:
        """A given option, or the nearest."""
        found = super().choose(name, options, domain)
        self.named[parameter(name, options, domain)] = found
        return found


class Asked:
    """Chooser by a trial of Optuna, whose sampler decides."""

    def __init__(self, trial: optuna.Trial):
        self.made: dict[str, Option] = {}
        self._trial = trial

    def choose(self, name: str, options: Sequence[Option], domain: Sequence[str] = ()) -> Option:
        """The sampler's option, or the nearest that there is."""
        if not options:
            raise DeadEndError(name)
        own = parameter(name, options, domain)
        if isinstance(options[0], int):
            numbers = [n for n in options if isinstance(n, int)]
            low, high = numbers[0], numbers[-1]
            wanted = low if low == high else self._trial.suggest_int(own, low, high, log=low >= 1)
        else:
            words = [str(word) for word in (domain or options)]
            wanted = words[0] if len(words) == 1 else self._trial.suggest_categorical(own, words)
        self.made[name] = nearest(wanted, options, domain)
        return self.made[name]


@dataclass(frozen=True)
class Trial:
    """A candidate and its outcome."""

    part: str
    number: int
    text: str
    """Schedule or derivation."""
    estimate: float
    """Seconds by the cost model."""
    seconds: float
    """Measured seconds of a call; infinite if it failed."""
    failure: str
    message: str
    source: str
    """Origin of the candidate: a seed, a mutation, or the sampler."""
    decisions: Decisions


@dataclass(frozen=True)
class Asking:
    """A candidate that is being evaluated."""

    trial: Any
    candidate: Candidate
    source: str
    decisions: Decisions


class Study:
    """The trials of one part on one device."""

    def __init__(self, key: str, part: Part, storage: Any, seed: int, sampler: str):
        optuna = library()
        seed %= 1 << 32
        samplers = {
            "tpe": lambda: optuna.samplers.TPESampler(seed=seed, constant_liar=True),
            "random": lambda: optuna.samplers.RandomSampler(seed=seed),
        }
        if sampler not in samplers:
            raise TileError(f"there is no sampler {sampler!r}; there is {', '.join(samplers)}")
        self.part = part
        self._states = optuna.trial.TrialState
        # The sampler asks often, and databases take milliseconds for every decision.
        self._study = optuna.create_study(sampler=samplers[sampler]())
        self._kept = None
        if storage is not None:
            name = f"{key}/{part.name}"
            try:
                self._kept = optuna.create_study(
                    study_name=name, storage=storage, load_if_exists=True
                )
            except Exception as error:
                raise TileError(f"the storage cannot be used: {error}") from None
        self._count = 0
        """Trials of the storage that were read."""
        self._looked = -inf
        self.seen: set[str] = set()
        """Texts that were evaluated, or are being evaluated."""

    @property
    def kept_count(self) -> int:
        """Number of trials in the storage."""
        return 0 if self._kept is None else len(self._kept.get_trials(deepcopy=False))

    def new_trials(self) -> list[Trial]:
        """Trials in the storage of other processes and earlier sessions since the last look."""
        if self._kept is None or monotonic() < self._looked + OFTEN:
            return []
        self._looked = monotonic()
        try:
            there = self._kept.get_trials(deepcopy=False)[self._count :]
        except Exception as error:
            self._lose(error)
            return []
        self._count += len(there)
        found: list[Trial] = []
        for trial in there:
            if TEXT in trial.user_attrs and trial.user_attrs[TEXT] not in self.seen:
                self._study.add_trial(trial)
                found.append(self._read(trial))
                self.seen.add(found[-1].text)
        return found

    def trials(self) -> Iterator[Trial]:
        """Evaluated candidates, also those of earlier sessions and of other processes."""
        for trial in self._study.get_trials(deepcopy=False):
            if trial.state.is_finished() and FAILURE in trial.user_attrs:
                yield self._read(trial)

    def _read(self, trial: Any) -> Trial:
        given = trial.user_attrs
        return Trial(
            *(self.part.name, trial.number, given[TEXT], given[ESTIMATE]),
            trial.values[0] if trial.state == self._states.COMPLETE else inf,
            *(given[FAILURE], given[MESSAGE], given[SOURCE], json.loads(given[DECISIONS])),
        )

    def ask(self, source: str, decisions: Decisions | None = None) -> Asking | None:
        """A candidate by given decisions, or by the sampler's; None if they make none that is
        new."""
        named = None if decisions is None else self._new(decisions)
        if decisions is not None and named is None:
            return None
        with warnings.catch_warnings():
            # Given decisions may be outside the sampler's range.
            warnings.simplefilter("ignore")
            if named is not None:
                self._study.enqueue_trial(dict(named))
            trial = self._study.ask()
            chooser = Asked(trial)
            try:
                candidate = self.part.candidate(chooser)
            except DeadEndError:
                self._study.tell(trial, state=self._states.FAIL)
                return None
        if candidate.text in self.seen:
            # The sampler takes time for each trial that has a value.
            self._study.tell(trial, state=self._states.FAIL)
            return None
        self.seen.add(candidate.text)
        return Asking(trial, candidate, source, chooser.made)

    def _new(self, decisions: Decisions) -> Decisions | None:
        """Decisions by their names for the sampler; None if they make no new candidate."""
        chooser = Named(decisions)
        try:
            candidate = self.part.candidate(chooser)
        except DeadEndError:
            return None
        return None if candidate.text in self.seen else chooser.named

    def drop(self, asking: Asking) -> None:
        """Leave out a candidate that is not worth a trial."""
        self.seen.remove(asking.candidate.text)
        self._study.tell(asking.trial, state=self._states.FAIL)

    def tell(self, asking: Asking, outcome: Outcome) -> Trial:
        """Keep the outcome of a candidate."""
        trial, candidate = asking.trial, asking.candidate
        given = {
            TEXT: candidate.text,
            ESTIMATE: candidate.estimate,
            FAILURE: str(outcome.failure),
            MESSAGE: outcome.message[:2000],
            SOURCE: asking.source,
            DECISIONS: json.dumps(dict(asking.decisions)),
        }
        for name, value in given.items():
            trial.set_user_attr(name, value)
        good = outcome.is_good or outcome.failure == Failure.SLOW
        if good:
            self._study.tell(trial, outcome.seconds)
        else:
            self._study.tell(trial, state=self._states.FAIL)
        self._keep(self._study.get_trials(deepcopy=False)[trial.number])
        seconds = outcome.seconds if good else inf
        return Trial(
            *(self.part.name, trial.number, candidate.text, candidate.estimate, seconds),
            *(outcome.failure, outcome.message, asking.source, asking.decisions),
        )

    def _keep(self, trial: Any) -> None:
        """Add a trial to the storage."""
        if self._kept is not None:
            try:
                self._kept.add_trial(trial)
            except Exception as error:
                self._lose(error)

    def _lose(self, error: Exception) -> None:
        """Go on without the storage: what was found counts more."""
        self._kept = None
        warn([f"the storage of the search fails, and keeps no more trials: {error}"])
