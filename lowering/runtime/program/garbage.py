"""Garbage of compilations, and the time of its collection."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

MOST_WAITING = 2_000_000
"""Objects, garbage among them, that compilations leave for later at least: some 200 MB."""


class _Waiting:
    """The objects that compilations left for later, since they were last looked through."""

    def __init__(self):
        self.count = 0
        self.kept = 0

    def add(self, count: int) -> None:
        """Leave so many new objects, all that there are, for later, unless these are too many."""
        self.count += count
        # A full round takes as long as there are objects: it waits for a share of them.
        if self.count > max(MOST_WAITING, self.kept // 2):
            gc.collect()
            self.count, self.kept = 0, len(gc.get_objects())
        elif not gc.get_freeze_count():
            # New objects become old ones. Objects that others have frozen would thaw.
            gc.freeze()
            gc.unfreeze()


_waiting = _Waiting()


@contextmanager
def no_collection() -> Generator[None]:
    """Look for no garbage meanwhile, nor in the new objects right afterwards.

    The IR is all in cycles, and little of it is garbage before the end. Then half of it is, but to
    find which takes a tenth as long as compiling. It goes when Python looks through its old objects
    the next time, which compilations see to if they leave many.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        _waiting.add(gc.get_count()[0])
        gc.enable()
