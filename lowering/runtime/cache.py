"""Compiled programs kept on disk.

An entry is one file: a line that names the format and the checksum of the rest, the plan as a
line of JSON, and the device's binary. What cannot be read, or is not what it says, counts as not
there; where nothing can be written, nothing is kept.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from functools import cache
from pathlib import Path

from tiledialect.lowering.runtime.plan import Plan

MAGIC = b"tiledialect-1 "
ENTRIES = 4096
"""How many entries are kept; of more, those that were used longest ago go."""


def folder() -> Path:
    """Where entries are kept: ``TILE_CACHE_DIR``, else the user's cache folder."""
    if chosen := os.environ.get("TILE_CACHE_DIR"):
        return Path(chosen)
    import platformdirs

    return Path(platformdirs.user_cache_dir("tiledialect"))


@cache
def _package_state() -> str:
    """Changes whenever the package's own files or xDSL's version do."""
    from importlib.metadata import version

    import tiledialect
    from tiledialect import lowering, passes

    state = hashlib.sha256(version("xdsl").encode())
    for package in (tiledialect, passes, lowering):
        for root in package.__path__:
            for path in sorted(p for p in Path(root).rglob("*") if p.suffix in (".py", ".lark")):
                stat = path.stat()
                state.update(f"{path} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return state.hexdigest()


def key(*parts: str) -> str:
    """The name of the entry for what ``parts`` say, with this very package."""
    digest = hashlib.sha256(_package_state().encode())
    for part in parts:
        digest.update(f"{len(part)} ".encode())
        digest.update(part.encode())
    return digest.hexdigest()


def load(name: str) -> tuple[Plan, bytes] | None:
    """The plan and binary kept under ``name``; None if there is no sound entry."""
    path = folder() / name[:2] / name
    try:
        data = path.read_bytes()
        head, _, rest = data.partition(b"\n")
        if head != MAGIC + _checksum(rest):
            return None
        text, _, binary = rest.partition(b"\n")
        plan = Plan.from_json(text.decode())
        os.utime(path)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return plan, binary


def store(name: str, plan: Plan, binary: bytes) -> None:
    """Keep a plan and binary under ``name``, if the folder can be written."""
    rest = plan.to_json().encode() + b"\n" + binary
    path = folder() / name[:2] / name
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + _checksum(rest) + b"\n" + rest)
            # Readers see the old entry or the new one, never a half.
            os.replace(temporary, path)
        except OSError:
            os.unlink(temporary)
        prune(ENTRIES)
    except OSError:
        return


def prune(limit: int) -> None:
    """Remove the entries used longest ago until there are ``limit``."""
    entries = [(path.stat().st_mtime, path) for path in folder().glob("??/*")]
    for _, path in sorted(entries)[: max(0, len(entries) - limit)]:
        path.unlink(missing_ok=True)


def _checksum(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()
