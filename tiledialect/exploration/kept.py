"""Implementations that searches have found, kept for programs, shapes and devices.

One file for each program and device, on disk; `.explored` files hold the same, for other machines
of the kind. An implementation of another version of the package is not used: its kernels may be
others, and are not compared with the reference semantics.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import tiledialect
from tiledialect import disk
from tiledialect.errors import TileError
from tiledialect.exploration.implementation import Found, Implementation
from tiledialect.exploration.subject import Subject
from tiledialect.ir.mlir_text import print_module
from tiledialect.lowering.runtime.device.device import Device
from tiledialect.lowering.runtime.program.program import Program
from tiledialect.passes.diagnostics.reporting import warn
from tiledialect.records import WRONG, from_json, to_json

OTHER_VERSION = (
    "{} is of version {} of the package, and left out, as this is {}: explore again, which begins "
    "with what is kept"
)


@dataclass(frozen=True)
class _File:
    found: tuple[Found, ...]


def digest(program: Program) -> str:
    """Digest of a program, without its schedules: of the source, and of what is made of it."""
    made = repr((program.transforms, program.fusion))
    return f"{source_digest(program)}-{hashlib.sha256(made.encode()).hexdigest()[:16]}"


def source_digest(program: Program) -> str:
    """Digest of the source of a program: comments and spaces do not count."""
    text = f"{program.name} {print_module(program.module)}"
    return hashlib.sha256(text.encode()).hexdigest()


def check_source(found: Sequence[Found], program: Program, path: Path) -> None:
    """Raise a TileError if all implementations of a file are of other programs, and warn if all are
    of other versions of the package."""
    own = source_digest(program)
    fit = [f for f in found if f.program.partition("-")[0] == own]
    if not fit:
        raise TileError(f"{path} has no implementation of {program.name}, but of another program")
    if not any(f.is_current for f in fit):
        warn([OTHER_VERSION.format(path, fit[0].version, tiledialect.__version__)])


def described(device: Device) -> str:
    """Platform, name and driver of a device."""
    return f"{device.platform} / {device.name} / {device.driver}"


def keep(found: Found) -> None:
    """Keep what was found on disk, in place of what was kept for inputs of the same types.

    Times of other days do not count: a search measures what was kept beside what it finds.
    """
    path = _path(found.program, found.device)
    others = (f for f in _on_disk(path) if f.types != found.types)
    disk.write_sealed(path, to_json(_File((found, *others))).encode())


def keep_for(subject: Subject, found: Found) -> None:
    """Keep what was found for a subject, unless schedules are given for some kernels: of these no
    others were tried, and calls without the given ones take what is kept, too."""
    if not subject.program.schedules:
        keep(found)


def kept_for(program: Program, device: Device) -> tuple[Found, ...]:
    """Implementations that are kept for a program on a device."""
    return _on_disk(_path(digest(program), described(device)))


def found_for(
    subject: Subject, implementation: Implementation, seconds: float, default: float, tried: int
) -> Found:
    """The fastest implementation of a subject as data."""
    own = digest(subject.program), described(subject.device), subject.shapes
    return Found(*own, implementation, seconds, default, tried)


def implementations(subject: Subject) -> list[Implementation]:
    """The implementation that is kept for a subject, if there is one."""
    kept = kept_for(subject.program, subject.device)
    found = matching(kept, subject.program, subject.device, subject.shapes)
    return [] if found is None else [found.implementation]


def of_program(found: Iterable[Found], program: Program, device: Device) -> list[Found]:
    """The implementations of a program on a device, for inputs of all types."""
    wanted = digest(program), described(device)
    return [f for f in found if (f.program, f.device) == wanted]


def matching(found: Iterable[Found], program: Program, device: Device, types: str) -> Found | None:
    """The implementation for inputs of some types, if this version has found one: of several the
    fastest of most candidates."""
    own = of_program(found, program, device)
    fit = (f for f in own if f.types == types and f.is_current)
    return max(fit, key=lambda f: f.tried, default=None)


def save(path: Path, found: Sequence[Found]) -> None:
    """Write a file of implementations; a TileError if it cannot be written."""
    try:
        path.write_text(to_json(_File(tuple(found))))
    except OSError as error:
        raise TileError(f"{path} cannot be written: {error.strerror}") from None


def load(path: Path) -> tuple[Found, ...]:
    """Read a file of implementations; a TileError if there is none."""
    data = disk.read(path)
    if data is None:
        raise TileError(f"there is no file {path}")
    try:
        return from_json(_File, data.decode()).found
    except WRONG:
        raise TileError(f"{path} is no file that `save` of a search has written") from None


def _path(program: str, device: str) -> Path:
    name = hashlib.sha256(f"{program} {device}".encode()).hexdigest()
    return disk.folder() / "explored" / name


def _on_disk(path: Path) -> tuple[Found, ...]:
    data = disk.read_sealed(path)
    try:
        return from_json(_File, data.decode()).found if data is not None else ()
    except WRONG:
        return ()
