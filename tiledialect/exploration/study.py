"""Studies of Optuna: the trials of a part of a program, kept in a storage."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from tiledialect.errors import TileError
from tiledialect.exploration.evaluation import Failure, Outcome
from tiledialect.exploration.implementation import Implementation
from tiledialect.exploration.parts import Candidate, Part
from tiledialect.passes.diagnostics.reporting import warn
from tiledialect.records import from_json, to_json
from tiledialect.schedule.search.decisions import (
    Chooser,
    DeadEndError,
    Decisions,
    Option,
    made,
    nearest,
)

if TYPE_CHECKING:
    import optuna

INSTALL = "exploring needs Optuna: pip install 'tiledialect[explore]'"
TEXT, ESTIMATE, FAILURE, MESSAGE, SOURCE = "text", "estimate", "failure", "message", "source"
DECISIONS, BESIDE, OWN = "decisions", "implementation beside", "own"
"""Attributes of trials in a storage."""
NOTHING = Implementation()
OUT_OF_RANGE = "Fixed parameter .* is out of range"
"""Begin of a warning of Optuna."""
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


@dataclass(frozen=True)
class Proposal:
    """A candidate with the decisions that make it."""

    candidate: Candidate
    names: Mapping[str, str]
    """Names of the decisions for samplers, by their own."""
    named: Decisions
    """Decisions by their names for samplers."""
    domains: Mapping[str, Sequence[Option]]
    """Domains of these: words, or the least and the greatest number."""


class RecordingChooser:
    """Chooser that records the decisions of another one, for samplers."""

    def __init__(self, chooser: Chooser):
        self.names: dict[str, str] = {}
        self.named: dict[str, Option] = {}
        self.domains: dict[str, Sequence[Option]] = {}
        self._chooser = chooser

    def choose(self, name: str, options: Sequence[Option], domain: Sequence[str] = ()) -> Option:
        """The option of the other chooser."""
        found = self._chooser.choose(name, options, domain)
        self.names[name] = own = parameter(name, options, domain)
        self.named[own] = found
        self.domains[own] = domain_of(options, domain)
        return found


def domain_of(options: Sequence[Option], domain: Sequence[str]) -> Sequence[Option]:
    """Domain of a decision for samplers: words, or the least and the greatest number."""
    if isinstance(options[0], int):
        return options[0], options[-1]
    return [str(word) for word in domain or options]


class SamplerChooser:
    """Chooser whose decisions are those of a sampler, in a trial of Optuna."""

    def __init__(self, trial: optuna.Trial):
        self.made: dict[str, Option] = {}
        self._trial = trial

    def choose(self, name: str, options: Sequence[Option], domain: Sequence[str] = ()) -> Option:
        """The sampler's option, or the nearest that there is."""
        if not options:
            raise DeadEndError(name)
        own, words = parameter(name, options, domain), domain_of(options, domain)
        wanted = words[0] if words[0] == words[-1] else self._asked(own, words)
        self.made[name] = nearest(wanted, options, domain)
        return self.made[name]

    def _asked(self, name: str, domain: Sequence[Option]) -> Option:
        low, high = domain[0], domain[-1]
        if isinstance(low, int) and isinstance(high, int):
            return self._trial.suggest_int(name, low, high, log=low >= 1)
        return self._trial.suggest_categorical(name, [str(word) for word in domain])


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
    beside: Implementation = NOTHING
    """Passes of the program, and schedules of the other kernels."""
    own: float = inf
    """Seconds of the part's kernel, as the estimate; of the call, where they are not known."""


