"""Evaluation of implementations in a process of its own: build, run, compare, measure.

The process takes the name of a subject's file, and then implementations, a line each, and answers
with an `Outcome`. A compiler or kernel that ends it, or hangs, hurts nothing else.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from math import inf
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from xdsl.utils.str_enum import StrEnum

from tiledialect import disk
from tiledialect.caches import compilation
from tiledialect.errors import TileError
from tiledialect.exploration.implementation import Implementation
from tiledialect.exploration.subject import Subject
from tiledialect.interpreters.agreement import wrong
from tiledialect.lowering.nest.nest_fuse_horizontally import NestFuseHorizontallyPass
from tiledialect.lowering.runtime.child_process import Report, Server, say
from tiledialect.records import from_json, to_json

if TYPE_CHECKING:
    from tiledialect.lowering.runtime.call.launch import Executable
    from tiledialect.lowering.runtime.device.queue_state import QueueState

Array = npt.NDArray[Any]

LIMIT = 30.0
"""Seconds that building a candidate, or all its runs, may take, without time in which the process
waits for busy processors."""
FIRST_LIMIT = 300.0
"""Seconds where nothing is known yet."""
SLOW = 4.0
"""Time of a candidate, in multiples of the best one's, from which it is measured no further."""
RUNS, MEASURED = 20, 0.3
"""Most runs of a candidate that may win, and seconds of them all after which it has no more: the
fastest counts, as other processes can only slow a run down."""
FEW, SURE = 2, 0.03
"""Least runs after the first one, which may be slower, and least seconds of them all, that show
that a candidate is slow: other processes take turns with it."""
TICK = 1e-9
"""Least seconds of a call: clocks of devices count nanoseconds, and some calls have no kernel."""
POLL, SIGN = 0.005, 0.5
"""Seconds between looks whether a device is free, and between signs that a process waits for it."""
RANDOM = ", for random inputs"
"""End of the message of a difference that the user's inputs do not show."""
BUILD, TURN, LAUNCH = "the build", "the wait for the device", "a launch"
COMMAND = "from tiledialect.exploration.evaluation import main; main()"


class Failure(StrEnum):
    """Reason for which a candidate cannot win."""

    NONE = "none"
    REFUSED = "refused"
    """The compiler, or the device, does not take it."""
    ENDED = "ended"
    """The candidate ended the process."""
    HUNG = "hung"
    """The candidate did not finish in time."""
    WRONG = "wrong"
    """Results that differ from those of the reference semantics."""
    SLOW = "slow"
    """A run took several times as long as the best candidate's."""


@dataclass(frozen=True)
class Outcome:
    """Result of a trial."""

    seconds: float = inf
    """Least time of the kernels of a call."""
    failure: str = Failure.NONE
    message: str = ""
    kernels: tuple[tuple[str, float], ...] = ()
    """Names of the program's kernels with their seconds in that call, where several have launches
    of their own."""

    def seconds_of(self, part: str) -> float:
        """Seconds of a part of the program; of the call, where they are not known."""
        return dict(self.kernels).get(part, self.seconds) if self.seconds < inf else inf

    @property
    def is_good(self) -> bool:
        """Whether the candidate may win."""
        return self.failure == Failure.NONE


APART = f"{NestFuseHorizontallyPass.name}{{most=1}}"
"""Pass that lets each kernel have its own launch."""


class Evaluator:
    """A process that evaluates the implementations of one subject, and is started anew if it
    ends."""

    def __init__(self, subject: Subject | bytes | Path, limit: float = LIMIT):
        self._limit = limit
        self._is_busy = False
        self._written = None if isinstance(subject, Path) else written(subject)
        self._server = Server(COMMAND, str(self._written or subject))
        # It loads the subject and finds the device until the first candidate comes.
        self._server.running()

    def evaluate(self, implementation: Implementation, best: float = inf) -> Outcome:
        """Build, run and measure an implementation; ``best`` is the shortest time so far."""
        self._is_busy = True
        try:
            return self._evaluated(implementation, best)
        finally:
            self._is_busy = False

    def interrupt(self) -> None:
        """End an evaluation that another thread waits for, as if its candidate had ended the
        process."""
        if self._is_busy:
            self._server.kill()

    def _evaluated(self, implementation: Implementation, best: float) -> Outcome:
        child = self._server.running()
        if child is None:
            return Outcome(failure=Failure.REFUSED, message="no process can be started")
        child.ask([to_json(implementation), best if best < inf else None])
        report = child.report(FIRST_LIMIT if best == inf else self._limit, BUILD)
        if report.tried:
            self._server.stop()
            hung = "does not finish" in report.reason
            return Outcome(failure=Failure.HUNG if hung else Failure.ENDED, message=report.reason)
        outcome = from_json(Outcome, json.dumps(_numbers(report)))
        if outcome.failure == Failure.WRONG:
            # It may have written to the inputs, too.
            self._server.stop()
        return outcome

    def close(self) -> None:
        """End the process."""
        self._server.stop()
        if self._written is not None:
            self._written.unlink(missing_ok=True)


def written(subject: Subject | bytes) -> Path:
    """A temporary file with a subject; a TileError if it cannot be written."""
    data = subject if isinstance(subject, bytes) else subject.to_bytes()
    path: Path | None = None
    try:
        handle, name = tempfile.mkstemp(prefix="tiledialect-", suffix=".subject")
        path = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
    except OSError as error:
        if path is not None:
            path.unlink(missing_ok=True)
        raise TileError(f"the inputs of the search cannot be kept in a file: {error}") from None
    return path


