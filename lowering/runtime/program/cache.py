"""Compiled programs kept on disk.

An entry is one file: a line that names the format and the checksum of the rest, the plan as a
line of JSON, a line of JSON with the kernels and the length of each binary, and the device's
binaries. Other entries are records of what is made before a plan. An entry that cannot be read, or
is damaged, counts as absent; where nothing can be written, nothing is kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import tiledialect
from tiledialect import caches, disk
from tiledialect.lowering.runtime.program.plan import Plan
from tiledialect.lowering.runtime.program.plan_checks import check_plan
from tiledialect.lowering.runtime.program.program_text import KernelTexts
from tiledialect.records import WRONG, from_json, to_json

Record = TypeVar("Record")

ENTRIES = 4096
"""Most entries; of more, the ones used longest ago go."""
SUFFIXES = (".py", ".lark", ".toml")
"""Endings of the package's files that decide what is compiled."""


def _files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """Files below a folder that decide what is compiled, with their status."""
    # Every compilation asks: `Path.rglob` takes ten times as long.
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(SUFFIXES):
                yield entry.path, entry.stat()
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from _files(entry.path)


def _state_of_files() -> str | None:
    """Digest of the package's files and xDSL's version.

    None if a file was changed since the package was imported: the running code is unknown then.
    """
    from importlib.metadata import version

    from tiledialect import lowering, passes

    state = hashlib.sha256(version("xdsl").encode())
    for package in (tiledialect, passes, lowering):
        for path, status in sorted(_files(package.__path__[0])):
            if status.st_ctime_ns > tiledialect.LOADED:
                return None
            state.update(f"{path} {status.st_size} {status.st_mtime_ns}\n".encode())
    return state.hexdigest()


@caches.PACKAGE
def _state() -> str | None:
    return _state_of_files()


@caches.PACKAGE
def _state_with(modules: int) -> str | None:
    """State of the files while so many modules are loaded, whose code runs."""
    return _state_of_files()


def key(*parts: str) -> str | None:
    """Name of the entry for ``parts`` with this very package; None: keep nothing."""
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


def _is_known() -> bool:
    """Whether the running code is that of the keys: files may change while it is imported."""
    return _state_with(len(sys.modules)) == _state()


def kept(kind: type[Record], name: str | None, make: Callable[[], Record]) -> Record:
    """The record that is kept under ``name``; if there is no sound one, ``make`` gives it."""
    found = find(kind, name)
    if found is not None:
        return found
    made = make()
    keep(name, made)
    return made


def find(kind: type[Record], name: str | None) -> Record | None:
    """The record that is kept under ``name``; None if there is no sound one."""
    if name is not None and (data := disk.read_sealed(_path(name))) is not None:
        with suppress(*WRONG):
            record = from_json(kind, data.decode())
            _touch(name)
            return record
    return None


def keep(name: str | None, record: object) -> None:
    """Keep a record under ``name``, if the folder can be written."""
    if name is not None and _is_known():
        disk.write_sealed(_path(name), to_json(record).encode())


def _touch(name: str) -> None:
    """Note that an entry is used."""
    with suppress(OSError):
        os.utime(_path(name))


@dataclass(frozen=True)
class Binary:
    """The code that a device's compiler made of some kernels of a plan."""

    names: Mapping[str, str]
    """Names in the binary by the plan's names of kernels."""
    code: bytes


def load(name: str | None) -> tuple[Plan, tuple[Binary, ...]] | None:
    """The plan and binaries kept under ``name``; None if there is no sound entry."""
    if name is None or (rest := disk.read_sealed(_path(name))) is None:
        return None
    text, _, rest = rest.partition(b"\n")
    head, _, codes = rest.partition(b"\n")
    try:
        plan = from_json(Plan, text.decode())
        check_plan(plan)
        binaries = _binaries(json.loads(head), codes, KernelTexts.of(plan.source).kernels)
    except WRONG:
        return None
    _touch(name)
    return plan, binaries


def _binaries(
    head: Sequence[tuple[Mapping[str, str], int]], codes: bytes, kernels: Container[str]
) -> tuple[Binary, ...]:
    """Binaries that the head describes; a ValueError if their kernels are others."""
    start, found = 0, list[Binary]()
    for names, size in head:
        if not all(name in kernels for name in names) or size < 0:
            raise ValueError("a binary is of other kernels")
        found.append(Binary({k: str(v) for k, v in names.items()}, codes[start : start + size]))
        start += size
    if start != len(codes):
        raise ValueError("binaries are longer or shorter than they are said to be")
    return tuple(found)


def store(name: str | None, plan: Plan, binaries: Sequence[Binary]) -> None:
    """Keep a plan and binaries under ``name``, if the folder can be written."""
    if name is None or not _is_known():
        return
    head = json.dumps([(b.names, len(b.code)) for b in binaries])
    codes = b"".join(b.code for b in binaries)
    disk.write_sealed(_path(name), f"{to_json(plan)}\n{head}\n".encode() + codes)
    # A look at all entries takes longer than one compilation's rest: one name in 16 is enough.
    if name.startswith("0"):
        prune(ENTRIES)


def prune(limit: int) -> None:
    """Remove the entries used longest ago until there are ``limit``."""
    with suppress(OSError):
        entries = [(path.stat().st_mtime, path) for path in disk.folder().glob("??/*")]
        for _, path in sorted(entries)[: max(0, len(entries) - limit)]:
            path.unlink(missing_ok=True)
