"""Evaluation of implementations in a process of its own."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import replace
from math import inf
from threading import Timer

import numpy as np
import pytest

from tiledialect.exploration import evaluation
from tiledialect.exploration.evaluation import Evaluator, Failure
from tiledialect.exploration.implementation import Implementation
from tiledialect.exploration.subject import Subject

GOOD = Implementation(("C: <group.x i : 4, unroll k : 6, unroll j : 8>",))


@pytest.fixture(scope="module")
def evaluator(subject: Subject) -> Iterator[Evaluator]:
    found = Evaluator(subject)
    yield found
    found.close()


def test_a_good_candidate_has_a_time(evaluator: Evaluator):
    outcome = evaluator.evaluate(GOOD)
    assert outcome.is_good and 0 < outcome.seconds < inf


def test_a_schedule_that_is_refused_says_why(evaluator: Evaluator):
    outcome = evaluator.evaluate(Implementation(("C: <group.x q : 4>",)))
    assert outcome.failure == Failure.REFUSED and outcome.seconds == inf
    assert "the schedule of C" in outcome.message


def test_a_slow_candidate_cannot_win(evaluator: Evaluator):
    outcome = evaluator.evaluate(GOOD, best=1e-12)
    assert outcome.failure == Failure.SLOW and not outcome.is_good and outcome.seconds < inf


def test_a_process_that_is_killed_costs_its_trial_alone(evaluator: Evaluator):
    evaluator.evaluate(GOOD)
    assert evaluator._child is not None
    process = evaluator._child.process
    process.send_signal(signal.SIGSTOP)
    Timer(0.3, process.kill).start()
    outcome = evaluator.evaluate(GOOD)
    assert outcome.failure == Failure.ENDED and "SIGKILL" in outcome.message
    assert evaluator.evaluate(GOOD).is_good


def test_a_process_that_hangs_is_ended(evaluator: Evaluator, monkeypatch: pytest.MonkeyPatch):
    evaluator.evaluate(GOOD)
    assert evaluator._child is not None
    process = evaluator._child.process
    process.send_signal(signal.SIGSTOP)
    monkeypatch.setattr(evaluation, "LIMIT", 0.3)
    outcome = evaluator.evaluate(GOOD, best=1.0)
    assert outcome.failure == Failure.HUNG and "does not finish the build" in outcome.message
    assert process.poll() is not None


def test_wrong_results_cannot_win(subject: Subject):
    changed = [np.where(np.arange(8) == 5, a + 1, a) for a in subject.expected]
    evaluator = Evaluator(replace(subject, expected=changed))
    try:
        outcome = evaluator.evaluate(GOOD)
    finally:
        evaluator.close()
    assert outcome.failure == Failure.WRONG and outcome.seconds == inf
    assert outcome.message.startswith("result 0: off by ")
