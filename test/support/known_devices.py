"""Trials of devices, which take seconds and find the same for all runs of the tests."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from tiledialect import disk


def share(cache: Path) -> None:
    """Let a folder of kept files have the results of the user's."""
    known = (disk.folder() / "devices").absolute()
    with suppress(OSError):
        known.mkdir(parents=True, exist_ok=True)
        cache.mkdir(parents=True, exist_ok=True)
        (cache / "devices").symlink_to(known)
