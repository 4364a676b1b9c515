"""The work of a function as a number of calls: unlike a time, it is the same on a busy machine."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import FrameType


def calls(action: Callable[[], object]) -> int:
    """The number of Python functions that an action calls."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    # A collection calls functions, too, wherever it begins.
    collects = gc.isenabled()
    gc.disable()
    before = sys.getprofile()
    sys.setprofile(trace)
    try:
        action()
    finally:
        sys.setprofile(before)
        if collects:
            gc.enable()
    return count


def is_linear(action: Callable[[int], object], size: int) -> bool:
    """Whether an action on twice as much has twice as much work."""
    # What is made once and kept is made before.
    action(size)
    return calls(lambda: action(2 * size)) <= 2.1 * calls(lambda: action(size))
