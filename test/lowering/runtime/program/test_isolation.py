"""Kernels of given schedules are tried in another process, which alone they may end."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

import tiledialect as td
from tiledialect import disk
from tiledialect.lowering.runtime.child_process import MARK
from tiledialect.lowering.runtime.program import isolation, specialization

# pyright: reportPrivateUsage=false

pytestmark = [pytest.mark.tries_kernels, pytest.mark.usefixtures("ready_python")]

SOURCE = "function (A[N, M]) -> (S) { S[i: N] = +(A[i, k]); }"
USUAL = {"S": "<group.x i : 12, serial k : 36>"}
DATA = np.arange(12 * 36, dtype=np.float32).reshape(12, 36) / 64
"""Sums of these are exact."""
TRIES = f"""print('{MARK}{{"tries": "a launch of main_0_S"}}', flush=True); """
FINE = f"""input(); print('{MARK}{{"reason": ""}}')"""
ENDS = {
    "aborts": (f"input(); {TRIES}import os; os.abort()", r"SIGABRT\) in a launch of main_0_S"),
    "hangs": (
        f"input(); {TRIES}import time; time.sleep(60)",
        "does not finish a launch of main_0_S",
    ),
    "ends at the build": ("input(); import os; os.abort()", r"SIGABRT\) in the build of its kern"),
}


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept, and no process is there."""
    isolation._close()
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path))


@pytest.fixture
def native(device: td.Device) -> td.Device:
    if device.type == "simulator":
        pytest.skip("simulators compile nothing")
    return device


def check(f: td.Function) -> None:
    assert np.array_equal(f(DATA), DATA.sum(1))


@pytest.mark.parametrize("end", ENDS)
def test_what_ends_the_process_is_an_error(
    end: str, native: td.Device, monkeypatch: pytest.MonkeyPatch
):
    code, reason = ENDS[end]
    f = td.compile(SOURCE, device=native)
    with monkeypatch.context() as patch:
        patch.setattr(isolation, "COMMAND", code)
        patch.setattr(isolation, "TIME_LIMIT", 0.3 if end == "hangs" else 60)
        with pytest.raises(td.TileError, match=reason) as caught:
            f.with_schedules(USUAL)(DATA)
    assert f"\n  S: {USUAL['S']}" in str(caught.value)
    with pytest.raises(td.TileError, match=reason):
        # It is kept: no process is asked.
        td.compile(SOURCE, device=native).with_schedules(USUAL)(DATA)
    check(f)


SHORT = {
    "time": ENDS["hangs"][0],
    "the kernel's memory": "import os; input(); os.kill(os.getpid(), 9)",
    "the process's memory": "import os; input(); os.write(2, b'std::bad_alloc\\n'); os.abort()",
}


@pytest.mark.parametrize("what", SHORT)
def test_where_time_or_memory_was_short_it_is_tried_again(
    what: str, native: td.Device, monkeypatch: pytest.MonkeyPatch
):
    f = td.compile(SOURCE, device=native)
    with monkeypatch.context() as patch:
        patch.setattr(isolation, "COMMAND", SHORT[what])
        patch.setattr(isolation, "TIME_LIMIT", 0.3 if what == "time" else 60)
        with pytest.raises(td.TileError, match=r"does not finish|ends the process"):
            f.with_schedules(USUAL)(DATA)
    monkeypatch.setattr(isolation, "COMMAND", FINE)
    with pytest.raises(td.TileError, match=r"does not finish|ends the process"):
        f.with_schedules(USUAL)(DATA)
    after = time.time() + isolation.RETRY
    monkeypatch.setattr(isolation.time, "time", lambda: after)
    check(f.with_schedules(USUAL))


def test_a_refusal_is_that_of_the_users_process(native: td.Device, monkeypatch: pytest.MonkeyPatch):
    """And it is not kept: a launch that was refused for want of memory was never tried."""
    f = td.compile(SOURCE, device=native).with_schedules(USUAL)
    with monkeypatch.context() as patch:
        patch.setattr(specialization, "prelude", lambda *_: "#error nosuch\n")
        with pytest.raises(td.TileError, match=r"(?s)refuses the program:.*nosuch"):
            f(DATA)
    assert not (disk.folder() / "schedules").exists()
    check(f)


def test_what_the_compiler_chose_is_not_tried(device: td.Device, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(isolation, "find", None)
    check(td.compile(SOURCE, device=device))


def test_one_process_serves_several_programs(native: td.Device, monkeypatch: pytest.MonkeyPatch):
    check(td.compile(SOURCE, device=native).with_schedules(USUAL))
    (first,) = isolation._workers
    check(td.compile(SOURCE, device=native).with_schedules({"S": "<serial i : 12, serial k : 36>"}))
    assert isolation._workers == [first]
    # One that was ended meanwhile is no fault of the next program.
    first.child.process.kill()
    check(td.compile(SOURCE, device=native).with_schedules({"S": "<serial k : 36, serial i : 12>"}))


def test_schedules_of_modules_are_tried(
    native: td.Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(isolation, "COMMAND", ENDS["aborts"][0])
    module = tmp_path / "scheduled.mlir"
    module.write_text(str(td.compile(SOURCE, device=native).ir("tile-loop-tiling", DATA)))
    with pytest.raises(td.TileError, match="by the schedule"):
        td.compile(module, device=native)(DATA)


def test_types_that_numpy_has_from_elsewhere(native: td.Device):
    f = td.compile("function (A[N], B[]) -> (O) { O = A * B; }", device=native)
    a, b = DATA[0].astype("bfloat16"), np.array(2).astype("bfloat16")
    assert np.array_equal(f.with_schedules({"O": "<group.x d0 : 36>"})(a, b), a * b)


def test_a_schedule_that_ends_a_runtime(native: td.Device):
    """Intel's runtime of 2025 ends its process at the first launch; others are right."""
    text = "<serial k : 4, serial 4*k : 8, serial i : 13, serial 32*k : 3>"
    f = td.compile(SOURCE, device=native)
    try:
        check(f.with_schedules({"S": text}))
    except td.TileError as error:
        assert "ends the process that uses it" in str(error) and text in str(error)
    check(f)
