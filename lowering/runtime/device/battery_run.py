"""Run of the battery's cases on a device, in a process that the driver may end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyopencl as cl

from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES
from tiledialect.errors import TileError
from tiledialect.lowering.quirks.prelude import prelude
from tiledialect.lowering.runtime.device import battery
from tiledialect.lowering.runtime.device.device import Device
from tiledialect.lowering.runtime.program.build import build_options, build_program
from tiledialect.threads import Threads


def first_fault(
    device: Device,
    opencl: cl.Device,
    share: slice = slice(None),
    of: str = "",
    begin: Callable[[str], object] = lambda name: None,
) -> str:
    """Reason why a device cannot be used; empty if it computes all cases of a share of the batches.

    With ``of``, the smallest parts of the batch or case of this name are tried one by one.
    ``begin`` gets the name of each case before it is tried.
    """
    batches = battery.batches(device)[share]
    if of:
        whole = next(filter(None, (batch.named(of) for batch in batches)), None)
        batches = whole.smallest() if whole is not None else []
    trial = _Trial(device, cl.Context([opencl]), begin)
    with Threads(1) as pool:
        # The next programs are written while the driver builds one.
        sources = pool.map(trial.source, batches)
        faults = map(trial.fault, batches, sources)
        return next(filter(None, faults), "")


@dataclass(frozen=True)
class _Trial:
    """A device that is tried."""

    device: Device
    context: cl.Context
    begin: Callable[[str], object]

    def source(self, batch: battery.Batch) -> str:
        """The program of a batch."""
        known = prelude(self.device.short_platform, self.device.compute_capability)
        return known + battery.opencl(batch, self.device)

    def fault(self, batch: battery.Batch, source: str) -> str:
        """Fault of a batch, or of the part of a refused batch that is refused alone."""
        self.begin(batch.name)
        (opencl,) = self.context.devices
        options = build_options(self.device.short_platform)
        try:
            program = build_program(source, self.context, opencl, options)
            return self._first_wrong(batch, program)
        except TileError as error:
            reason = f"refuses {batch.name}: {_first_error(str(error))}"
        except cl.Error as error:
            reason = f"cannot run {batch.name}: {_first_error(str(error))}"
        parts = (self.fault(part, self.source(part)) for part in batch.apart)
        return next(filter(None, parts), reason)

    def _first_wrong(self, batch: battery.Batch, program: cl.Program) -> str:
        queue = cl.CommandQueue(self.context)
        for place, case in enumerate(batch.cases):
            self.begin(case.name)
            if wrong := _wrong(case, queue, cl.Kernel(program, battery.kernel_name(place))):
                return wrong
        return ""


def _wrong(case: battery.Case, queue: cl.CommandQueue, kernel: cl.Kernel) -> str:
    """The first output that a kernel computes wrongly; empty if there is none."""
    outputs = case.outputs
    results = [np.zeros(expected.size, NUMPY_TYPES[t]) for _, t, expected in outputs]
    arrays = [*(np.ascontiguousarray(a) for _, a in case.inputs), *results]
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    # As bytes: pyopencl does not know every type.
    buffers = [cl.Buffer(queue.context, flags, hostbuf=a.view(np.uint8)) for a in arrays]
    groups, local = case.sizes
    kernel(queue, (groups * local,), (local,), *buffers)
    written = buffers[len(buffers) - len(results) :]
    for (name, t, expected), result, buffer in zip(outputs, results, written, strict=True):
        cl.enqueue_copy(queue, result.view(np.uint8), buffer)
        if wrong := battery.fault(t, result, expected):
            return f"computes {name} wrongly: {wrong}"
    return ""


def _first_error(log: str) -> str:
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line.lower()), "".join(lines[:1]))
