"""Exploration from its subject to its result: parts, studies, workers, search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

from tiledialect.caches import compilation
from tiledialect.errors import TileError
from tiledialect.exploration import kept
from tiledialect.exploration.implementation import PASSES, Implementation
from tiledialect.exploration.kernels import KernelPart, kernel_parts
from tiledialect.exploration.lift.contractions import TO_LIFT, as_patterns
from tiledialect.exploration.lift.estimators import estimators_for
from tiledialect.exploration.lift.patterns import LiftPart
from tiledialect.exploration.lift.settings import Settings
from tiledialect.exploration.parts import Part
from tiledialect.exploration.programs import ProgramPart
from tiledialect.exploration.search import Assemble, Limits, Search
from tiledialect.exploration.study import Study, Trial, storage_of
from tiledialect.exploration.subject import Subject
from tiledialect.exploration.workers import Workers, workers_for
from tiledialect.lowering.runtime.program.program import Program
from tiledialect.passes.diagnostics.reporting import warn

ALREADY = (
    "{} has {} trials of {} for these shapes on this device: resume the search, or name another "
    "storage"
)
LOST = "the search ends early, as its workers are lost, and what it found is not kept: {}"
SHARE, FEWEST = 0.2, 8
"""Share of the trials for a program's passes, and for its derivations, and their number below which
there are none."""
NOTHING = "nothing of {} can be explored: its kernels have one schedule each"


@dataclass(frozen=True)
class Options:
    """Means and settings of an exploration."""

    storage: str | Path | None = None
    """URL of a database, or a file of a journal, of Optuna; None: memory."""
    workers: int | str = 1
    """Number of workers, or the address of a scheduler of Dask."""
    resume: bool = True
    """Whether to go on where the storage has trials."""
    settings: Settings = field(default_factory=Settings)
    """Settings of the search, and of the exploration of programs of patterns."""


@dataclass(frozen=True)
class Progress:
    """State of an exploration after a trial."""

    trial: Trial
    count: int
    best: float
    """Least seconds so far."""
    default: float
    """Seconds without exploration."""
    least: float
    """Lower bound of the seconds on the device."""


@dataclass(frozen=True)
class Explored:
    """Result of an exploration."""

    program: Program
    found: kept.Found
    trials: tuple[Trial, ...]
    least: float
    """Lower bound of the seconds on the device, by the cost model."""
    estimate: float
    """Seconds that the cost model gives the fastest implementation."""


@compilation()
def explored(subject: Subject, options: Options, report: Callable[[Progress], None]) -> Explored:
    """Search implementations of a program, and keep the fastest on disk.

    An interrupt ends the search early, and keeps what was found; a second one skips the last
    measurements, without which nothing is kept on disk.
    """
    own, began = options.settings.search, monotonic()
    with workers_for(subject, options.workers) as workers:
        run = _Run(subject, options, storage_of(options.storage), workers, report)
        left = max(0.0, own.seconds - (monotonic() - began))
        passes, limits = run.passes(Limits(own.trials, left))
        counted = run.parts(passes, limits)
        is_confirmed = run.confirm(kept.implementations(subject))
    if run.search.lost:
        warn([LOST.format(run.search.lost)])
    trials = tuple(trial for study in run.studies for trial in study.trials())
    counts = Counter(trial.part for trial in trials)
    search = run.search
    found = kept.found_for(
        *(subject, search.implementation, search.best, search.default_seconds),
        min((counts[name] for name in counted), default=0),
    )
    if is_confirmed:
        kept.keep_for(subject, found)
    estimate = _estimate(search.implementation, trials)
    return Explored(subject.program, found, trials, run.least, estimate)


@dataclass
class _Run:
    """Searches of an exploration: of the program's passes, and then of what these leave open."""

    subject: Subject
    options: Options
    storage: Any
    workers: Workers
    report: Callable[[Progress], None]
    studies: list[Study] = field(default_factory=list[Study])
    search: Search = field(init=False)
    """The last search."""
    least: float = 0.0
    count: int = 0
    """Trials so far."""
    is_over: bool = False
    """Whether the user has ended the search, or its workers are lost."""
    rivals: list[Implementation] = field(default_factory=list[Implementation])
    """The fastest implementations of earlier searches, to compare with in the end."""
    _known: dict[Implementation, Sequence[KernelPart]] = field(
        default_factory=dict[Implementation, Sequence[KernelPart]]
    )
    """Kernels by the passes of the program."""

    def passes(self, limits: Limits) -> tuple[Implementation, Limits]:
        """The fastest passes of a Tile program, and the limits of what is left to search.

        They have a share of the trials; where that is small, the cost model chooses.
        """
        own = _share(limits)
        if not self.subject.program.is_scheduled or own.trials < FEWEST:
            return Implementation(), limits
        given = self.subject.program, self.subject.types, self.subject.device
        part, began = ProgramPart(*given), monotonic()
        if not part.decisions:
            return Implementation(), limits
        kernels = self._kernels(Implementation())
        self.least = sum(kernel.least for kernel in kernels)
        if not self.options.resume:
            # A storage of a search without this part is refused before anything is measured.
            self._new_studies(self.subject, kernels)
        self._search(self.subject, [part], _with_passes, own)
        if not self.is_over:
            self.confirm()
        spent = monotonic() - began
        left = Limits(limits.trials - self.count, max(0.0, limits.seconds - spent))
        return self.search.implementation, left

    def parts(self, passes: Implementation, limits: Limits) -> list[str]:
        """Search the parts that a program has by these passes, and give their names."""
        subject = self._after(passes)
        if not subject.program.is_scheduled and not subject.program.is_lowered:
            lift = LiftPart.of(subject, self.options.settings)
            self.least = lift.least
            self._search_patterns(subject, lift, limits)
            return [lift.name]
        parts, patterns = self._kernels(passes), self._patterns(limits)
        own = _share(limits)
        if patterns is not None:
            limits = Limits(limits.trials - own.trials, limits.seconds * (1 - SHARE))
        self.least = sum(part.least for part in parts)
        if parts and not self.is_over:
            self._search(
                subject, parts, partial(Implementation.of_kernels, passes=passes.passes), limits
            )
        elif not self.studies:
            raise TileError(NOTHING.format(subject.program.result_name))
        if patterns is not None and not self.is_over:
            self.rivals.append(self.search.implementation)
            self._search_patterns(self.subject, patterns, own)
        return [part.name for part in parts]

    def _search_patterns(self, subject: Subject, part: LiftPart, limits: Limits) -> None:
        """Search a program of patterns; as many processes as build candidates estimate others."""
        wanted = self.options.workers
        with estimators_for(part, wanted if isinstance(wanted, int) else 1) as part.estimators:
            self._search(subject, [part], _with_steps, limits)

    def confirm(self, others: Sequence[Implementation] = ()) -> bool:
        """Measure the fastest implementations and others again; false if the user or a loss of the
        workers ends that."""
        try:
            return not self.search.lost and self.search.confirm((*self.rivals, *others))
        except KeyboardInterrupt:
            self.is_over = True
            return False
        finally:
            self.is_over |= bool(self.search.lost)

    def _after(self, passes: Implementation) -> Subject:
        """The subject whose program has these passes."""
        subject = self.subject
        return replace(
            subject, program=passes.applied(subject.program, subject.types, subject.device)
        )

    def _patterns(self, limits: Limits) -> LiftPart | None:
        """A Tile program of contractions as patterns; None if it is none, or trials are few."""
        program = self.subject.program
        if _share(limits).trials < FEWEST or program.is_chosen or program.is_lowered:
            return None
        given = self.subject.types, self.subject.device
        try:
            subject = replace(self.subject, program=as_patterns(program, *given))
            return LiftPart.of(subject, self.options.settings, first=TO_LIFT)
        except TileError:
            return None

    def _kernels(self, passes: Implementation) -> Sequence[KernelPart]:
        """The kernels that a Tile program has by these passes."""
        if passes not in self._known:
            self._known[passes] = kernel_parts(self._after(passes))
        return self._known[passes]

    def _new_studies(self, subject: Subject, parts: Sequence[Part]) -> list[Study]:
        """Studies of parts.

        Raises a TileError if the storage has trials of these, and the search resumes none.
        """
        own = self.options.settings.search
        studies = [Study(subject.key, p, self.storage, own.seed, own.sampler) for p in parts]
        if not self.options.resume and (count := sum(study.kept_count for study in studies)):
            name = self.subject.program.result_name
            raise TileError(ALREADY.format(self.options.storage, count, name))
        return studies

    def _search(
        self, subject: Subject, parts: Sequence[Part], assemble: Assemble, limits: Limits
    ) -> None:
        own, studies = self.options.settings.search, self._new_studies(subject, parts)
        before = self.search if self.studies else None
        base = (before.default, before.default_seconds) if before is not None else None
        self.studies += studies
        self.search = search = Search(studies, assemble, self.workers, Random(own.seed), base)
        try:
            with closing(search.run(limits)) as trials:
                for trial in trials:
                    self.count += 1
                    state = self.count, search.best, search.default_seconds, self.least
                    self.report(Progress(trial, *state))
        except KeyboardInterrupt:
            if search.best == inf and before is None:
                raise
            self.is_over = True
        self.is_over |= bool(search.lost)
        if search.best == inf and before is not None:
            # Nothing was measured: what was found before counts.
            before.lost = search.lost
            self.search = before


def _share(limits: Limits) -> Limits:
    """Limits of a search before or after that of the kernels."""
    return Limits(int(limits.trials * SHARE), limits.seconds * SHARE)


def _with_passes(chosen: Mapping[str, str]) -> Implementation:
    return Implementation(passes=tuple(chosen.get(PASSES, "").splitlines()))


def _with_steps(chosen: Mapping[str, str]) -> Implementation:
    return Implementation(steps=next(iter(chosen.values()), ""))


def _estimate(implementation: Implementation, trials: tuple[Trial, ...]) -> float:
    """Seconds of an implementation by the cost model: of its kernels, if they have schedules."""
    schedules = implementation.schedules
    whole = implementation.steps or "\n".join(implementation.passes)
    own = [t for t in trials if f"{t.part}: {t.text}" in schedules]
    own = own if schedules else [t for t in trials if t.text == whole]
    return sum({t.part: t.estimate for t in own}.values())
