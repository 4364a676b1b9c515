"""Reports of the simulator Oclgrind."""

from __future__ import annotations

import os
from pathlib import Path


def log() -> str:
    """All of it so far."""
    path = Path(os.environ.get("OCLGRIND_LOG", os.devnull))
    return path.read_text() if path.is_file() else ""


def report(before: int) -> str:
    """Reports since the log had this length."""
    return log()[before:].strip()
