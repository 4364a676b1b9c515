"""Checks in another process: what fails, ends the process or never ends is found."""

from __future__ import annotations

import os
import time

import pytest
from limited import TooLongError, Worker


def refuse(value: int) -> None:
    """Fail unless the value is 0."""
    assert value == 0, "not 0"


def test_worker():
    worker = Worker(limit=1.0)
    try:
        worker.run(refuse, 0)
        with pytest.raises(AssertionError, match="not 0"):
            worker.run(refuse, 1)
        with pytest.raises(TooLongError, match="sleep takes more than 1 s"):
            worker.run(time.sleep, 60)
        with pytest.raises(AssertionError, match=r"_exit ends the process \(status 3\)"):
            worker.run(os._exit, 3)
        worker.run(refuse, 0)
    finally:
        worker.close()
