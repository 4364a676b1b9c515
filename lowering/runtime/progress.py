"""Progress of long work, shown on a terminal while it lasts."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from threading import Timer

from tiledialect.threads import start

PATIENCE = 1.0
"""Seconds after which progress is shown."""
ERASE = "\r\033[K"


@contextmanager
def progress(text: str) -> Generator[None]:
    """Show ``text`` on the standard error, if that is a terminal, until the context is left.

    Work of less than a second is not shown, and nothing stays on the screen.
    """
    stream = sys.stderr
    # A process without a console has no standard error.
    if stream is None or not stream.isatty():
        yield
        return
    shown: list[str] = []

    def show() -> None:
        shown.append(text)
        stream.write(f"{ERASE}{text} …")
        stream.flush()

    timer = Timer(PATIENCE, show)
    timer.daemon = True
    is_started = start(timer)
    try:
        yield
    finally:
        timer.cancel()
        if is_started:
            timer.join()
        if shown:
            stream.write(ERASE)
            stream.flush()
