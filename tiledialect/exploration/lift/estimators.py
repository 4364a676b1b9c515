"""Processes that estimate candidates of programs of patterns, while the search measures others.

A process takes the name of a file with a space, and then jobs, a line each, and answers with the
best candidates of a program, or with a better one than a given candidate.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
import tempfile
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Protocol

from xdsl.dialects.builtin import ModuleOp

from tiledialect.errors import TileError
from tiledialect.exploration.lift.programs import Programs
from tiledialect.exploration.lift.ranking import Ranked, best_of, refined
from tiledialect.exploration.lift.space import PROGRAM, LiftSpace
from tiledialect.ir.mlir_text import parse_mlir, print_module
from tiledialect.ir.target_spec import SPEC
from tiledialect.lowering.runtime.child_process import Server, say
from tiledialect.passes.lift.strategies.derivation import Derivation, replay
from tiledialect.schedule.cost.device import device_of

LIMIT = 120.0
"""Seconds that a job may take."""
COMMAND = "from tiledialect.exploration.lift.estimators import main; main()"


class Estimators(Protocol):
    """Workers that make estimates, in this process or in others."""

    count: int
    """Number of jobs at a time."""

    def best_of(self, word: str, default: str) -> Future[list[Ranked]]:
        """The best candidates of a program."""
        ...

    def refined(self, ranked: Ranked) -> Future[list[Ranked]]:
        """A candidate after small changes."""
        ...


@dataclass(frozen=True)
class LocalEstimators:
    """Estimates in this process, each made when it is asked for."""

    space: LiftSpace
    count = 1

    def best_of(self, word: str, default: str) -> Future[list[Ranked]]:
        """The best candidates of a program."""
        return _done(best_of(self.space, word, default))

    def refined(self, ranked: Ranked) -> Future[list[Ranked]]:
        """A candidate after small changes."""
        return _done([refined(self.space, ranked)])


def _done(found: list[Ranked]) -> Future[list[Ranked]]:
    future: Future[list[Ranked]] = Future()
    future.set_result(found)
    return future


class ProcessEstimators:
    """Estimates in processes of their own, which are started by the first jobs."""

    def __init__(self, space: LiftSpace, count: int):
        self.count = count
        self._space = space
        self._folder = tempfile.TemporaryDirectory(
            prefix="tiledialect-", ignore_cleanup_errors=True
        )
        path = Path(self._folder.name) / "space"
        path.write_bytes(_to_bytes(space))
        self._servers = [Server(COMMAND, str(path)) for _ in range(count)]
        self._idle = SimpleQueue[Server]()
        for server in self._servers:
            self._idle.put(server)
        self._executor = ThreadPoolExecutor(count)

    def best_of(self, word: str, default: str) -> Future[list[Ranked]]:
        """The best candidates of a program."""
        return self._executor.submit(self._asked, word, default)

    def refined(self, ranked: Ranked) -> Future[list[Ranked]]:
        """A candidate after small changes."""
        job = str(ranked.decisions[PROGRAM]), asdict(ranked)
        return self._executor.submit(self._asked, *job)

    def close(self) -> None:
        """End the processes."""
        # Jobs that wait would start processes anew.
        self._executor.shutdown(wait=False, cancel_futures=True)
        for server in self._servers:
            server.stop()
        self._executor.shutdown()
        self._folder.cleanup()

    def _asked(self, word: str, given: Any) -> list[Ranked]:
        """Answer of a process; nothing if it ends or hangs."""
        server = self._idle.get()
        try:
            child = server.running()
            if child is None:
                return []
            child.ask((word, self._space.programs.program(word).text, given))
            report = child.report(LIMIT, "an estimate")
            if report.tried:
                server.stop()
            return [_ranked(found) for found in report.said.get("found", ())]
        finally:
            self._idle.put(server)


@contextmanager
def estimators_for(space: LiftSpace, count: int) -> Generator[Estimators]:
    """Estimators of a space: this process, or so many others."""
    if count == 1:
        yield LocalEstimators(space)
        return
    try:
        others = ProcessEstimators(space, count)
    except OSError as error:
        raise TileError(f"the space of the search cannot be kept in a file: {error}") from None
    try:
        yield others
    finally:
        others.close()


def _ranked(found: dict[str, Any]) -> Ranked:
    found["number"] = tuple(found["number"])
    return Ranked(**found)


def _to_bytes(space: LiftSpace) -> bytes:
    """A space for another process."""
    start = space.start
    modules = start.initial.module, ModuleOp([], {SPEC: space.target})
    given = start.name, start.text, space.name, space.settings, space.first
    return pickle.dumps((*map(print_module, modules), given))


# -- in the process --------------------------------------------------------------------------------


def _from_bytes(data: bytes) -> LiftSpace:
    program, described, (function, steps, name, settings, first) = pickle.loads(data)
    target = parse_mlir(described, "<target>")
    device = device_of(target)
    assert device is not None
    start = replay(Derivation.of(parse_mlir(program, "<program>"), function), steps)
    space = LiftSpace(start, name, device, target.attributes[SPEC], settings, first)
    space.programs = Programs(iter(()))
    return space


def main() -> None:
    """Do the jobs that the lines of the standard input hold, until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    lines = iter(sys.stdin)
    space = _from_bytes(Path(json.loads(next(lines))).read_bytes())
    for line in lines:
        word, steps, given = json.loads(line)
        if word not in space.programs:
            space.programs.add(word, replay(space.start.initial, steps))
        if isinstance(given, str):
            found = best_of(space, word, given)
        else:
            found = [refined(space, _ranked(given))]
        say(reason="", found=[asdict(ranked) for ranked in found])
    os._exit(0)
