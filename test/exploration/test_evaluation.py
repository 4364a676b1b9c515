"""Evaluation of implementations in a process of its own."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from threading import Timer
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tiledialect as td
from tiledialect.errors import TileError
from tiledialect.exploration import evaluation
from tiledialect.exploration.evaluation import Evaluator, Failure
from tiledialect.exploration.implementation import Implementation
from tiledialect.exploration.subject import Case, Subject
from tiledialect.lowering.runtime.program import cache, compiling

GOOD = Implementation(("C: <group.x i : 4, unroll k : 6, unroll j : 8>",))


@pytest.fixture(autouse=True)
def _processes() -> None:
    """A process that a test stops is the one that tries, and not one that waits for it."""


@pytest.fixture(scope="module")
def evaluator(subject: Subject) -> Iterator[Evaluator]:
    found = Evaluator(subject)
    yield found
    found.close()


def test_a_good_candidate_has_a_time(evaluator: Evaluator):
    outcome = evaluator.evaluate(GOOD)
    assert outcome.is_good and 0 < outcome.seconds < inf


def test_kernels_have_times_of_their_own(fast: td.Device):
    source = "function (A[M, N]) -> (S, Y) { S[i: M] = +(A[i, j]); Y = A * 2; }"
    f = td.compile(source, device=fast)
    subject = f.subject([np.ones((24, 40), np.float32)], {})
    evaluator = Evaluator(subject)
    try:
        outcome = evaluator.evaluate(Implementation())
    finally:
        evaluator.close()
    assert outcome.is_good and [name for name, _ in outcome.kernels] == ["S", "Y"]
    own = [outcome.seconds_of(name) for name in ("S", "Y")]
    assert min(own) > 0 and sum(own) == pytest.approx(outcome.seconds)
    assert outcome.seconds_of("others") == outcome.seconds


def test_a_trial_is_lowered_once_and_copies_count_to_the_kernels_that_read_them(
    fast: td.Device, monkeypatch: pytest.MonkeyPatch
):
    """The plan has the names of the kernels."""
    calls: list[str | None] = []

    def counting(*args: Any) -> Any:
        calls.append(args[3] if len(args) > 3 else None)
        return lowered(*args)

    lowered = compiling.lowered
    source = (
        "function (A[M, K], B[K, N]) -> (C, Y) { C[i, j: M, N] = +(A[i, k] * B[k, j]); Y = A * 2; }"
    )
    f = td.compile(source, device=fast)
    subject = f.subject([np.ones((8, 6), np.float32), np.ones((6, 4), np.float32)], {})
    copied = "C: <serial i : 8, serial k : 6, serial j : 4> stage <B global order (1, 0)>"
    monkeypatch.setattr(compiling, "lowered", counting)
    outcome = evaluation.outcome_of(subject, Implementation((copied,)), inf)
    assert outcome.is_good and len(calls) == 1
    own = dict(outcome.kernels)
    assert own.keys() == {"C", "Y"} and sum(own.values()) == pytest.approx(outcome.seconds)


def test_a_schedule_that_is_refused_says_why(evaluator: Evaluator):
    outcome = evaluator.evaluate(Implementation(("C: <group.x q : 4>",)))
    assert outcome.failure == Failure.REFUSED and outcome.seconds == inf
    assert "the schedule of C" in outcome.message


def test_a_slow_candidate_cannot_win(evaluator: Evaluator):
    outcome = evaluator.evaluate(GOOD, best=1e-12)
    assert outcome.failure == Failure.SLOW and not outcome.is_good and outcome.seconds < inf


def test_a_process_that_is_killed_costs_its_trial_alone(evaluator: Evaluator):
    evaluator.evaluate(GOOD)
    assert evaluator._server._child is not None
    process = evaluator._server._child.process
    process.send_signal(signal.SIGSTOP)
    Timer(0.3, process.kill).start()
    outcome = evaluator.evaluate(GOOD)
    assert outcome.failure == Failure.ENDED and "SIGKILL" in outcome.message
    assert evaluator.evaluate(GOOD).is_good


def test_a_trial_is_interrupted(evaluator: Evaluator):
    """An idle process is left alone."""
    evaluator.evaluate(GOOD)
    assert evaluator._server._child is not None
    process = evaluator._server._child.process
    evaluator.interrupt()
    assert process.poll() is None
    process.send_signal(signal.SIGSTOP)
    Timer(0.3, evaluator.interrupt).start()
    assert evaluator.evaluate(GOOD).failure == Failure.ENDED
    assert evaluator.evaluate(GOOD).is_good


def test_a_process_that_hangs_is_ended(evaluator: Evaluator, monkeypatch: pytest.MonkeyPatch):
    evaluator.evaluate(GOOD)
    assert evaluator._server._child is not None
    process = evaluator._server._child.process
    process.send_signal(signal.SIGSTOP)
    monkeypatch.setattr(evaluator, "_limit", 0.3)
    outcome = evaluator.evaluate(GOOD, best=1.0)
    assert outcome.failure == Failure.HUNG and "does not finish the build" in outcome.message
    assert process.poll() is not None


def test_waiting_for_the_device_is_no_hanging(
    evaluator: Evaluator, subject: Subject, monkeypatch: pytest.MonkeyPatch
):
    evaluator.evaluate(GOOD)
    monkeypatch.setattr(evaluator, "_limit", 3.0)
    with ExitStack() as turn:
        turn.enter_context(evaluation.device_turn(subject.device.id))
        Timer(4.0, turn.close).start()
        assert evaluator.evaluate(GOOD, best=1.0).is_good


class Locks:
    """Locks of a folder that has none, as some of networks."""

    LOCK_EX = LOCK_NB = 0

    @staticmethod
    def flock(*_: object) -> None:
        raise OSError("no locks available")


@pytest.mark.parametrize("locks", [None, Locks])
def test_turns_without_locks(locks: type[Locks] | None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "fcntl", locks)
    with evaluation.device_turn("none:0"):
        pass


def test_a_full_disk_is_an_error(subject: Subject, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def full(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(evaluation.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(evaluation.os, "fdopen", full)
    with pytest.raises(TileError, match="cannot be kept in a file: no space left on device"):
        Evaluator(subject)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("number", [0, 1])
def test_wrong_results_cannot_win(number: int, subject: Subject):
    """For the user's inputs, and for random ones."""
    cases = [*subject.cases]
    (expected,) = cases[number].expected
    changed = np.where(np.arange(8) == 5, expected + 1, expected)
    cases[number] = replace(cases[number], expected=[changed])
    evaluator = Evaluator(replace(subject, cases=cases))
    try:
        outcome = evaluator.evaluate(GOOD)
        # Others have inputs that it has not touched.
        assert evaluator._server._child is None
    finally:
        evaluator.close()
    assert outcome.failure == Failure.WRONG and outcome.seconds == inf
    assert outcome.message.startswith("result 0: off by ")
    assert outcome.message.endswith(evaluation.RANDOM) == bool(number)


