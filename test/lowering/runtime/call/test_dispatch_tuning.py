"""Small kernels that the calling thread executes itself, if that is found to be faster."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from threads import in_threads

import tiledialect as td
from tiledialect.errors import TileError
from tiledialect.lowering.runtime.call import dispatch_tuning as trial
from tiledialect.lowering.runtime.call.dispatch_tuning import (
    MOST,
    ROUNDS,
    SHORT,
    WARM,
    DispatchTuning,
)
from tiledialect.lowering.runtime.device.queue_state import state_in_caller, state_of
from tiledialect.lowering.runtime.program.plan import Plan

NOTHING = Plan((), (), (), (), (), "")

CALLS = WARM + 2 * ROUNDS
"""After as many, the trial is over."""


def in_callers() -> list[td.Device]:
    return [device for device in td.devices() if state_in_caller(device)]


@pytest.fixture(params=in_callers(), ids=str)
def caller_device(request: pytest.FixtureRequest) -> td.Device:
    return request.param


class Fake:
    """Calls that take as long as they are said to, by a clock of their own."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        shared: float,
        alone: float | None,
        *,
        quiet_from: int = 0,
        calls: int = CALLS,
    ):
        self.now = 0.0
        self.ways: list[str] = []
        monkeypatch.setattr(trial, "perf_counter", lambda: self.now)

        def way(name: str, seconds: float) -> Any:
            def run(_: Any) -> str:
                self.ways.append(name)
                # As on a busy machine, some calls take longer, at first those of several threads all.
                busy = 1.1 + 0.1 * len(self.ways) if len(self.ways) <= quiet_from else 1
                others = busy if name == "shared" else 1
                self.now += seconds * (1 + len(self.ways) % 3) * others
                return name

            return run

        def in_caller() -> Any:
            if alone is None:
                raise TileError("no such queue")
            return way("alone", alone)

        self.trial = DispatchTuning(NOTHING, way("shared", shared), in_caller, launches=1)
        self.results = [self.trial.run([]) for _ in range(calls)]


def test_the_faster_way_is_kept(monkeypatch: pytest.MonkeyPatch):
    fake = Fake(monkeypatch, SHORT / 2, SHORT / 4)
    assert fake.results == fake.ways
    assert fake.ways[:WARM] == ["shared"] * WARM
    assert fake.ways.count("alone") >= ROUNDS
    assert fake.trial.run([]) == "alone"


@pytest.mark.parametrize("alone", [SHORT / 2.05, SHORT])
def test_the_shared_way_is_kept_if_the_other_is_not_clearly_faster(
    monkeypatch: pytest.MonkeyPatch, alone: float
):
    fake = Fake(monkeypatch, SHORT / 2, alone)
    assert "alone" in fake.ways
    assert fake.trial.run([]) == "shared"


@pytest.mark.parametrize("quiet_from, kept", [(CALLS, "shared"), (9 * MOST, "alone")])
def test_a_trial_goes_on_until_the_fastest_calls_agree(
    monkeypatch: pytest.MonkeyPatch, quiet_from: int, kept: str
):
    """But not for ever."""
    fake = Fake(monkeypatch, SHORT / 8, SHORT / 8.5, quiet_from=quiet_from, calls=2 * MOST + WARM)
    assert fake.ways.count("alone") > ROUNDS
    assert fake.trial.run([]) == kept == fake.trial.run([])


def test_long_calls_are_not_tried(monkeypatch: pytest.MonkeyPatch):
    fake = Fake(monkeypatch, 2 * SHORT, SHORT)
    assert set(fake.ways) == {"shared"}


def test_what_fails_in_the_caller_is_done_by_the_device(monkeypatch: pytest.MonkeyPatch):
    fake = Fake(monkeypatch, SHORT / 2, None)
    assert fake.results == fake.ways == ["shared"] * CALLS


@pytest.mark.parametrize("clearly", [0.0, 1e9])
def test_both_ways_give_the_same(
    caller_device: td.Device, monkeypatch: pytest.MonkeyPatch, clearly: float
):
    """With intermediates, several outputs, and arrays that overlap or cannot be written."""
    monkeypatch.setattr(trial, "CLEARLY", clearly)
    monkeypatch.setattr(trial, "SHORT", 1.0)
    f = td.compile(
        "function (A[N, M], B[M, N]) -> (C, S) {"
        " C[i, j: N, N] = +(A[i, k] * B[k, j]);"
        " S[i: N] = +(C[i, j] * C[j, i]); }",
        device=caller_device,
    )
    whole = np.arange(80, dtype=np.float32)
    a, b = whole[:72].reshape(9, 8), whole[4:76].reshape(8, 9)
    b.flags.writeable = False
    c = a @ b
    for _ in range(CALLS + 2):
        found = f(a, b)
        assert np.allclose(found.C, c) and np.allclose(found.S, (c * c.T).sum(1))


def test_several_threads_in_a_trial(caller_device: td.Device):
    f = td.compile("function (A[N]) -> (B, C) { B = A + 1; C[] = +(A[i]); }", device=caller_device)
    wrong: list[int] = []

    def work(n: int) -> None:
        for k in range(2 * CALLS):
            a = np.full(100 + k % 2, n + k, np.int64)
            b, c = f(a)
            if not np.array_equal(b, a + 1) or c != a.sum():
                wrong.append(n)

    in_threads(work, range(4))
    assert not wrong


def test_commands_in_the_caller_are_done_at_once(caller_device: td.Device):
    state = state_in_caller(caller_device)
    assert state is not None and state.is_synchronous
    assert not state_of(td.queue(caller_device)).is_synchronous
    a = np.zeros(1 << 20, np.float32)
    f = td.compile("function (A[N]) -> (B) { B = exp(A); }", device=caller_device)
    types = f.types((a,), {})
    run = f._specialize(types, caller_device).executable(state, on_host=True)  # pyright: ignore[reportPrivateUsage]
    for value in range(5):
        a[:] = value
        assert np.allclose(run.on_host([a])[0], np.exp(np.float32(value)))
