"""Finds the OpenCL implementations of this computer, without the user's help.

An OpenCL loader reads once, when it is first asked for platforms, which libraries to load (the
installable client drivers, ICDs). What pip installs is in no system folder, so the loader is
shown a folder of our own, with those, the system's and what else is found. A user who sets
``OCL_ICD_VENDORS`` or ``OPENCL_VENDOR_PATH`` has decided: then nothing is added.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import site
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyopencl as cl

USER_VARIABLES = ("OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH")
SYSTEM_VENDORS = Path("/etc/OpenCL/vendors")

INTEL_LIBRARY = "libintelocl.so"
INTEL_NEEDS = ("libirng.so", "libintlc.so.5", "libimf.so", "libsvml.so", "libtbb.so.12")
"""What Intel's CPU runtime expects to find loaded, in this order."""

NVIDIA_LIBRARY = "libnvidia-opencl.so.1"
OCLGRIND_LIBRARY = "oclgrind/liboclgrind-rt-icd.so"


@cache
def platforms() -> tuple[cl.Platform, ...]:
    """Every OpenCL platform that can be found; none if there is none.

    Leaves the process's environment as it was.
    """
    with _vendors_shown():
        import pyopencl as cl

        try:
            return tuple(cl.get_platforms())
        except cl.Error:
            # The loader's way to say that there is none.
            return ()


@contextmanager
def _vendors_shown() -> Generator[None]:
    """The loader's folder variable set to a private folder that lists every library."""
    if any(os.environ.get(name) for name in USER_VARIABLES):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="tiledialect-icd-") as folder:
        for k, library in enumerate(libraries()):
            Path(folder, f"{k:02}.icd").write_text(library + "\n")
        os.environ["OCL_ICD_VENDORS"] = folder
        try:
            yield
        finally:
            os.environ.pop("OCL_ICD_VENDORS", None)


def libraries() -> list[str]:
    """The libraries to show to the loader, each once; loads what they need loaded first."""
    found = [*_system(), *_intel(), *_oclgrind()]
    if not any(Path(library).name == NVIDIA_LIBRARY for library in found) and _loads(
        NVIDIA_LIBRARY
    ):
        found.append(NVIDIA_LIBRARY)
    # The last one of a name is ours, which is known to be whole.
    return list({Path(library).name: library for library in found}.values())


def _system(folder: Path = SYSTEM_VENDORS) -> list[str]:
    """The libraries that the system's ``.icd`` files name."""
    found: list[str] = []
    for file in sorted(folder.glob("*.icd")):
        try:
            lines = file.read_text().split("\n", 1)
        except (OSError, UnicodeDecodeError):
            continue
        found += [line.strip() for line in lines[:1] if line.strip()]
    return found


def _intel() -> list[str]:
    """Intel's CPU runtime, where its wheels are installed."""
    for root in (sys.prefix, site.getuserbase()):
        library = Path(root, "lib", INTEL_LIBRARY)
        if library.exists():
            needs = [_loads(str(library.with_name(name))) for name in INTEL_NEEDS]
            return [str(library)] if all(needs) else []
    return []


def _oclgrind() -> list[str]:
    """The Oclgrind simulator, where it is installed."""
    command = shutil.which("oclgrind")
    roots = [Path(command).resolve().parent.parent] if command else []
    for root in (*roots, Path("/usr"), Path("/usr/local")):
        library = root / "lib" / OCLGRIND_LIBRARY
        if library.exists():
            return [str(library)]
    return []


def _loads(library: str) -> bool:
    """Load ``library`` for others to link with; can it be loaded?"""
    try:
        ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
    except OSError:
        return False
    return True
