"""Children that report to the process that started them."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from threads import allow_threads

from tiledialect.lowering.runtime import child_process
from tiledialect.lowering.runtime.child_process import Server, start

LINES = "from tiledialect.lowering.runtime.child_process import say\n"
LINES += "for k in range(20): say(tries=str(k))\n"


def test_lines_that_come_soon_cost_no_look_at_the_child(monkeypatch: pytest.MonkeyPatch):
    """A child has a hundred threads, and a search a dozen children."""
    looks = list[int]()

    def looked(pid: int) -> float:
        looks.append(pid)
        return 0.0

    monkeypatch.setattr(child_process, "waited", looked)
    with ExitStack() as stack:
        child = start(LINES + "say(reason='done')", (), stack)
        assert child is not None
        report = child.report(1000.0, "nothing")
    assert (report.reason, report.tried, looks) == ("done", "", [])


def test_a_child_that_is_stopped_meanwhile_is_killed(monkeypatch: pytest.MonkeyPatch):
    """One thread looks for the child, and before it looks again, another has stopped it."""
    waiting = "import time; time.sleep(1000)"
    with ExitStack() as stack:
        child = start(waiting, (), stack)
        assert child is not None
        looks = [child]
        server = Server(waiting, "")
        own = property(lambda _: looks.pop() if looks else None)
        monkeypatch.setattr(Server, "_child", own, raising=False)
        server.kill()
        assert child.process.wait(60) < 0


def test_a_child_starts_in_a_working_folder_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Where Python runs a text, its modules are in the working folder, too."""
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with ExitStack() as stack:
        child = start(LINES + "say(reason='done')", (), stack)
        assert child is not None and child.report(1000.0, "nothing").reason == "done"


@pytest.mark.parametrize("count", [0, 1])
def test_a_child_that_no_thread_can_read_is_ended(monkeypatch: pytest.MonkeyPatch, count: int):
    allow_threads(monkeypatch, count)
    server = Server("import time; time.sleep(1000)", "")
    assert server.running() is None
    server.stop()


def test_a_report_in_which_a_driver_writes_is_a_failure():
    with ExitStack() as stack:
        child = start(f"print('{child_process.MARK}{{\"rea driver: ready')", (), stack)
        assert child is not None
        report = child.report(1000.0, "a job")
    assert report.reason == "gives a broken report in a job" and report.passing
