"""Runs checks in another process, which is ended where a check takes too long."""

from __future__ import annotations

import multiprocessing
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

LIMIT = 60.0
"""The seconds that a check may take."""


class TooLongError(AssertionError):
    """A check takes longer than it may."""


class Worker:
    """A process that runs checks one after another, and is started anew where one ended it."""

    def __init__(self, limit: float = LIMIT):
        self.limit = limit
        self._context = multiprocessing.get_context("spawn")
        self._start()

    def _start(self) -> None:
        self._pipe, other = self._context.Pipe()
        self._process = self._context.Process(target=_serve, args=(other,), daemon=True)
        self._process.start()
        other.close()
        # Imports do not count.
        self._pipe.recv()

    def run(self, check: Callable[[Any], None], value: Any) -> None:
        """Check a value, both of which can be pickled; an AssertionError if that fails."""
        try:
            self._pipe.send((check, value))
            if not self._pipe.poll(self.limit):
                raise TooLongError(f"{check.__name__} takes more than {self.limit:g} s")
            failure = self._pipe.recv()
        except (TooLongError, EOFError, OSError) as error:
            self.close()
            status = self._process.exitcode
            self._start()
            if isinstance(error, TooLongError):
                raise
            raise AssertionError(f"{check.__name__} ends the process (status {status})") from None
        assert not failure, failure

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._pipe.close()


def _serve(pipe: Connection) -> None:
    import conftest  # noqa: F401  (before the first device is looked for)

    pipe.send("")
    while True:
        try:
            check, value = pipe.recv()
        except EOFError:
            return
        try:
            check(value)
            pipe.send("")
        except Exception:
            pipe.send(traceback.format_exc())
