"""Tuning: candidates are measured at the first call, and the winners kept."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiledialect as td
from tiledialect.api import reference
from tiledialect.errors import TileError
from tiledialect.exploration import evaluation, kept, tuning
from tiledialect.exploration.evaluation import Failure, Outcome
from tiledialect.exploration.implementation import Implementation
from tiledialect.exploration.kernels import kernel_parts
from tiledialect.exploration.subject import Subject

SOURCE = "function (A[M, N]) -> (S, Y) { S[i: M] = +(A[i, j]); Y = A * 2; }"
DATA = np.arange(24 * 40, dtype=np.float32).reshape(24, 40)


pytestmark = pytest.mark.usefixtures("folder")


def check(f: td.Function) -> None:
    """Fail unless the function does what it says."""
    s, y = f(DATA)
    assert np.array_equal(s, DATA.sum(1)) and np.array_equal(y, DATA * 2)


def test_the_fastest_are_taken_and_kept(fast: td.Device, monkeypatch: pytest.MonkeyPatch):
    f = td.compile(SOURCE, device=fast, tune=3)
    check(f)
    chosen = f.tuned(DATA).schedules(DATA)
    kept = td.compile(SOURCE, device=fast, tune="kept")
    assert kept.schedules(DATA) == chosen

    def again(*_: Any) -> None:
        raise AssertionError("nothing is measured twice")

    monkeypatch.setattr(tuning, "Evaluator", again)
    for count in (2, 3):
        g = td.compile(SOURCE, device=fast, tune=count)
        check(g)
        assert g.tuned(DATA).schedules(DATA) == chosen
    with pytest.raises(AssertionError, match="nothing is measured twice"):
        td.compile(SOURCE, device=fast, tune=4)(DATA)


def test_a_simulator_has_no_speed(device: td.Device, monkeypatch: pytest.MonkeyPatch):
    def measured(*_: Any) -> None:
        raise AssertionError("nothing is measured")

    monkeypatch.setattr(tuning, "Evaluator", measured)
    if device.type == "simulator":
        check(td.compile(SOURCE, device=device, tune=2))


def test_tuning_needs_no_optuna(fast: td.Device, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    check(td.compile(SOURCE, device=fast, tune=2))


@dataclass
class Times:
    """Times of schedules in place of a process that measures them."""

    outcomes: dict[str, Outcome]

    def __call__(self, subject: Subject) -> Times:
        return self

    def evaluate(self, implementation: Implementation, best: float = inf) -> Outcome:
        pairs = [text.split(": ", 1) for text in implementation.schedules]
        found = [self.outcomes.get(text, Outcome(2.0)) for _, text in pairs]
        bad = next((o for o in found if not o.is_good), None)
        seconds = [o.seconds for o in found]
        names = tuple(name for name, _ in pairs)
        return bad or Outcome(sum(seconds), kernels=tuple(zip(names, seconds, strict=True)))

    def close(self) -> None:
        pass


@pytest.mark.parametrize("failure", [Failure.NONE, Failure.ENDED, Failure.WRONG])
def test_schedules_that_fail_are_left_out(
    failure: Failure, fast: td.Device, monkeypatch: pytest.MonkeyPatch
):
    """A crash of a driver, too; without a failure, the fastest schedule is taken."""
    default = td.compile(SOURCE, device=fast).schedules(DATA)
    f = td.compile(SOURCE, device=fast, tune=3)
    texts = {part.name: part.ranked(3) for part in kernel_parts(f.subject([DATA], {}))}
    _, second, third = texts["S"]
    seconds = inf if failure else 0.5
    monkeypatch.setattr(
        tuning, "Evaluator", Times({second: Outcome(seconds, failure), third: Outcome(1.0)})
    )
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = f.tuned(DATA).schedules(DATA)
    assert found == {**default, "S": third if failure else second}
    wrong = [str(w.message) for w in said]
    assert len(wrong) == (failure == Failure.WRONG)
    assert all(f"S: {second}" in text and "a defect" in text for text in wrong)


def ranked(f: td.Function, count: int) -> list[str]:
    """Best schedules of the sums by the cost model."""
    return next(p.ranked(count) for p in kernel_parts(f.subject([DATA], {})) if p.name == "S")


@pytest.mark.parametrize(
    ("source", "shapes"),
    [
        ("function (X[N, M]) -> (S) { S[i, j: N, M] = +(X[i, k]), j - k < M; }", [(8, 300)]),
        ("function (X[N, M]) -> (S) { S[i, j: N, M] = +(X[k, j]), i - k < N; }", [(300, 8)]),
        (
            "function (U[K, M], I[K], Z[N]) -> (S) { S = scatter(U, I, Z); }",
            [(40, 9), (40,), (50,)],
        ),
    ],
    ids=["scan of rows", "scan of columns", "scatter"],
)
def test_scans_and_scatters_have_several_schedules(
    fast: td.Device, source: str, shapes: list[tuple[int, ...]]
):
    """Each computes the same."""
    arrays = [np.ones(s, np.int32 if k == 1 else np.float32) for k, s in enumerate(shapes)]
    f = td.compile(source, device=fast)
    expected = f(*arrays)
    (part,) = kernel_parts(f.subject(arrays, {}))
    (default,) = f.schedules(*arrays).values()
    assert part.is_listed and part.ranked(1) == [default]
    assert len(set(part.ranked(3))) == 3
    for text in part.ranked(3):
        found = f.with_schedules({part.name: text})(*arrays)
        np.testing.assert_array_equal(found, expected)


def test_what_a_search_has_found_stays_if_it_is_faster(
    fast: td.Device, monkeypatch: pytest.MonkeyPatch
):
    f = td.compile(SOURCE, device=fast, tune=3)
    subject, other = f.subject([DATA], {}), ranked(f, 6)[-1]
    kept.keep(kept.found_for(subject, Implementation((f"S: {other}",)), 1.0, 2.0, 2))
    monkeypatch.setattr(tuning, "Evaluator", Times({other: Outcome(0.25)}))
    assert f.tuned(DATA).schedules(DATA)["S"] == other
    (found,) = kept.kept_for(subject.program, fast)
    assert found.implementation.schedules == (f"S: {other}",) and found.tried == 3


def test_what_is_measured_is_taken_in_place_of_a_file(
    fast: td.Device, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    """If the file's was chosen from fewer."""
    plain, file = td.compile(SOURCE, device=fast), folder / "sums.explored"
    first, second, third = ranked(plain, 3)
    monkeypatch.setattr(tuning, "Evaluator", Times({second: Outcome(0.5)}))
    for tried, wanted in [(2, second), (4, third)]:
        own = Implementation((f"S: {third}",))
        kept.save(file, [kept.found_for(plain.subject([DATA], {}), own, 1.0, 2.0, tried)])
        f = td.compile(SOURCE, device=fast, explored=file, tune=3)
        assert f.tuned(DATA).schedules(DATA)["S"] == wanted != first


