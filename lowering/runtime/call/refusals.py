"""Refusals of plans and calls: what is too large for a device, and errors of its runtime."""

from __future__ import annotations

import numpy as np
import pyopencl as cl

from tiledialect.errors import TileError
from tiledialect.lowering.runtime.call.arrays import check_shape
from tiledialect.lowering.runtime.device.device import Device
from tiledialect.lowering.runtime.program.plan import Plan


def format_bytes(size: int) -> str:
    """``size`` for people: ``1.5 MiB``."""
    value, unit = float(size), "bytes"
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024 or unit == "TiB":
            break
        value /= 1024
    return f"{size} bytes" if unit == "bytes" else f"{value:.1f} {unit}"


def check_sizes(plan: Plan, device: Device) -> None:
    """Raise a TileError if a tensor, or all together, are larger than the device allows."""
    for tensor in (*plan.inputs, *plan.outputs):
        check_shape(tensor.name, tensor.shape, np.dtype(tensor.dtype))
    largest = format_bytes(device.max_mem_alloc_size)
    tensors = (*plan.inputs, *plan.outputs)
    for name, size in (*((str(t), t.nbytes) for t in tensors), *plan.intermediates):
        if size > device.max_mem_alloc_size:
            raise TileError(
                f"{name} takes {format_bytes(size)}, but "
                f"{device} holds at most {largest} in one tensor"
            )
    if plan.peak_memory > device.global_mem_size:
        parts = {str(t): t.nbytes for t in tensors}
        parts |= {
            "intermediates": sum(plan.allocations),
            "constants": sum(map(len, plan.constants)),
        }
        largest = max(parts, key=lambda name: parts[name])
        raise TileError(
            f"the program takes {format_bytes(plan.peak_memory)} of memory, of which {largest} "
            f"{format_bytes(parts[largest])}, but {device} has "
            f"{format_bytes(device.global_mem_size)}"
        )


REASONS: dict[int, str] = {
    cl.status_code.OUT_OF_HOST_MEMORY: "it is out of memory",
    cl.status_code.MEM_OBJECT_ALLOCATION_FAILURE: "it is out of memory",
    cl.status_code.OUT_OF_RESOURCES: "it is out of resources",
    cl.status_code.INVALID_BUFFER_SIZE: "a tensor is too large for it",
    cl.status_code.INVALID_WORK_GROUP_SIZE: "a work-group is too large for it",
    cl.status_code.INVALID_WORK_ITEM_SIZE: "a work-group is too large for it",
}


def out_of_memory(plan: Plan) -> TileError:
    """Error of a process that cannot get the memory for the outputs."""
    outputs = ", ".join(map(str, plan.outputs))
    size = format_bytes(sum(t.nbytes for t in plan.outputs))
    return TileError(f"there is not enough memory for the results ({outputs}): {size}")


def refusal(error: cl.Error, device: Device, plan: Plan) -> TileError:
    """Error for the user from the device's error."""
    # Errors that pyopencl makes by itself have no code.
    reason = REASONS.get(getattr(error, "code", 0), str(error).partition("\n")[0])
    needed, there = format_bytes(plan.peak_memory), format_bytes(device.global_mem_size)
    memory = f"memory needed: {needed} of {there}"
    return TileError(f"{device} cannot run the program: {reason} ({memory})")
