"""Finds the OpenCL implementations of this computer, without the user's help.

An OpenCL loader reads once, when it is first asked for platforms, which libraries to load (the
installable client drivers, ICDs). Libraries from pip are in no system folder, so the loader is
shown a folder of our own, with them, the system's and any other found. A user who sets
``OCL_ICD_VENDORS`` or ``OPENCL_VENDOR_PATH`` has decided: then nothing is added.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import shutil
import site
import sys
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tiledialect import caches, disk

if TYPE_CHECKING:
    import pyopencl as cl

USER_VARIABLES = ("OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH")
POCL_CACHE = "POCL_CACHE_DIR"
INTEL_LOCAL_MEMORY = "CL_CONFIG_CPU_FORCE_LOCAL_MEM_SIZE"
LOCAL_MEMORY = "1MB"
"""Local memory of a work-group in Intel's CPU runtime, on its stack: the size of a second cache.

The runtime's own 256 KiB are too little for the panels of large products.
"""
OUR_VARIABLES = ("OCL_ICD_VENDORS", POCL_CACHE, INTEL_LOCAL_MEMORY)
SYSTEM_VENDORS = Path("/etc/OpenCL/vendors")

INTEL_LIBRARY = "libintelocl.so"
INTEL_NEEDS = ("libirng.so", "libintlc.so.5", "libimf.so", "libsvml.so", "libtbb.so.12")
"""Libraries that Intel's CPU runtime expects to find loaded, in this order."""

NVIDIA_LIBRARY = "libnvidia-opencl.so.1"
SHARED_MEMORY = Path("/dev/shm")
"""Folder that can be written where nothing else can."""
OCLGRIND_LIBRARY = "oclgrind/liboclgrind-rt-icd.so"

is_inherited = False
"""Whether this process was forked from one that had loaded the libraries."""


def _inherit() -> None:
    global is_inherited
    is_inherited = True


@caches.PACKAGE
def platforms() -> tuple[tuple[cl.Platform, tuple[cl.Device, ...]], ...]:
    """Every OpenCL platform that can be found, with its devices; none if there is none.

    Leaves the process's environment as it was.
    """
    with ExitStack() as stack:
        # The loader and the drivers read their settings until they have listed their devices.
        stack.callback(_restore, {name: os.environ.get(name) for name in OUR_VARIABLES})
        _show_vendors(stack)
        _place_kernels_of_pocl()
        os.environ.setdefault(INTEL_LOCAL_MEMORY, LOCAL_MEMORY)
        import pyopencl as cl

        # pyopencl's own cache is in the home folder, must be writable, and is not needed.
        cl._PYOPENCL_NO_CACHE = True  # pyright: ignore[reportPrivateUsage]
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_inherit)
        try:
            found = cl.get_platforms()
        except cl.Error:
            # The loader's way to say that there is none.
            return ()
        return tuple((platform, _devices(platform)) for platform in found)


def _devices(platform: cl.Platform) -> tuple[cl.Device, ...]:
    import pyopencl as cl

    try:
        return tuple(platform.get_devices())
    except cl.Error:
        return ()


def _restore(variables: dict[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _show_vendors(stack: ExitStack) -> None:
    """Point the loader to a private folder that lists every library, until the stack ends."""
    if any(os.environ.get(name) for name in USER_VARIABLES):
        return
    found = libraries()
    folder = _private_folder(stack)
    if folder is None:
        # Nothing can be written anywhere: the loader finds libraries by itself.
        return
    for k, library in enumerate(found):
        Path(folder, f"{k:02}.icd").write_text(library + "\n")
    os.environ["OCL_ICD_VENDORS"] = folder


def _private_folder(stack: ExitStack) -> str | None:
    """A new folder that is there until the stack ends."""
    for parent in (None, disk.folder(), SHARED_MEMORY):
        with suppress(OSError):
            # Without a place for it, the usual temporary folder.
            folder = tempfile.TemporaryDirectory(prefix="tiledialect-icd-", dir=parent)
            return stack.enter_context(folder)
    return None


def _place_kernels_of_pocl() -> None:
    """Let PoCL keep its kernels beside our files: without a writable folder it does nothing."""
    if os.environ.get(POCL_CACHE):
        return
    folder = disk.folder() / "pocl"
    if disk.writable(folder):
        os.environ[POCL_CACHE] = str(folder)
    elif kept := _private_folder(_at_exit):
        os.environ[POCL_CACHE] = kept


_at_exit = ExitStack()
atexit.register(_at_exit.close)


def libraries() -> list[str]:
    """Libraries to show to the loader, each once; loads the libraries that they need first."""
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
    """Load ``library`` for others to link with; whether that succeeds."""
    try:
        ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
    except OSError:
        return False
    return True
