"""Has a device compute the cases of the battery, in a process that this may end."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyopencl as cl

from tiledialect.dialects.tile.numeric import NUMPY_TYPES
from tiledialect.errors import TileError
from tiledialect.lowering.runtime import battery
from tiledialect.lowering.runtime.build import build_options, build_program
from tiledialect.lowering.runtime.devices import Device
from tiledialect.lowering.runtime.prelude import prelude


def first_fault(
    device: Device,
    opencl: cl.Device,
    of: str = "",
    begin: Callable[[str], object] = lambda name: None,
) -> str:
    """Why a device cannot be used; empty if it computes all cases.

    With ``of``, the parts of the case of this name are tried one by one. ``begin`` is told what is
    tried next.
    """
    cases = battery.cases(device)
    if of:
        cases = [part for case in cases if case.name == of for part in case.apart]
    context = cl.Context([opencl])
    faults = (_fault(case, device, context, begin) for case in cases)
    return next(filter(None, faults), "")


def _fault(
    case: battery.Case, device: Device, context: cl.Context, begin: Callable[[str], object]
) -> str:
    """How a device fails a case; of one that it refuses, the part that it refuses alone."""
    begin(case.name)
    (opencl,) = context.devices
    source = prelude(device.short_platform, device.compute_capability)
    source += battery.opencl(case, device)
    try:
        program = build_program(source, context, opencl, build_options(device.short_platform))
        return _run(case, cl.CommandQueue(context), program)
    except TileError as error:
        reason = f"refuses {case.name}: {_first_error(str(error))}"
    except cl.Error as error:
        reason = f"cannot run {case.name}: {_first_error(str(error))}"
    parts = (_fault(part, device, context, begin) for part in case.apart)
    return next(filter(None, parts), reason)


def _run(case: battery.Case, queue: cl.CommandQueue, program: cl.Program) -> str:
    """Which output is computed wrongly; empty if all are right."""
    outputs = case.outputs
    results = [np.zeros(expected.size, NUMPY_TYPES[t]) for _, t, expected in outputs]
    arrays = [*(np.ascontiguousarray(a) for _, a in case.inputs), *results]
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    # As bytes: pyopencl does not know every type.
    buffers = [cl.Buffer(queue.context, flags, hostbuf=a.view(np.uint8)) for a in arrays]
    groups, local = case.sizes
    kernel = cl.Kernel(program, battery.KERNEL)
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
