"""Recording of schedules from all of a kernel's space, for replays of searches.

Of each kernel, candidates are measured by turns that the cost model ranks best, that differ from
the fastest in one decision, and that are drawn at random. Each is built and run in a process of its
own, and compared with the reference semantics, as in a search.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import inf, prod
from operator import itemgetter
from pathlib import Path
from random import Random

from cost_model import kernel_of, task_of
from timings import Kernel, Timing, write

import tiledialect as td
from tiledialect.dialects.tile.schedule_text import parse_schedule_text
from tiledialect.exploration.evaluation import Evaluator, Failure
from tiledialect.exploration.implementation import Implementation
from tiledialect.exploration.kernels import KernelPart
from tiledialect.exploration.parts import Candidate
from tiledialect.schedule.loops import Role
from tiledialect.schedule.search.decisions import (
    Chooser,
    DeadEndError,
    Decisions,
    drawn,
    made,
    mutated,
)

LINES = (
    *("product/small", "product/skinny@M=256,N=256", "product/matrix-vector@M=512,L=1024"),
    *("convolution/3x3@N=1,H=28,W=28", "convolution/depthwise@N=1", "pooling/average@N=1"),
    *("rows/softmax@R=256", "reduction/column sums@R=512,C=1024"),
    *("move/transposition@R=512,C=512", "stencil/9 points@H=512,W=512"),
)
"""Lines of the benchmark that are recorded, with sizes that take less than a millisecond."""
PARENTS = 6
"""Number of fastest candidates that are changed."""
MOST_UNROLLED = 64
"""Most unrolled steps of candidates that are changed or drawn: compilers take seconds for more."""
LIMIT = 3.0
"""Seconds that building a candidate, or all its runs, may take."""
MISSES = 400
"""Candidates one after the other that are known already, after which there are no more."""


class _Source:
    """Source of a kernel's candidates, each once."""

    def __init__(self, kernel: Kernel, random: Random):
        self._kernel, self._random = kernel, random
        self._part = KernelPart(kernel.name, kernel.op, kernel.described)
        self._seeds = self._part.seeds()
        self.measured: list[tuple[float, Decisions]] = []

    def candidates(self) -> Iterator[tuple[Decisions, Candidate]]:
        """Candidates, the default first, until each way finds none."""
        seen: set[str] = set()
        misses = 0
        for way in itertools.cycle((self._ranked, self._changed, self._drawn, self._drawn)):
            misses += 1
            if misses > MISSES:
                return
            try:
                decisions, candidate = way()
            except (DeadEndError, StopIteration):
                continue
            if candidate.text not in seen:
                seen.add(candidate.text)
                misses = 0
                yield decisions, candidate

    def _ranked(self) -> tuple[Decisions, Candidate]:
        return made(self._part.candidate, next(self._seeds))

    def _changed(self) -> tuple[Decisions, Candidate]:
        parents = [decisions for _, decisions in sorted(self.measured, key=itemgetter(0))]
        if not parents:
            raise DeadEndError("nothing is measured")
        parent = self._random.choice(parents[:PARENTS])
        return mutated(self._short, parent, self._random)

    def _drawn(self) -> tuple[Decisions, Candidate]:
        return drawn(self._short, self._random)

    def _short(self, chooser: Chooser) -> Candidate:
        """A candidate with a short body."""
        candidate = self._part.candidate(chooser)
        schedule = parse_schedule_text(candidate.text, self._kernel.op)
        if prod(x.extent for x in schedule.levels if x.role is Role.UNROLL) > MOST_UNROLLED:
            raise DeadEndError("compilers take seconds for the body")
        return candidate


def recorded(name: str, device: td.Device, count: int) -> Kernel:
    """The largest kernel of a line of the benchmark with so many timings."""
    task = task_of(name, device)
    kernel = kernel_of(name, task, device)
    source = _Source(kernel, Random(0))
    evaluator = Evaluator(task.function(device).subject(task.inputs(), {}), LIMIT)
    best, timings = inf, list[Timing]()
    try:
        for decisions, candidate in source.candidates():
            outcome = evaluator.evaluate(
                Implementation((f"{kernel.name}: {candidate.text}",)), best
            )
            if outcome.failure == Failure.WRONG:
                print(f"{name}: wrong results by {candidate.text}: {outcome.message}", flush=True)
            seconds = outcome.seconds_of(kernel.name)
            if seconds < inf:
                timings.append(Timing(candidate.text, round(seconds, 9)))
                source.measured.append((seconds, decisions))
                best = min(best, outcome.seconds)
            if len(timings) == count:
                break
    finally:
        evaluator.close()
    return replace(kernel, timings=tuple(timings))


def record(path: Path, names: Iterable[str], device: td.Device, count: int) -> None:
    """Keep timings of lines of the benchmark in a file."""
    kept: list[Kernel] = []
    for name in names:
        kept.append(recorded(name, device, count))
        best = min(t.seconds for t in kept[-1].timings)
        print(f"{name:40} {len(kept[-1].timings):5} {best * 1e6:9.1f} us", flush=True)
        write(path, kept)
