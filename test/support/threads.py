"""Running tests' work in threads, and systems that allow few."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from itertools import repeat
from threading import Lock, Thread

import pytest


def in_threads(work: Callable[[int], object], numbers: Iterable[int]) -> None:
    """Call it with each number, in a thread for each, and wait until all are done."""
    threads = [threading.Thread(target=work, args=(n,)) for n in numbers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def allow_threads(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Let so many threads start, and no more."""
    start, lock, left = Thread.start, Lock(), repeat(None, count)

    def limited(thread: Thread) -> None:
        with lock:
            is_allowed = next(left, False) is None
        if not is_allowed:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(Thread, "start", limited)
