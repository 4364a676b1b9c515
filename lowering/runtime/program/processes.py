"""Processes that help with a compilation: they search for schedules, lower kernels, and build them.

A job is a function with plain values. A process gets one job after the other, a line each, and
answers with the result.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from functools import partial
from io import BytesIO
from json import loads
from queue import SimpleQueue
from threading import Lock
from typing import Any, ParamSpec, TypeVar

from tiledialect.ir.target_spec import SIMULATOR
from tiledialect.lowering.runtime.child_process import Server, processors, say
from tiledialect.lowering.runtime.device.device import Device
from tiledialect.schedule import instructions
from tiledialect.schedule.cost.device import Device as CostDevice
from tiledialect.schedule.cost.facts import Facts
from tiledialect.schedule.search.ahead import LEAST as LEAST_JOBS
from tiledialect.schedule.search.ahead import searching
from tiledialect.schedule.search.candidate import Candidate
from tiledialect.schedule.search.choice import best_alone
from tiledialect.threads import Threads

P = ParamSpec("P")
T = TypeVar("T")

MOST = 16
"""Most processes: each holds some 100 MB, and what a driver takes."""
LEAST_PROCESSORS = 4
"""Fewest processors: fewer gain less than the processes' start takes."""
MEMORY = 1 << 30
"""Bytes of a device's memory for each process: a driver that builds there takes a part of it."""
LIMIT = 60.0
"""Seconds that a job may take."""
COMMAND = "from tiledialect.lowering.runtime.program.processes import main; main()"


class NoAnswerError(Exception):
    """No process does a job: it ended, took too long, or none can be started."""


def process_count(device: Device) -> int:
    """Number of processes that help with compilations for a device.

    A CPU has few candidates for schedules, and its driver needs the processors.
    """
    if device.uses_host_memory or device.type == SIMULATOR:
        return 0
    count = min(processors(), MOST, device.global_mem_size // MEMORY)
    return count if count >= LEAST_PROCESSORS else 0


_current: ContextVar[Processes | None] = ContextVar("processes", default=None)


@contextmanager
def helping(device: Device, budget: float | None = None) -> Generator[Processes | None]:
    """Let processes help with a compilation, and end them with it; None, where none do.

    Inside of another one its processes help. A budget is for this process alone.
    """
    own = _current.get()
    count = 0 if own or budget is not None else process_count(device)
    if not count:
        yield own
        return
    others = Processes(count)
    token = _current.set(others)
    try:
        with searching(others.search):
            yield others
    finally:
        _current.reset(token)
        others.close()


class Processes:
    """Processes that are started by the first jobs."""

    def __init__(self, count: int):
        self._servers = [Server(COMMAND, _text(instructions.table())) for _ in range(count)]
        self._idle = SimpleQueue[Server | None]()
        """Servers without a job; None at last, if none can be started."""
        for server in self._servers:
            self._idle.put(server)
        self._useful, self._lock = count, Lock()
        self._threads: Threads | None = None
        self._jobs: list[Future[Any]] = []

    def for_jobs(self, count: int) -> Processes | None:
        """The processes, if so many jobs gain more than the start takes, or they have started."""
        return self if count >= LEAST_JOBS or self._threads is not None else None

    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Let a process call a function; the future raises `NoAnswerError` if none answers."""
        if self._threads is None:
            self._threads = Threads(len(self._servers))
        job = self._threads.submit(self._answer, _text(partial(function, *args, **kwargs)))
        self._jobs.append(job)
        return job

    def search(
        self, wanted: Sequence[Facts], device: CostDevice
    ) -> Mapping[Facts, Candidate | None]:
        """The best candidates of kernels; what no process finds is left out."""
        jobs = {facts: self.submit(best_alone, facts, device) for facts in wanted}
        return {facts: job.result() for facts, job in jobs.items() if not _failed(job)}

    def close(self) -> None:
        """End the processes, whatever they do."""
        for job in self._jobs:
            job.cancel()
        for server in self._servers:
            server.kill()
        if self._threads is not None:
            self._threads.shutdown()
        for server in self._servers:
            server.stop()

    def _answer(self, job: str) -> Any:
        while (server := self._idle.get()) is not None:
            child = server.running()
            if child is None:
                self._give_up_one()
                continue
            child.ask(job)
            report = child.report(LIMIT, "a job")
            if report.tried:
                server.stop()
            self._idle.put(server)
            if "found" in report.said:
                return _value(report.said["found"])
            raise NoAnswerError(report.reason)
        self._idle.put(None)
        raise NoAnswerError("no process can be started")

    def _give_up_one(self) -> None:
        with self._lock:
            self._useful -= 1
            if not self._useful:
                self._idle.put(None)


def _failed(job: Future[Any]) -> bool:
    """Whether no process has done a job; waits for it."""
    return isinstance(job.exception(), NoAnswerError)


class _Fields(pickle.Pickler):
    """Pickles dataclasses by their fields: a hash that one keeps is of this process alone."""

    def reducer_override(self, obj: Any) -> Any:
        if is_dataclass(obj) and not isinstance(obj, type):
            return type(obj), tuple(getattr(obj, f.name) for f in fields(obj))
        return NotImplemented


def _text(value: object) -> str:
    file = BytesIO()
    _Fields(file).dump(value)
    return b64encode(file.getvalue()).decode()


def _value(text: str) -> Any:
    return pickle.loads(b64decode(text))


def main() -> None:
    """Do the jobs that the lines of the standard input hold, until it ends.

    The first line has the instructions that the user may have added.
    """
    # The process that started this one ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # It ends before garbage counts.
    gc.disable()
    for entry in _value(loads(sys.stdin.readline())):
        instructions.register(entry)
    for line in sys.stdin:
        say(reason="", found=_text(_value(loads(line))()))
    os._exit(0)
