"""Builds OpenCL programs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import pyopencl as cl

from tiledialect import caches
from tiledialect.errors import WARNING_FILTERS, TileError
from tiledialect.lowering.quirks.table import DENORMALS_ARE_ZERO, Kind, quirks_of
from tiledialect.lowering.runtime.device.device import every_device

BUILD_OPTIONS = ("-cl-std=CL1.2", "-cl-mad-enable")


def build_options(platform: str, *, exact: bool = False) -> tuple[str, ...]:
    """The options for a platform of this short name; ``exact`` keeps numbers next to 0."""
    needed = (quirk.answer for quirk in quirks_of(platform, Kind.OPTION))
    kept = (option for option in needed if not (exact and option == DENORMALS_ARE_ZERO))
    return (*BUILD_OPTIONS, *kept)


def build_program(
    source: str, context: cl.Context, device: cl.Device, options: Sequence[str]
) -> cl.Program:
    """The program of an OpenCL C text; a TileError with the compiler's words if it is refused."""
    return _built(cl.Program(context, source), device, options)


def load_program(
    binary: bytes,
    context: cl.Context,
    device: cl.Device,
    options: Sequence[str],
    kernels: AbstractSet[str],
) -> cl.Program:
    """The program that the device's own compiler made before, which has these kernels.

    Raises a TileError if the device refuses it, or if it lacks one.
    """
    try:
        program = _built(cl.Program(context, [device], [binary]), device, options)
        found = program.kernel_names.split(";")
    except (cl.Error, ValueError) as error:
        raise TileError(str(error)) from None
    if missing := kernels - {*found}:
        raise TileError(f"there is no kernel {', '.join(sorted(missing))}")
    return program


def binary_of(program: cl.Program, device: cl.Device) -> bytes:
    """The binary that the device's compiler made; empty if the platform does not tell."""
    try:
        place = program.devices.index(device)
        return bytes(program.binaries[place])
    except (cl.Error, IndexError, TypeError, ValueError):
        return b""


def built_elsewhere(device: str, source: str, options: Sequence[str]) -> bytes:
    """The binary of a text for the device of this id, in a process with no other use of it; empty
    if there is none."""
    if (context := _context(device)) is None:
        return b""
    (own,) = context.devices
    return binary_of(build_program(source, context, own, options), own)


@caches.DEVICES
def _context(device: str) -> cl.Context | None:
    found = [opencl for own, opencl in every_device().items() if own.id == device]
    return cl.Context(found) if found else None


def _built(program: cl.Program, device: cl.Device, options: Sequence[str]) -> cl.Program:
    with WARNING_FILTERS, warnings.catch_warnings():
        # Ignored: the compiler's log of a program that it accepts, and pyopencl's warning about
        # going round its own cache, which the first line does.
        warnings.simplefilter("ignore")
        try:
            _ = program.int_ptr
            return program.build([*options], devices=[device])
        except cl.Error as error:
            raise TileError(error_lines(str(error))) from None


LOG_LINES = 12


def error_lines(log: str) -> str:
    """Lines of a build log with the errors."""
    lines = [line.rstrip() for line in log.splitlines() if line.strip()]
    errors = [k for k, line in enumerate(lines) if "error" in line.lower()]
    # The first line is pyopencl's own.
    start = next((k for k in errors if k), 0)
    return "\n".join(lines[start : start + LOG_LINES])
