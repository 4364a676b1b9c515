"""What compiling leaves to Python's garbage collector, and when it is looked for."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

MOST_WAITING = 500_000
"""How many objects, garbage among them, compilations leave for later: some 50 MB."""


class _Waiting:
    """The objects that compilations left for later, since they were last looked through."""

    def __init__(self):
        self.count = 0

    def add(self, count: int) -> None:
        """Leave so many new objects, all that there are, for later, unless these are too many."""
        self.count += count
        if self.count > MOST_WAITING:
            self.count = 0
            gc.collect()
        elif not gc.get_freeze_count():
            # New objects become old ones, but for what others have frozen, which would thaw.
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
