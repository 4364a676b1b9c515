"""Child processes for trials that may end a process; they name each trial before it begins.

A driver may refuse programs, never finish, or end the process that uses it. A child writes lines
that begin with a mark: the names of trials, and at last the reason of a failure, if any.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, Any

from tiledialect import threads

PATIENCE = 10
"""Number of time limits that a child may take where other processes keep the processors busy."""
SOON = 0.1
"""Share of a time limit in which a line comes without a look at what the child waits for."""
MARK = "tiledialect: "
"""Prefix of the lines in which a child names trials, and at last the result; drivers write lines of
their own."""
POCL_CACHE = "POCL_CACHE_DIR"
"""Variable of the folder in which PoCL keeps kernels: broken ones must not stay."""
CHECKS = "OCLGRIND_"
"""Prefix of the variables by which the simulator looks for faults of users' programs."""
LOG_LINES, WORDS = 50, 100
"""Last lines on a child's standard error that are searched, and letters of a line to show."""
LACKS_MEMORY = ("bad_alloc", "out of memory", "cannot allocate memory")
"""Last words of processes that are denied memory; others are killed without any."""


@dataclass(frozen=True)
class Report:
    """Result of a child, or the reason of its end."""

    reason: str
    """Reason of a failure; empty if there is none."""
    tried: str = ""
    """Name of the trial in which the child ended; empty if the child found the reason itself."""
    passing: bool = False
    """Whether time or memory was short, so that another trial may succeed."""
    interrupted: bool = False
    """Whether the user ended the child."""
    said: dict[str, Any] = field(default_factory=dict[str, Any])
    """Whole result of the child."""


class Child:
    """A process that was started, whose lines are read as they come."""

    def __init__(self, process: subprocess.Popen[str]):
        self.process = process
        self._lines = SimpleQueue[str | None]()
        self._log = deque[str](maxlen=LOG_LINES)
        assert process.stdout is not None and process.stderr is not None
        # A compiler's own processes may hold the ends open: nobody waits for these threads.
        readers = ((process.stdout, self._lines.put), (process.stderr, self._log.append))
        own = (Thread(target=_read, args=given, daemon=True) for given in readers)
        self.is_read = all(map(threads.start, own))
        """Whether the system allowed threads for that."""

    def ask(self, job: Any) -> None:
        """Send a job to the child; a child that has ended takes none, and its report shows that."""
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.write(json.dumps(job) + "\n")
            self.process.stdin.flush()

    def report(self, limit: float, tried: str) -> Report:
        """Read the result of the child, or of its end; each trial may take ``limit`` seconds.

        ``tried`` names the trial until the child names one.
        """
        try:
            while (line := self._next(limit)) is not None:
                if line.startswith(MARK):
                    try:
                        said = json.loads(line.removeprefix(MARK))
                    except ValueError:
                        # A driver has written into it.
                        return Report(f"gives a broken report in {tried}", tried, passing=True)
                    if "reason" in said:
                        return Report(said["reason"], said=said)
                    tried = said["tries"]
            self.process.wait(limit)
        except (TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            return Report(f"does not finish {tried} in {limit:g} s", tried, passing=True)
        status, said = self.process.returncode, [line for line in self._log if line]
        words = "".join(said).lower()
        short = status == -signal.SIGKILL or any(text in words for text in LACKS_MEMORY)
        end = _end(status, said, tried)
        reason = f"ends the process that uses it {end}"
        return Report(reason, tried, passing=short, interrupted=status == -signal.SIGINT)

    def _next(self, limit: float) -> str | None:
        """The next line of the child, None after the last one.

        Raises a TimeoutError if the line does not come in time. Time in which the process waits for
        busy processors does not count: a device that works would be refused for good.
        """
        pid, began = self.process.pid, time.monotonic()
        # Most lines come soon, and looks at all threads of many children would keep this process
        # from reading them.
        with suppress(Empty):
            return self._lines.get(timeout=SOON * limit)
        before = waited(pid)
        while True:
            granted = min(max(0.0, waited(pid) - before), PATIENCE * limit)
            left = began + limit + granted - time.monotonic()
            if left <= 0:
                raise TimeoutError
            with suppress(Empty):
                return self._lines.get(timeout=max(left, 0.05))


class Server:
    """A child that answers jobs, and is started anew if it ends."""

    def __init__(self, command: str, first: Any):
        self._command, self._first = command, first
        """Text of Python, and the job that a child begins with, which has no report."""
        self._stack = ExitStack()
        self._child: Child | None = None

    def running(self) -> Child | None:
        """The child; None if none can be started."""
        if self._child is not None and self._child.process.poll() is None:
            return self._child
        self.stop()
        self._child = start(self._command, (), self._stack)
        if self._child is not None:
            self._child.ask(self._first)
        return self._child

    def kill(self) -> None:
        """End the child while another thread waits for its report."""
        # The other thread may stop the child meanwhile.
        if (child := self._child) is not None:
            child.process.kill()

    def stop(self) -> None:
        """End the child."""
        self._stack.close()
        self._child = None


def start(command: str, arguments: Iterable[str], stack: ExitStack) -> Child | None:
    """A child that runs a text of Python, and is gone with the stack; None if none can be."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(CHECKS)}
    environment["PYTHONPATH"] = os.pathsep.join(_folders(sys.path))
    with suppress(OSError):
        kept = tempfile.TemporaryDirectory(prefix="tiledialect-", ignore_cleanup_errors=True)
        environment[POCL_CACHE] = stack.enter_context(kept)
    try:
        process = subprocess.Popen(
            [sys.executable or "", "-P", "-W", "ignore", "-c", command, *arguments],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
    except OSError:
        return None
    stack.callback(_end_process, process)
    child = Child(process)
    return child if child.is_read else None


def _folders(path: Iterable[str]) -> Iterator[str]:
    """Folders of modules; a working folder that is gone has none."""
    for entry in path:
        with suppress(FileNotFoundError):
            yield entry or os.getcwd()


def processors() -> int:
    """Number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def say(**what: Any) -> None:
    """Report to the process that started this one."""
    print(f"\n{MARK}{json.dumps(what)}", flush=True)


def waited(pid: int) -> float:
    """The seconds that the thread of a process waited that waited longest for a processor."""
    longest = 0
    for path in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            longest = max(longest, int(path.read_text().split()[1]))
        except (OSError, ValueError, IndexError):  # It has ended, or the kernel does not say.
            continue
    return longest * 1e-9


def _end_process(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()


def _read(stream: IO[str], keep: Callable[[str | None], None]) -> None:
    with stream:
        for line in stream:
            keep(line)
    keep(None)


def _end(status: int, log: Iterable[str], tried: str) -> str:
    """The signal or status with which a process ended, and its last words, if they say more."""
    how = signal.Signals(-status).name if status < 0 else f"status {status}"
    said = [line.strip() for line in log if line.strip()]
    errors = [line for line in said if "error" in line.lower()]
    last = "".join((errors or (said if status > 0 else []))[-1:])
    return f"({how}) in {tried}" + (f": {last[:WORDS]}" if last else "")
