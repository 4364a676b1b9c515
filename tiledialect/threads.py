"""Threads that work for another one."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from itertools import takewhile
from queue import SimpleQueue
from threading import Thread
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def start(thread: Thread) -> bool:
    """Start a thread; whether the system allows one more."""
    try:
        thread.start()
    except RuntimeError:
        return False
    return True


class Threads(Executor):
    """Executor for threads that outlive the main one, too.

    With the main thread ``ThreadPoolExecutor`` ends, and can be imported no more. Where the system
    allows fewer threads, there are fewer; without any the one who submits does all.
    """

    def __init__(self, count: int):
        self._jobs = SimpleQueue[Callable[[], None] | None]()
        threads = (Thread(target=self._work, daemon=True) for _ in range(count))
        self._threads = [*takewhile(start, threads)]

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Let one of the threads call a function."""
        future = Future[T]()
        job = partial(_settle, future, partial(fn, *args, **kwargs))
        if self._threads:
            self._jobs.put(job)
        else:
            job()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the threads once they have done what was submitted."""
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads if wait else ():
            thread.join()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()


def _settle(future: Future[T], call: Callable[[], T]) -> None:
    """Give a future the result of a call, if nobody has cancelled it."""
    if future.set_running_or_notify_cancel():
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)
