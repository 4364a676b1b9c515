"""Trial of devices: a device that does not compute all functions of programs is not offered.

A driver may refuse programs, compute wrongly, never finish, or end the process that tries it, so
each device is tried in processes of its own, which name each trial before it begins. The result is
kept on disk for the device, its driver and this machine, and costs nothing afterwards.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import platform
import shutil
import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tiledialect import caches, disk
from tiledialect.lowering.runtime import child_process as child
from tiledialect.lowering.runtime.device.device import Device, every_device
from tiledialect.lowering.runtime.progress import progress
from tiledialect.threads import Threads

if TYPE_CHECKING:
    import pyopencl as cl

TIME_LIMIT = 30.0
"""Seconds that a device may take for a part of the battery, if it has a processor."""
SHARES = 4
"""Most processes side by side that try a device, each with its share of the battery."""
FIRST = "the first kernel"
DRIVERS = ("CL_CONFIG_", "POCL_")
"""Prefixes of variables that drivers read, about compilation and about the device."""
FILES = (child.POCL_CACHE,)
"""Variables among them that only name folders."""
COMMAND = "from tiledialect.lowering.runtime.device.probe import main; main()"

SOURCES = (
    *("lowering/opencl/*.py", "lowering/nest/utils/scalars.py", "lowering/gpu/gpu_widen_bf16.py"),
    *("lowering/gpu/math_polynomial_approximation.py", "lowering/quirks/*.py"),
    *(f"lowering/runtime/device/{name}.py" for name in ("battery", "battery_run")),
    "lowering/runtime/program/build.py",
    "tiledialect/platforms.py",
    "tiledialect/dialects/tile/elementwise/*.py",
)
"""Files that decide the trials: where they differ, devices are tried anew."""


def reasons(devices: Mapping[Device, cl.Device]) -> dict[Device, str]:
    """Reason why each device cannot be used, or empty; tries devices without a kept result."""
    found = {device: _kept(device) for device in devices}
    if new := [device for device, reason in found.items() if reason is None]:
        names = " and ".join(device.id for device in new)
        text = f"testing {names}, once"
        # All at once: a good part of the time goes to loading their compilers.
        with progress(text), Threads(len(new)) as pool:
            outcomes = [*pool.map(_tried, new)]
        for device, outcome in zip(new, outcomes, strict=True):
            # Where no process can be started, this one must take the risk.
            reason = _tried_here(device, devices[device]) if outcome is None else outcome
            found[device] = reason
            kept = {"device": str(device), "reason": reason}
            disk.write(_path(device), json.dumps(kept).encode())
    return {device: reason or "" for device, reason in found.items()}


def forget_failures() -> None:
    """Forget the results of unusable devices, to try them again: the cause may be gone."""
    for path in _folder().glob("*"):
        if _reason_in(path):
            path.unlink(missing_ok=True)


def share(folder: Path) -> None:
    """Copy the kept results of the devices to another cache folder."""
    with suppress(OSError):
        shutil.copytree(_folder(), folder / "devices", dirs_exist_ok=True)


# -- kept results ----------------------------------------------------------------------------


def _folder() -> Path:
    return disk.folder() / "devices"


def _path(device: Device) -> Path:
    identity = (device.id, device.name, device.platform, device.version, device.driver)
    text = repr((*identity, device.extensions, _sources(), machine()))
    return _folder() / hashlib.sha256(text.encode()).hexdigest()


def _kept(device: Device) -> str | None:
    return _reason_in(_path(device))


def _reason_in(path: Path) -> str | None:
    """Reason that the file holds for a device; None if there is no sound file."""
    try:
        reason = json.loads(disk.read(path) or b"null")["reason"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return reason if isinstance(reason, str) else None


@caches.PACKAGE
def _sources() -> str:
    """Digest of the files that decide the trials."""
    import tiledialect
    from tiledialect import lowering

    digest = hashlib.sha256(tiledialect.__version__.encode())
    roots = {"tiledialect": tiledialect.__path__, "lowering": lowering.__path__}
    for pattern in SOURCES:
        package, _, rest = pattern.partition("/")
        for path in sorted(Path(roots[package][0]).glob(rest)):
            digest.update(disk.read(path) or b"")
    return digest.hexdigest()


@caches.PACKAGE
def machine() -> str:
    """Processor and variables of drivers, by which a driver's compiler decides."""
    described = [
        f"{k}={v}"
        for k, v in sorted(os.environ.items())
        if k.startswith(DRIVERS) and k not in FILES
    ]
    return "\n".join([_processor(), *described])


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            # All processors are listed; the first will do.
            first = file.read(8192).split("\n\n")[0]
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    wanted = ("vendor_id", "cpu family", "model", "model name", "flags", "CPU", "Features")
    lines = [line for line in first.splitlines() if line.startswith(wanted)]
    return "\n".join([platform.machine(), *lines])


# -- another process -------------------------------------------------------------------------


def _tried(device: Device) -> str | None:
    """Reason why a device cannot be used, empty if it can; None if no process can be started."""
    count = min(SHARES, child.processors())
    shares = [f"{k}/{count}" for k in range(count)]
    with Threads(count) as pool:
        reports = [*pool.map(partial(_report, device), shares)]
    for share, report in zip(shares, reports, strict=True):
        if report is None:
            return None
        if reason := report.reason and _confirmed(device, share, report, alone=count == 1):
            return reason
    return ""


def _report(device: Device, share: str, part: str = "") -> child.Report | None:
    """Report of a process that tries a share of the battery, or the parts of a part of it."""
    with ExitStack() as stack:
        process = child.start(COMMAND, (device.id, share, part), stack)
        return process and process.report(TIME_LIMIT, FIRST)


def _confirmed(device: Device, share: str, report: child.Report, *, alone: bool) -> str:
    """Reason of a failure after another trial, without others side by side."""
    if report.interrupted or (alone and not report.tried):
        return report.reason
    again = _report(device, share, report.tried)
    if again is None or (report.tried and not again.reason):
        # It fails in no part alone.
        return report.reason
    return again.reason


def _tried_here(device: Device, opencl: cl.Device) -> str:
    from tiledialect.lowering.runtime.device.battery_run import first_fault

    return first_fault(device, opencl)


def main() -> None:
    """Try the device that the command line names, and print each trial and its result.

    The share of the battery follows. With the name of a batch or a case, its smallest parts are
    tried one by one.
    """
    # It ends before garbage counts.
    gc.disable()
    from tiledialect.lowering.runtime.device.battery_run import first_fault

    name, share, part = sys.argv[1:]
    first, _, count = share.partition("/")
    batches = slice(int(first), None, int(count))
    reason = "is found no more"
    for device, opencl in every_device().items():
        if device.id == name:
            reason = first_fault(device, opencl, batches, part, lambda name: child.say(tries=name))
    child.say(reason=reason)
    # A driver that fails while it is unloaded has worked until then.
    os._exit(0)
