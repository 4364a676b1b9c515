"""Processes that search for the schedules of a compilation's kernels.

Kernels' facts and candidates are plain values. A process gets one kernel after the other, a line
each, and answers with its best candidate.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from base64 import b64decode, b64encode
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from functools import partial
from io import BytesIO
from queue import Empty, SimpleQueue
from typing import Any

from tiledialect.lowering.runtime.child_process import Server, processors, say
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.facts import Facts
from tiledialect.schedule.search.ahead import searching
from tiledialect.schedule.search.candidate import Candidate
from tiledialect.schedule.search.choice import best_alone
from tiledialect.threads import Threads

MOST = 8
"""Most processes: each holds some 50 MB."""
LEAST = 4
"""Fewest processors: fewer gain less than the processes' start takes."""
LIMIT = 60.0
"""Seconds that a search may take."""
COMMAND = "from tiledialect.lowering.runtime.program.search_processes import main; main()"


@contextmanager
def searching_in_processes(count: int | None = None) -> Generator[None]:
    """Search for schedules of a compilation in so many processes; by default in one for each
    processor, up to `MOST`."""
    count = min(processors(), MOST) if count is None else count
    if count < LEAST:
        yield
        return
    others = Processes(count)
    try:
        with searching(others.search):
            yield
    finally:
        others.close()


class Processes:
    """Processes that search, which are started by the first kernels."""

    def __init__(self, count: int):
        self._servers = [Server(COMMAND, None) for _ in range(count)]

    def search(self, wanted: Sequence[Facts], device: Device) -> Mapping[Facts, Candidate | None]:
        """The best candidates of kernels; what no process finds is left out."""
        jobs, answers = SimpleQueue[tuple[Facts, str]](), dict[Facts, str]()
        for facts in wanted:
            jobs.put((facts, _text((facts, device))))
        with Threads(len(self._servers)) as pool:
            try:
                deque(pool.map(partial(_ask, jobs=jobs, answers=answers), self._servers), maxlen=0)
            finally:
                # Where the user interrupts it, the others are not asked.
                deque(_taken(jobs), maxlen=0)
        return {facts: _value(answers[facts]) for facts in wanted if facts in answers}

    def close(self) -> None:
        """End the processes."""
        for server in self._servers:
            server.stop()


def _taken(jobs: SimpleQueue[tuple[Facts, str]]) -> Generator[tuple[Facts, str]]:
    """Jobs that are left, which no other takes."""
    with suppress(Empty):
        while True:
            yield jobs.get_nowait()


def _ask(server: Server, jobs: SimpleQueue[tuple[Facts, str]], answers: dict[Facts, str]) -> None:
    """Take jobs for a process; one has no answer if the process ends, hangs, or does not start."""
    for facts, job in _taken(jobs):
        child = server.running()
        if child is None:
            jobs.put((facts, job))
            return
        child.ask(job)
        report = child.report(LIMIT, "a search")
        if report.tried:
            server.stop()
        elif "found" in report.said:
            answers[facts] = report.said["found"]


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
    """Search for the kernels that the lines of the standard input hold, until it ends."""
    # The process that started this one ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for line in sys.stdin:
        text = line.strip().strip('"')
        if text != "null":
            say(reason="", found=_text(best_alone(*_value(text))))
    os._exit(0)
