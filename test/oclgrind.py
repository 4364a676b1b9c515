"""What the simulator Oclgrind has reported."""

from __future__ import annotations

import os
import re
from pathlib import Path

HALF_OF_DOUBLE = re.compile(r"^\s+call .*@_Z\d+vstore_half\d*_rted", re.MULTILINE)
"""Oclgrind 21.10 reads its marks of a double as those of a float there, past what is marked."""


def log() -> str:
    """All of it so far."""
    path = Path(os.environ.get("OCLGRIND_LOG", os.devnull))
    return path.read_text() if path.is_file() else ""


def report(before: int) -> str:
    """What was reported since the log had this length, without what the simulator mistakes."""
    entries = re.split(r"\n\s*\n", log()[before:])
    return "\n\n".join(e for e in entries if e.strip() and not is_mistaken(e)).strip()


def is_mistaken(entry: str) -> bool:
    """Whether an entry says that a double stored as a half is not initialized."""
    return "Uninitialized value" in entry and HALF_OF_DOUBLE.search(entry) is not None
