"""One exploration from its subject to its result: parts, studies, workers, search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from random import Random
from typing import Any

from tiledialect.errors import TileError
from tiledialect.exploration import kept
from tiledialect.exploration.implementation import Implementation
from tiledialect.exploration.kernels import kernel_parts
from tiledialect.exploration.parts import Part
from tiledialect.exploration.patterns import LiftPart
from tiledialect.exploration.search import Limits, Search
from tiledialect.exploration.settings import Settings
from tiledialect.exploration.study import Study, Trial, storage_of
from tiledialect.exploration.subject import Subject
from tiledialect.exploration.workers import workers_for
from tiledialect.lowering.runtime.program.program import Program
from tiledialect.passes.diagnostics.reporting import warn

ALREADY = (
    "{} has {} trials of {} for these shapes on this device: resume the search, or name another "
    "storage"
)
LOST = "the search ends early, as its workers are lost, and what it found is not kept: {}"
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


def explored(subject: Subject, options: Options, report: Callable[[Progress], None]) -> Explored:
    """Search implementations of a program, and keep the fastest on disk.

    An interrupt ends the search early, and keeps what was found; a second one skips the last
    measurements, without which nothing is kept on disk.
    """
    parts, assemble = _parts(subject, options.settings)
    if not parts:
        raise TileError(NOTHING.format(subject.program.result_name))
    storage, own = storage_of(options.storage), options.settings.search
    studies = [Study(subject.key, part, storage, own.seed, own.sampler) for part in parts]
    if not options.resume and (count := sum(study.kept_count for study in studies)):
        raise TileError(ALREADY.format(options.storage, count, subject.program.result_name))
    least = sum(part.least for part in parts)
    with workers_for(subject, options.workers) as workers:
        search = Search(studies, assemble, workers, Random(own.seed))
        try:
            for trial in search.run(Limits(own.trials, own.seconds)):
                default = search.default_seconds
                report(Progress(trial, len(search.trials), search.best, default, least))
        except KeyboardInterrupt:
            if search.best == inf:
                raise
        is_confirmed = False
        with suppress(KeyboardInterrupt):
            is_confirmed = not search.lost and search.confirm(kept.implementations(subject))
    if search.lost:
        warn([LOST.format(search.lost)])
    trials = tuple(trial for study in studies for trial in study.trials())
    counts = Counter(trial.part for trial in trials)
    found = kept.found_for(
        *(subject, search.implementation, search.best, search.default_seconds),
        min(counts[part.name] for part in parts),
    )
    if is_confirmed:
        kept.keep(found)
    return Explored(subject.program, found, trials, least, _estimate(search.implementation, trials))


def _parts(
    subject: Subject, settings: Settings
) -> tuple[list[Part], Callable[[Mapping[str, str]], Implementation]]:
    """Parts of a program, and the implementation that candidates of them make."""
    if not subject.program.is_scheduled and not subject.program.is_lowered:
        part = LiftPart.of(subject, settings)
        return [part], lambda chosen: Implementation(steps=chosen.get(part.name, ""))
    parts: list[Any] = kernel_parts(subject)
    return parts, lambda chosen: Implementation(tuple(f"{k}: {v}" for k, v in chosen.items()))


def _estimate(implementation: Implementation, trials: tuple[Trial, ...]) -> float:
    texts = {*implementation.schedules, implementation.steps}
    return sum(
        {t.part: t.estimate for t in trials if {f"{t.part}: {t.text}", t.text} & texts}.values()
    )
