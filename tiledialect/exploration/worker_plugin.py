"""Subject of a search on workers of a cluster of Dask, and evaluation of candidates there."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from pathlib import Path

from distributed import Worker, WorkerPlugin, get_worker

from tiledialect.errors import TileError
from tiledialect.exploration.evaluation import Evaluator, Outcome
from tiledialect.exploration.implementation import Implementation
from tiledialect.records import from_json


class SubjectPlugin(WorkerPlugin):
    """A subject that every worker holds, also those that come later, and its evaluator.

    Were it an argument of tasks, Dask would give all of them to the worker that has it.
    """

    def __init__(self, subject: bytes | Path):
        self._subject = subject
        """The subject, or the file that has it on the machine of all workers."""

    @cached_property
    def evaluator(self) -> Evaluator:
        """The worker's own."""
        return Evaluator(self._subject)

    def setup(self, worker: Worker) -> None:
        """Start the evaluator's process; where it cannot be, the first candidate tells."""
        with suppress(TileError):
            _ = self.evaluator

    def interrupt(self) -> None:
        """End the trial that is being evaluated."""
        if "evaluator" in vars(self):
            self.evaluator.interrupt()

    def teardown(self, worker: Worker) -> None:
        """End the evaluator's process."""
        if "evaluator" in vars(self):
            self.evaluator.close()


def interrupt_on_worker(name: str, dask_worker: Worker) -> None:
    """End the trial that the worker evaluates, if there is one."""
    held = dask_worker.plugins.get(name)
    if isinstance(held, SubjectPlugin):
        held.interrupt()


def evaluate_on_worker(name: str, implementation: str, best: float) -> Outcome:
    """Evaluate an implementation of the subject that the worker holds by a name."""
    held = get_worker().plugins[name]
    assert isinstance(held, SubjectPlugin)
    return held.evaluator.evaluate(from_json(Implementation, implementation), best)
