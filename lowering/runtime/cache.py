"""Compiled programs kept on disk.

An entry is one file: a line that names the format and the checksum of the rest, the plan as a
line of JSON, and the device's binary. What cannot be read, or is not what it says, counts as not
there; where nothing can be written, nothing is kept.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from functools import cache
from pathlib import Path

import tiledialect
from tiledialect import disk
from tiledialect.lowering.runtime.check_plan import check_plan
from tiledialect.lowering.runtime.plan import Plan

ENTRIES = 4096
"""How many entries are kept; of more, those that were used longest ago go."""


def _state_of_files() -> str | None:
    """Tells the files of the package and xDSL's version from others.

    None if a file was changed since the package was imported: nobody knows then what is running.
    """
    from importlib.metadata import version

    from tiledialect import lowering, passes

    state = hashlib.sha256(version("xdsl").encode())
    for package in (tiledialect, passes, lowering):
        for path in sorted(Path(package.__path__[0]).rglob("*")):
            if path.suffix in (".py", ".lark"):
                status = path.stat()
                if status.st_ctime_ns > tiledialect.LOADED:
                    return None
                state.update(f"{path} {status.st_size} {status.st_mtime_ns}\n".encode())
    return state.hexdigest()


@cache
def _state() -> str | None:
    return _state_of_files()


def key(*parts: str) -> str | None:
    """The name of the entry for what ``parts`` say, with this very package; None: keep nothing."""
    state = _state()
    if state is None:
        return None
    digest = hashlib.sha256(state.encode())
    for part in parts:
        digest.update(f"{len(part)} ".encode())
        digest.update(part.encode())
    return digest.hexdigest()


def _path(name: str) -> Path:
    return disk.folder() / name[:2] / name


def load(name: str | None) -> tuple[Plan, bytes] | None:
    """The plan and binary kept under ``name``; None if there is no sound entry."""
    if name is None or (rest := disk.read_sealed(_path(name))) is None:
        return None
    text, _, binary = rest.partition(b"\n")
    try:
        plan = Plan.from_json(text.decode())
        check_plan(plan)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    with suppress(OSError):
        os.utime(_path(name))
    return plan, binary


def store(name: str | None, plan: Plan, binary: bytes) -> None:
    """Keep a plan and binary under ``name``, if the folder can be written."""
    # What was compiled while files changed is of no known state.
    if name is None or _state_of_files() != _state():
        return
    rest = plan.to_json().encode() + b"\n" + binary
    disk.write_sealed(_path(name), rest)
    prune(ENTRIES)


def prune(limit: int) -> None:
    """Remove the entries used longest ago until there are ``limit``."""
    with suppress(OSError):
        entries = [(path.stat().st_mtime, path) for path in disk.folder().glob("??/*")]
        for _, path in sorted(entries)[: max(0, len(entries) - limit)]:
            path.unlink(missing_ok=True)