@dataclass(frozen=True)
class OpenTrial:
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
        seconds = trial.values[0] if trial.state == self._states.COMPLETE else inf
        return Trial(
            *(self.part.name, trial.number, given[TEXT], given[ESTIMATE], seconds),
            *(given[FAILURE], given[MESSAGE], given[SOURCE], json.loads(given[DECISIONS])),
            from_json(Implementation, given[BESIDE]) if BESIDE in given else NOTHING,
            given.get(OWN, seconds),
        )

    def proposal(self, chooser: Chooser) -> Proposal:
        """The candidate that decisions make: a space of its own."""
        recording = RecordingChooser(chooser)
        candidate = self.part.candidate(recording)
        return Proposal(candidate, recording.names, recording.named, recording.domains)

    def ask(self, source: str, decisions: Decisions, proposal: Proposal) -> OpenTrial | None:
        """Begin a trial of a candidate; None if it is not new."""
        if proposal.candidate.text in self.seen:
            return None
        self.seen.add(proposal.candidate.text)
        self._study.enqueue_trial(dict(proposal.named))
        trial = self._study.ask(fixed_distributions=_distributions(proposal))
        return OpenTrial(trial, proposal.candidate, source, decisions)

    def ask_sampler(
        self, source: str, parent: Decisions, opened: Collection[str]
    ) -> OpenTrial | None:
        """Begin a trial of a candidate by the sampler's decisions where a parent's are opened; None
        if it makes no new one."""
        known = made(self.proposal, parent)[1]
        kept = {known.names[n] for n in parent if n in known.names and n not in opened}
        self._study.enqueue_trial({n: own for n, own in known.named.items() if n in kept})
        trial = self._study.ask()
        chooser = SamplerChooser(trial)
        with suppress(DeadEndError), warnings.catch_warnings():
            # What the parent has may be out of the range that the sampler's decisions leave.
            warnings.filterwarnings("ignore", OUT_OF_RANGE)
            candidate = self.part.candidate(chooser)
            if candidate.text not in self.seen:
                self.seen.add(candidate.text)
                return OpenTrial(trial, candidate, source, chooser.made)
        # The sampler takes time for each trial that has a value.
        self._study.tell(trial, state=self._states.FAIL)
        return None

    def drop(self, asking: OpenTrial) -> None:
        """Leave out a candidate that is not worth a trial."""
        self.seen.remove(asking.candidate.text)
        self._study.tell(asking.trial, state=self._states.FAIL)

    def end(self) -> None:
        """Leave out all candidates without an outcome."""
        for trial in self._study.get_trials(deepcopy=False, states=(self._states.RUNNING,)):
            self._study.tell(trial.number, state=self._states.FAIL)

    def tell(self, asking: OpenTrial, outcome: Outcome, beside: Implementation = NOTHING) -> Trial:
        """Keep the outcome of a candidate beside decisions on the other parts."""
        trial, candidate = asking.trial, asking.candidate
        given = {
            TEXT: candidate.text,
            ESTIMATE: candidate.estimate,
            FAILURE: str(outcome.failure),
            MESSAGE: outcome.message[:2000],
            SOURCE: asking.source,
            DECISIONS: json.dumps(dict(asking.decisions)),
            BESIDE: to_json(beside),
        }
        good = outcome.is_good or outcome.failure == Failure.SLOW
        seconds, own = outcome.seconds if good else inf, outcome.seconds_of(self.part.name)
        if good:
            given[OWN] = own
        for name, value in given.items():
            trial.set_user_attr(name, value)
        if good:
            self._study.tell(trial, seconds)
        else:
            self._study.tell(trial, state=self._states.FAIL)
        self._keep(self._study.get_trials(deepcopy=False)[trial.number])
        return Trial(
            *(self.part.name, trial.number, candidate.text, candidate.estimate, seconds),
            *(outcome.failure, outcome.message, asking.source, asking.decisions, beside, own),
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


def _distributions(proposal: Proposal) -> dict[str, Any]:
    """Distributions of a candidate's decisions, as `SamplerChooser` asks for them."""
    kinds = library().distributions
    found: dict[str, Any] = {}
    for name, (low, *more) in proposal.domains.items():
        if isinstance(low, int):
            high = more[-1]
            found[name] = kinds.IntDistribution(low, high, log=low >= 1)
        else:
            found[name] = kinds.CategoricalDistribution([low, *more])
    return found
