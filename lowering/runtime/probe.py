"""Tries devices: one that cannot build and run a kernel is not offered.

A driver may refuse every program, never finish, or end the process that tries it, so each device
is tried in a process of its own. What comes out is kept on disk for the device, its driver and
this machine, and costs nothing afterwards.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiledialect import disk
from tiledialect.errors import TileError

if TYPE_CHECKING:
    import pyopencl as cl

    from tiledialect.lowering.runtime.devices import Device

KERNEL = """\
__kernel void try_device(__global const float *input, __global float *output) {
  __local float shared[4];
  int i = get_local_id(0);
  shared[i] = input[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  float4 sum = (float4)(0.0f);
  for (int k = 0; k < 4; ++k)
    if (k <= i) sum += (float4)(shared[k], exp(shared[k]), 1.0f, 0.0f);
  output[get_global_id(0)] = sum.x + sum.y + sum.z;
}
"""
"""Local memory, a barrier, vectors and a function of the device's own library."""
ITEMS, GROUP = 8, 4

TIME_LIMIT = 60.0
"""The seconds in which a device must be done with it, if it has a processor."""
PATIENCE = 10
"""How many times as long it may take where other processes keep it from having one."""
MARK = "tiledialect: "
"""Begins the line in which the process says what it found; drivers write lines of their own."""
DRIVERS = ("CL_CONFIG_", "POCL_")
"""How variables begin by which drivers are told how to compile, and what a device has."""
FILES = ("POCL_CACHE_DIR",)
"""Those that only say where files are."""
COMMAND = "from tiledialect.lowering.runtime.probe import main; main()"


def reasons(devices: Mapping[Device, cl.Device]) -> dict[Device, str]:
    """Why each device cannot be used; empty if it can. Tries those of which nothing is kept."""
    found = {device: _kept(device) for device in devices}
    new = [device for device, reason in found.items() if reason is None]
    # All at once: most of the time goes to loading their compilers.
    started = [(device, _start(device)) for device in new]
    deadline = time.monotonic() + TIME_LIMIT
    for device, process in started:
        # Where no process can be started, this one must take the risk.
        reason = _outcome(process, deadline) if process else try_device(device, devices[device])
        found[device] = reason
        disk.write(_path(device), json.dumps({"device": str(device), "reason": reason}).encode())
    return {device: reason or "" for device, reason in found.items()}


def forget_failures() -> None:
    """Have the devices tried again that could not be used: the cause may be gone."""
    for path in _folder().glob("*"):
        if _reason_in(path):
            path.unlink(missing_ok=True)


# -- what is kept ----------------------------------------------------------------------------


def _folder() -> Path:
    return disk.folder() / "devices"


def _path(device: Device) -> Path:
    identity = (device.id, device.name, device.platform, device.version, device.driver)
    text = repr((*identity, device.extensions, KERNEL, machine()))
    return _folder() / hashlib.sha256(text.encode()).hexdigest()


def _kept(device: Device) -> str | None:
    return _reason_in(_path(device))


def _reason_in(path: Path) -> str | None:
    """What the file says of a device; None if there is no sound one."""
    try:
        reason = json.loads(disk.read(path) or b"null")["reason"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return reason if isinstance(reason, str) else None


@cache
def machine() -> str:
    """The processor, and what drivers are told: they decide what a driver's compiler does."""
    told = [
        f"{k}={v}"
        for k, v in sorted(os.environ.items())
        if k.startswith(DRIVERS) and k not in FILES
    ]
    return "\n".join([_processor(), *told])


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


def _start(device: Device) -> subprocess.Popen[str] | None:
    """The process that tries a device; None if none can be started."""
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    try:
        return subprocess.Popen(
            [sys.executable or "", "-P", "-W", "ignore", "-c", COMMAND, device.id],
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
    except OSError:
        return None


def _outcome(process: subprocess.Popen[str], deadline: float) -> str:
    """What the process found, or what became of it."""
    with process:
        found = _read(process, deadline)
        if found is None:
            process.kill()
            return f"does not finish a small kernel in {TIME_LIMIT:g} s"
    output, log = found
    for line in output.splitlines():
        if line.startswith(MARK):
            return json.loads(line.removeprefix(MARK))
    if process.returncode < 0:
        return f"ends the process that uses it ({signal.Signals(-process.returncode).name})"
    last = "".join(log.strip().splitlines()[-1:])
    return f"ends the process that uses it (status {process.returncode}) {last}".strip()


def _read(process: subprocess.Popen[str], deadline: float) -> tuple[str, str] | None:
    """What the process writes; None if it is not done in time, not counting where it had to wait.

    Where others keep the processors busy, a device that works would else be refused, for good.
    """
    granted = 0.0
    while True:
        try:
            # Late ones have run beside the others, and need but be read.
            return process.communicate(timeout=max(1.0, deadline + granted - time.monotonic()))
        except subprocess.TimeoutExpired:
            waited = min(_waited(process.pid), PATIENCE * TIME_LIMIT)
            if waited < granted + 1.0:
                return None
            granted = waited


def _waited(pid: int) -> float:
    """How many seconds a process waited for a processor: the thread of it that waited longest."""
    waited = 0
    for path in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            waited = max(waited, int(path.read_text().split()[1]))
        except (OSError, ValueError, IndexError):  # It has ended, or the kernel does not say.
            continue
    return waited * 1e-9


def main() -> None:
    """Try the device that the command line names, and print what comes out."""
    from tiledialect.lowering.runtime.devices import every_device

    reason = "is found no more"
    for device, opencl in every_device().items():
        if device.id == sys.argv[1]:
            reason = try_device(device, opencl)
    print(f"\n{MARK}{json.dumps(reason)}", flush=True)
    # A driver that fails while it is unloaded has worked until then.
    os._exit(0)


def try_device(device: Device, opencl: cl.Device) -> str:
    """Build and run the kernel; why it cannot be done, or an empty text."""
    import pyopencl as cl

    from tiledialect.lowering.runtime.build import build_options, build_program

    try:
        # Not every driver's queue keeps its context.
        context = cl.Context([opencl])
        options = build_options(device.short_platform)
        program = build_program(KERNEL, context, opencl, options)
        result, expected = _run(cl.CommandQueue(context), program)
    except TileError as error:
        return f"refuses a small kernel: {_first_error(str(error))}"
    except cl.Error as error:
        return f"cannot run a small kernel: {_first_error(str(error))}"
    if max(abs(a - e) for a, e in zip(result, expected, strict=True)) < 1e-3:
        return ""
    return "computes wrong results"


def _run(queue: cl.CommandQueue, program: cl.Program) -> tuple[list[float], list[float]]:
    """What the kernel computes, and what it should."""
    import numpy as np
    import pyopencl as cl

    given = np.arange(ITEMS, dtype=np.float32) / 4
    result = np.zeros(ITEMS, np.float32)
    flags = cl.mem_flags
    source = cl.Buffer(queue.context, flags.READ_ONLY, given.nbytes)
    target = cl.Buffer(queue.context, flags.READ_WRITE, result.nbytes)
    cl.enqueue_copy(queue, source, given)
    kernel: Any = cl.Kernel(program, "try_device")
    kernel(queue, (ITEMS,), (GROUP,), source, target)
    cl.enqueue_copy(queue, result, target)
    grouped = given.astype(float).reshape(-1, GROUP)
    expected = (grouped + np.exp(grouped) + 1).cumsum(axis=1)
    return result.tolist(), expected.ravel().tolist()


def _first_error(log: str) -> str:
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line.lower()), "".join(lines[:1]))