def _numbers(report: Report) -> dict[str, Any]:
    said = report.said
    seconds = inf if said["seconds"] is None else said["seconds"]
    return {"seconds": seconds} | {k: said[k] for k in ("failure", "message", "kernels")}


# -- in the process --------------------------------------------------------------------------


def main() -> None:
    """Evaluate the implementations that the lines of the standard input hold, until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    lines = iter(sys.stdin)
    subject = Subject.from_bytes(Path(json.loads(next(lines))).read_bytes())
    with suppress(TileError):
        _state_of(subject)
    # Candidates differ in few kernels: schedules of the others are chosen once.
    with compilation():
        for line in lines:
            text, best = json.loads(line)
            outcome = outcome_of(subject, from_json(Implementation, text), best or inf)
            seconds = outcome.seconds if outcome.seconds < inf else None
            say(reason="", **asdict(outcome) | {"seconds": seconds})
    os._exit(0)


def _state_of(subject: Subject) -> QueueState:
    """State of the queue on which candidates run."""
    from tiledialect.lowering.runtime.device.queue_state import state_of
    from tiledialect.lowering.runtime.device.queues import queue_for

    return state_of(queue_for(subject.device, profiling=True))


def outcome_of(subject: Subject, implementation: Implementation, best: float) -> Outcome:
    """Build an implementation in this process, run it, compare its results, and measure it."""
    from tiledialect.lowering.runtime.program.specialization import Specialization

    say(tries=BUILD)
    try:
        # The time of a launch belongs to one part.
        apart = replace(implementation, passes=(*implementation.passes, APART))
        program = apart.applied(subject.program, subject.types, subject.device)
        specialization = Specialization(program, subject.types, subject.device)
        specialization.is_trial = True
        executable = specialization.executable(_state_of(subject), on_host=True)
    except TileError as error:
        return Outcome(failure=Failure.REFUSED, message=error.message)
    try:
        text, first = _compared(executable, subject)
        if text:
            return Outcome(failure=Failure.WRONG, message=text)
        outcome = _measured(executable, subject, first, SLOW * best)
    except TileError as error:
        return Outcome(failure=Failure.REFUSED, message=error.message)
    if outcome.seconds < inf:
        # Kernels that end the process, or are wrong, are tried again before the user has them.
        specialization.keep()
    return outcome


def _compared(executable: Executable, subject: Subject) -> tuple[str, Sequence[Array]]:
    """Difference of the results for any inputs of a subject, empty if all agree, and the results
    for the user's."""
    first: Sequence[Array] = ()
    for number, case in enumerate(subject.cases):
        with device_turn(subject.device.id):
            outputs, _ = executable.profile(case.arrays, on_spoilt=True)
        # Large results take longer to compare than to compute: others measure meanwhile.
        if text := wrong(outputs, case.expected, case.terms):
            return f"{text}{RANDOM if number else ''}", first
        first = first or outputs
    return "", first


def _measured(
    executable: Executable, subject: Subject, first: Sequence[Array], limit: float
) -> Outcome:
    """The fastest of several runs, whose results all agree; of few if these are above a limit."""
    case = subject.cases[0]
    best, spent = None, 0.0
    for number in range(RUNS):
        if number >= FEW and best and spent > (SURE if best.seconds > limit else MEASURED):
            break
        with device_turn(subject.device.id):
            began = time.monotonic()
            outputs, profile = executable.profile(case.arrays, again=number > 0)
            spent += time.monotonic() - began
        # Most kernels give the same bits each time, which is soon seen.
        if not _are_same(outputs, first):
            if text := wrong(outputs, case.expected, case.terms):
                return Outcome(failure=Failure.WRONG, message=f"{text}, in run {number + 1}")
            first = outputs
        if best is None or profile.seconds < best.seconds:
            best = profile
    assert best is not None
    seconds = max(best.seconds, TICK)
    kernels: dict[str, float] = {}
    for kernel in best.kernels if len(best.kernels) > 1 else ():
        if kernel.part:
            kernels[kernel.part] = kernels.get(kernel.part, 0.0) + max(kernel.seconds, TICK)
    failure = Failure.SLOW if seconds > limit else Failure.NONE
    return Outcome(seconds, failure, kernels=tuple(kernels.items()))


def _are_same(outputs: Sequence[Array], others: Sequence[Array]) -> bool:
    pairs = zip(outputs, others, strict=True)
    return all(np.array_equal(bits_of(a), bits_of(b)) for a, b in pairs)


def bits_of(array: Array) -> Array:
    """The bytes of an array: NaNs are equal to themselves."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


@contextmanager
def device_turn(name: str) -> Generator[None]:
    """Wait until no other process of the machine measures something on a device, and name the
    launch as the next trial."""
    with ExitStack() as stack:
        # Where no file can be locked, times are less exact.
        with suppress(ImportError, OSError):
            _lock(stack.enter_context(_lock_file(name)))
        say(tries=LAUNCH)
        yield


def _lock_file(device: str) -> IO[str]:
    folder = disk.folder() / "explored"
    folder.mkdir(parents=True, exist_ok=True)
    return (folder / f"{device.replace(':', '-')}.lock").open("w")


def _lock(file: IO[str]) -> None:
    """Wait for the lock of a file, with signs of life: time limits are for builds and launches."""
    import fcntl

    said = -inf
    while True:
        with suppress(BlockingIOError):
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if time.monotonic() > said + SIGN:
            said = time.monotonic()
            say(tries=TURN)
        time.sleep(POLL)