@dataclass
class Runs:
    """An executable whose results differ at one run."""

    wrong: float
    count: int = 0

    def profile(self, arrays: Any, repeat: int = 1, **given: bool) -> Any:
        result = np.float32([np.nan, 2 + (self.count == self.wrong)])
        self.count += 1
        return [result], SimpleNamespace(seconds=1.0, kernels=())


def test_every_run_is_compared(subject: Subject):
    """A kernel with a race may be right at the first run."""
    case = Case([], [np.float32([np.nan, 2])])
    given: Any = replace(subject, cases=[case, case])
    for wrong, message in [(0, ""), (1, evaluation.RANDOM), (2, ", in run 1"), (9, ", in run 8")]:
        runs: Any = Runs(wrong)
        text, first = evaluation._compared(runs, given)
        if not text:
            text = evaluation._measured(runs, given, first, inf).message
        assert text.startswith("result 0: off by ") and text.endswith(message)
    runs, first = Runs(-1), case.expected
    outcome = evaluation._measured(runs, given, first, inf)
    assert outcome.is_good and runs.count == evaluation.RUNS
    runs = Runs(-1)
    assert evaluation._measured(runs, given, first, 0.5).failure == Failure.SLOW


def test_results_are_compared_while_others_measure(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
):
    """The time of comparisons leaves no runs out, and runs that take long are few."""
    now, holds = 0.0, False

    @contextmanager
    def turn(_: str) -> Iterator[None]:
        nonlocal holds
        holds = True
        yield
        holds = False

    def compared(*_: object) -> bool | str:
        nonlocal now
        assert not holds
        now += 10.0
        return ""

    class Long(Runs):
        def profile(self, arrays: Any, repeat: int = 1, **given: bool) -> Any:
            nonlocal now
            assert holds
            now += self.wrong
            return super().profile(arrays, repeat)

    monkeypatch.setattr(evaluation, "device_turn", turn)
    monkeypatch.setattr(evaluation, "wrong", compared)
    monkeypatch.setattr(evaluation, "_are_same", compared)
    monkeypatch.setattr(evaluation, "time", SimpleNamespace(monotonic=lambda: now))
    # Short runs are slow by chance where other processes take turns with them.
    cases = (0, inf, evaluation.RUNS), (9, inf, evaluation.FEW), (0.01, 0.5, 4), (9, 0.5, 2)
    for seconds, limit, count in cases:
        runs: Any = Long(seconds)
        text, first = evaluation._compared(runs, subject)
        assert not text
        before = runs.count
        assert evaluation._measured(runs, subject, first, limit).is_good is (limit == inf)
        assert runs.count - before == count


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("is_ended", [False, True])
def test_kernels_that_end_the_process_are_not_kept(
    is_ended: bool, subject: Subject, monkeypatch: pytest.MonkeyPatch
):
    """Calls take kernels that are kept without a trial."""

    def end(*_: object) -> None:
        raise SystemExit

    stored: list[object] = []
    monkeypatch.setattr(cache, "store", lambda *given: stored.append(given))
    if is_ended:
        monkeypatch.setattr(evaluation, "_compared", end)
    with suppress(SystemExit):
        assert evaluation.outcome_of(subject, GOOD, inf).is_good
    assert len(stored) == (not is_ended)
