"""Tuning: the cost model's best schedules of each kernel are compared, without a search."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from math import inf

from tiledialect.caches import compilation
from tiledialect.exploration import kept
from tiledialect.exploration.evaluation import Evaluator, Failure
from tiledialect.exploration.implementation import Implementation
from tiledialect.exploration.kernels import kernel_parts
from tiledialect.exploration.search import contest
from tiledialect.exploration.subject import Case, Subject
from tiledialect.lowering.runtime.progress import progress
from tiledialect.passes.diagnostics.reporting import warn

WRONG = "a schedule gives wrong results, which is a defect, and is left out: {}: {} ({})"

Chosen = Mapping[str, str]
"""Schedules by the names of kernels."""


@compilation()
def tuned(subject: Subject, count: int, cases: Callable[[], Sequence[Case]]) -> kept.Found | None:
    """The fastest of each kernel's best ``count`` schedules on the device, which is kept on disk.

    None where every kernel has one schedule, or the default cannot be measured. The cases take
    long: they are asked for where there is something to measure.
    """
    texts = {part.name: part.ranked(count) for part in kernel_parts(subject)}
    if max(map(len, texts.values()), default=0) < 2:
        return None
    subject = replace(subject, cases=cases())
    with closing(Evaluator(subject)) as evaluator:
        return _Tuning(subject, texts, evaluator).found(count)


@dataclass
class _Tuning:
    """Candidates of each kernel, the default first, and the process that evaluates them."""

    subject: Subject
    texts: Mapping[str, Sequence[str]]
    evaluator: Evaluator
    best: float = inf
    """Least seconds of a call so far."""

    def found(self, count: int) -> kept.Found | None:
        default = Implementation.of_kernels({kernel: own[0] for kernel, own in self.texts.items()})
        chosen = Implementation.of_kernels(self._fastest())
        earlier = kept.implementations(self.subject)
        contenders = [default, chosen, *earlier]
        least = contest(lambda own: [*map(self.evaluator.evaluate, own)], contenders)
        if default not in least:
            return None
        best = min(least, key=least.__getitem__)
        found = kept.found_for(self.subject, best, least[best], least[default], count)
        kept.keep_for(self.subject, found)
        return found

    def _fastest(self) -> Chosen:
        """The fastest schedule of each kernel; where none can be measured, the default.

        A call has the schedules of one rank for all kernels, so that there are few calls.
        """
        best = {kernel: (inf, own[0]) for kernel, own in self.texts.items()}
        most = max(map(len, self.texts.values()))
        for rank in range(most):
            chosen = {k: own[min(rank, len(own) - 1)] for k, own in self.texts.items()}
            with progress(f"tuning {self.subject.program.result_name}: {rank + 1} of {most}"):
                for kernel, seconds in self._times(chosen):
                    if seconds < best[kernel][0]:
                        best[kernel] = seconds, chosen[kernel]
        return {kernel: text for kernel, (_, text) in best.items()}

    def _times(self, chosen: Chosen) -> Iterator[tuple[str, float]]:
        """Seconds of kernels by a schedule; of one that fails there are none."""
        implementation = Implementation.of_kernels(chosen)
        outcome = self.evaluator.evaluate(implementation, self.best)
        self.best = min(self.best, outcome.seconds)
        if outcome.seconds < inf:
            # Kernels without launches of their own win or lose together.
            yield from ((kernel, outcome.seconds_of(kernel)) for kernel in chosen)
            return
        # One of them may be to blame: the others are measured without it.
        names = sorted(chosen)
        middle = len(names) // 2
        for half in (names[:middle], names[middle:]) if middle else ():
            yield from self._times({name: chosen[name] for name in half})
        if not middle and outcome.failure == Failure.WRONG:
            warn([WRONG.format(names[0], chosen[names[0]], outcome.message)])
