"""Threads that work for another one, as those of an executor."""

from __future__ import annotations

import subprocess
import sys

import pytest
from threads import allow_threads

from tiledialect.threads import Threads

LATE = """
import threading, time

def late():
    threading.main_thread().join()
    time.sleep(0.2)
    from tiledialect.lowering.runtime.device import probe
    from tiledialect.threads import Threads

    with Threads(2) as threads:
        print([*threads.map(abs, range(-3, 1))])

threading.Thread(target=late).start()
"""
"""A thread that uses devices for the first time when the main thread has ended."""


def test_threads_outlive_the_main_thread() -> None:
    run = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("[3, 2, 1, 0]\n", "")


def test_errors_reach_the_one_who_waits() -> None:
    done = list[int]()
    with Threads(1) as threads:
        first, second = threads.submit(int, "x"), threads.submit(done.append, 1)
        with pytest.raises(ValueError, match="invalid literal"):
            first.result()
        assert second.result() is None
    assert done == [1]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_where_the_system_allows_fewer_threads_the_others_do_all(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    allow_threads(monkeypatch, count)
    with Threads(3) as threads:
        assert [*threads.map(abs, range(-9, 1))] == [*range(9, -1, -1)]
        with pytest.raises(ValueError, match="invalid literal"):
            threads.submit(int, "x").result()
