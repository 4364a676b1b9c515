"""Subject of a search on workers of a cluster of Dask, and evaluation of candidates there."""

from __future__ import annotations

from functools import cached_property

from distributed import Worker, WorkerPlugin, get_worker

from tiledialect.exploration.evaluation import Evaluator, Outcome
from tiledialect.exploration.implementation import Implementation
from tiledialect.records import from_json


class SubjectPlugin(WorkerPlugin):
    """A subject that every worker holds, also those that come later, and its evaluator.

    Were it an argument of tasks, Dask would give all of them to the worker that has it.
    """

    def __init__(self, data: bytes):
        self._data = data

    @cached_property
    def evaluator(self) -> Evaluator:
        """The worker's own, whose process is started by the first candidate."""
        return Evaluator(self._data)

    def teardown(self, worker: Worker) -> None:
        """End the evaluator's process."""
        if "evaluator" in vars(self):
            self.evaluator.close()


def evaluate_on_worker(name: str, implementation: str, best: float) -> Outcome:
    """Evaluate an implementation of the subject that the worker holds by a name."""
    held = get_worker().plugins[name]
    assert isinstance(held, SubjectPlugin)
    return held.evaluator.evaluate(from_json(Implementation, implementation), best)