def test_nothing_is_kept_beside_given_schedules(fast: td.Device, monkeypatch: pytest.MonkeyPatch):
    """Nobody has compared others for these kernels."""
    f = td.compile(SOURCE, device=fast, tune=2)
    second = ranked(f, 2)[-1]
    monkeypatch.setattr(tuning, "Evaluator", Times({second: Outcome(0.5)}))
    given = f.with_schedules({"Y": "<group.x d0 : 24, serial d1 : 40>"})
    assert given.tuned(DATA).schedules(DATA)["S"] == second
    assert kept.kept_for(f.subject([DATA], {}).program, fast) == ()


def test_slow_calls_are_measured_no_further(fast: td.Device, monkeypatch: pytest.MonkeyPatch):
    """The limit is the least time so far, and a slow call has times of its kernels, too."""
    limits: list[float] = []

    class Noting(Times):
        def evaluate(self, implementation: Implementation, best: float = inf) -> Outcome:
            limits.append(best)
            return super().evaluate(implementation, best)

    f = td.compile(SOURCE, device=fast, tune=3)
    _, second, third = ranked(f, 3)
    times = {second: Outcome(1.0), third: Outcome(99.0, Failure.SLOW)}
    monkeypatch.setattr(tuning, "Evaluator", Noting(times))
    assert f.tuned(DATA).schedules(DATA)["S"] == second
    assert limits[:4] == [inf, 4.0, 3.0, inf]


def test_nothing_is_compared_where_nothing_is_tuned(
    fast: td.Device, monkeypatch: pytest.MonkeyPatch
):
    """The reference semantics take long."""

    def compared(*_: object) -> None:
        raise AssertionError("nothing is compared")

    monkeypatch.setattr(reference, "run_whole_arrays", compared)
    f = td.compile(SOURCE, device=fast, tune=2)
    check(f.with_schedules(td.compile(SOURCE, device=fast).schedules(DATA)))
    with pytest.raises(AssertionError, match="nothing is compared"):
        f(DATA)


def test_a_device_that_measures_nothing_keeps_the_default(
    fast: td.Device, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(evaluation, "COMMAND", "import os; os.abort()")
    f = td.compile(SOURCE, device=fast, tune=2)
    check(f)
    assert f.tuned(DATA).schedules(DATA) == td.compile(SOURCE, device=fast).schedules(DATA)


def test_given_schedules_stay(device: td.Device):
    given = {"Y": "<group.x d0 : 24, serial d1 : 40>"}
    f = td.compile(SOURCE, device=device, tune=2).with_schedules(given)
    check(f)
    assert f.tuned(DATA).schedules(DATA)["Y"] == given["Y"]


def test_the_gradient_is_tuned_too(device: td.Device):
    f = td.compile("function (A) -> (B) { B = A * A; }", device=device, tune=2).gradient()
    assert np.array_equal(f(np.float32([1, 2]), np.float32([1, 1])), [2, 4])


def test_warnings_come_once_and_before_anything_runs(
    fast: td.Device, monkeypatch: pytest.MonkeyPatch
):
    """Also of what takes so long that nobody would wait for it."""
    said, measured = list[str](), list[int]()

    class Noting(Times):
        def evaluate(self, implementation: Implementation, best: float = inf) -> Outcome:
            measured.append(len(said))
            return super().evaluate(implementation, best)

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        said.append(str(message))

    monkeypatch.setattr(tuning, "Evaluator", Noting({}))
    monkeypatch.setattr(warnings, "showwarning", show)
    source = "function (A[M, N]) -> (S) { S[i: M] = +(A[i, j]); }"
    f = td.compile(source, tune=2, device=fast)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for rows in (24, 48):
            assert f(np.ones((rows, 40), np.int8)).tolist() == [40] * rows
    assert len(said) == 1 and "wraps beyond 127" in said[0]
    assert measured and set(measured) == {1}


@pytest.mark.parametrize("wrong", [-1, 1.5, True, "all"])
def test_wrong_numbers(wrong: Any):
    with pytest.raises(TileError, match="`tune` must be a number of schedules, at least 0"):
        td.compile(SOURCE, tune=wrong)
