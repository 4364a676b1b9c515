"""Trial of kernels of given schedules in a process of their own, before the user's process.

A compiler of a device, or its runtime, may end the process at a schedule that is legal. Kernels of
schedules from a user or a search are built and launched once elsewhere. The result is kept on disk
for the device, its driver and the kernels' text, and costs nothing afterwards.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from tiledialect import disk, threads
from tiledialect.lowering.runtime.child_process import Child, Report, say, start
from tiledialect.lowering.runtime.device.device import Device, every_device
from tiledialect.lowering.runtime.device.probe import machine
from tiledialect.lowering.runtime.program.plan import Plan, Scalar
from tiledialect.records import from_json, to_json

if TYPE_CHECKING:
    import pyopencl as cl


TIME_LIMIT = 300.0
"""The seconds that a build, or a launch, may take: more than most that are wanted."""
SHARE = 4
"""A program that needs more than this part of the device's memory is built, but not launched: the
user's process has arrays of its own there."""
RETRY = 3600.0
"""The seconds that an answer is kept for which time or memory was short."""
IDLE = 10.0
"""The seconds that the process is kept for the next program: it holds memory of the device."""
BUILD = "the build of its kernels"
COMMAND = "from tiledialect.lowering.runtime.program.isolation import main; main()"


@dataclass(frozen=True)
class Kernels:
    """A plan on a device, with all that decides its kernels there."""

    device: Device
    options: tuple[str, ...]
    source: str
    """Text of the plan with its prelude."""
    plan: Plan


@dataclass(frozen=True)
class Verdict:
    """Answer of a trial of kernels."""

    reason: str
    """Reason why the kernels cannot be used; empty if they can."""
    tried: str = ""
    """The build, or the launch, that the process did not survive; the latter ends with a name."""
    until: float = inf
    """The time at which they are to be tried again."""


def find(kernels: Kernels) -> Verdict:
    """Whether kernels can be used: the kept result, else the result of a trial elsewhere."""
    path = _path(kernels)
    if (known := _kept(path)) is not None:
        return known
    found = _tried(kernels)
    if found is None:
        # Where no process can be started, this one must take the risk.
        return Verdict("")
    kept = {"device": str(kernels.device), "reason": found.reason, "tried": found.tried}
    if found.until > time.time():
        disk.write_sealed(path, json.dumps(kept | {"until": found.until}).encode())
    return found


def _path(kernels: Kernels) -> Path:
    device, plan = kernels.device, kernels.plan
    identity = (device.platform, device.name, device.version, device.driver, machine())
    text = repr((identity, kernels.options, kernels.source, plan.steps, plan.sizes))
    return disk.folder() / "schedules" / hashlib.sha256(text.encode()).hexdigest()


def _kept(path: Path) -> Verdict | None:
    try:
        known = json.loads(disk.read_sealed(path) or b"null")
        reason, tried, until = str(known["reason"]), str(known["tried"]), float(known["until"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return Verdict(reason, tried, until) if until > time.time() else None


# -- the process -----------------------------------------------------------------------------


@dataclass
class _Worker:
    """A child that tries one program after the other, until none comes for a while."""

    child: Child
    stack: ExitStack
    owner: int = field(default_factory=os.getpid)
    """The process that started it: one that is forked has none."""
    idle: threading.Timer | None = None


_lock = threading.RLock()
_workers: list[_Worker] = []
"""Running workers, one at most."""


def _tried(kernels: Kernels) -> Verdict | None:
    """The answer of a process; None if none can be started."""
    job = [kernels.device.id, kernels.source, kernels.options, to_json(kernels.plan)]
    with _lock:
        was_there = bool(_workers)
        report = _asked(job)
        if was_there and report is not None and report.tried:
            # It may have been harmed by a program before, or ended by others.
            report = _asked(job)
    if report is None:
        return None
    if report.said.get("refused"):
        return Verdict("", until=0)
    until = time.time() + RETRY if report.passing else inf
    return Verdict(report.reason, report.tried, until)


def _asked(job: Sequence[object]) -> Report | None:
    worker = _worker()
    if worker is None:
        return None
    try:
        worker.child.ask(job)
        report = worker.child.report(TIME_LIMIT, BUILD)
    except BaseException:
        # A report that nobody has read would be taken for that of the next program.
        _close()
        raise
    if report.tried:
        _close()
    else:
        worker.idle = threading.Timer(IDLE, _close, [worker])
        worker.idle.daemon = True
        threads.start(worker.idle)
    return report


def _worker() -> _Worker | None:
    """The process, which is started if need be; None if none can be."""
    for worker in list(_workers):
        if worker.idle is not None:
            worker.idle.cancel()
        if worker.owner == os.getpid() and worker.child.process.poll() is None:
            return worker
        _close()
    stack = ExitStack()
    child = start(COMMAND, (), stack)
    if child is None:
        stack.close()
        return None
    _workers.append(_Worker(child, stack))
    return _workers[-1]


@atexit.register
def _close(which: _Worker | None = None) -> None:
    """End a worker, if it is still the present one."""
    with _lock:
        for worker in list(_workers):
            if which in (None, worker):
                _workers.remove(worker)
                if worker.owner == os.getpid():
                    worker.stack.close()


# -- in the process --------------------------------------------------------------------------


def main() -> None:
    """Try the programs that the lines of the standard input name, until it ends."""
    import pyopencl as cl

    from tiledialect.errors import TileError

    # The process that started this one ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    devices = {device.id: (device, opencl) for device, opencl in every_device().items()}
    for line in sys.stdin:
        name, source, options, plan = json.loads(line)
        try:
            if name not in devices:
                raise TileError(f"there is no {name} any more")
            _build_and_launch(*devices[name], source, options, from_json(Plan, plan))
        except (TileError, cl.Error):
            # A refusal hurts nobody: the user's process gets it, too, and says more of it.
            say(reason="", refused=True)
        else:
            say(reason="")
    os._exit(0)


def _build_and_launch(
    device: Device, opencl: cl.Device, source: str, options: Sequence[str], plan: Plan
) -> None:
    """Build a program, and launch each of its kernels."""
    import pyopencl as cl

    from tiledialect.lowering.runtime.program.build import build_program

    context = cl.Context([opencl])
    program = build_program(source, context, opencl, options)
    if plan.peak_memory > device.global_mem_size // SHARE:
        return
    queue = cl.CommandQueue(context)
    tensors = [cleared(queue, size) for size in plan.sizes[: plan.tensor_count]]
    flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
    constants = [cl.Buffer(context, flags, hostbuf=data) for data in plan.constants]
    parts = [cleared(queue, nbytes) for nbytes in plan.allocations]
    buffers = [*tensors, *constants]
    for number, slot in enumerate(plan.slots, plan.first_slot):
        output = plan.in_outputs.get(number)
        buffers.append(parts[slot.allocation] if output is None else tensors[output])
    for launch in plan.launches:
        say(tries=f"a launch of {launch.kernel}")
        kernel = cl.Kernel(program, launch.kernel)
        for position, arg in enumerate(launch.args):
            kernel.set_arg(position, arg.number if isinstance(arg, Scalar) else buffers[arg])
        cl.enqueue_nd_range_kernel(queue, kernel, launch.global_size, launch.local_size)
        queue.finish()


def cleared(queue: cl.CommandQueue, nbytes: int) -> cl.Buffer:
    """A buffer of zeros."""
    import numpy as np
    import pyopencl as cl

    buffer = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, max(1, nbytes))
    cl.enqueue_fill_buffer(queue, buffer, np.zeros(1, np.uint8), 0, max(1, nbytes))
    return buffer
