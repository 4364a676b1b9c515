"""OpenCL objects of devices: contexts and queues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tiledialect import caches
from tiledialect.errors import TileError
from tiledialect.lowering.runtime.device import icd
from tiledialect.lowering.runtime.device.device import Device, every_device
from tiledialect.platforms import INTEL, OCLGRIND

if TYPE_CHECKING:
    import pyopencl as cl

SURVIVE_FORKS = (INTEL.short, OCLGRIND.short)
"""Platforms that keep working in a process forked from one that uses them."""


@caches.PACKAGE
def listed() -> dict[Device, cl.Device]:
    """Devices that the platforms of this process list, in the order of preference."""
    return every_device()


def opencl_device(device: Device) -> cl.Device:
    """The OpenCL object behind a device."""
    return listed()[device]


def check_process(device: Device) -> None:
    """Raise a TileError where the driver would wait for threads that a fork left behind."""
    if icd.is_inherited and device.short_platform not in SURVIVE_FORKS:
        raise TileError(
            f"{device} works in no process that was forked from one where OpenCL was in use; "
            "start processes with multiprocessing's 'spawn', or fork before devices are looked for"
        )


def queue_for(device: Device, profiling: bool = False) -> cl.CommandQueue:
    """The in-order queue of our own on a device."""
    check_process(device)
    return _queue(device, profiling)


EXECUTES_IN_CALLER = "cl_intel_exec_by_local_thread"
"""Extension of devices whose queues can run their commands in the thread that enqueues them."""
IN_CALLER = 1 << 31
"""Property of queues whose commands run in the thread that enqueues them."""


@caches.DEVICES
def queue_in_caller(device: Device) -> cl.CommandQueue | None:
    """A queue whose commands the thread that enqueues them executes itself, alone, before it goes
    on: no other thread is woken nor waited for. None if the device has no such queues.
    """
    import pyopencl as cl

    if EXECUTES_IN_CALLER not in device.extensions:
        return None
    try:
        return cl.CommandQueue(_context(device), properties=IN_CALLER)  # pyright: ignore[reportArgumentType]
    except cl.Error:
        return None


@caches.DEVICES
def _queue(device: Device, profiling: bool) -> cl.CommandQueue:
    import pyopencl as cl

    properties: Any = cl.command_queue_properties.PROFILING_ENABLE if profiling else 0
    return cl.CommandQueue(_context(device), properties=properties)


@caches.DEVICES
def _context(device: Device) -> cl.Context:
    import pyopencl as cl

    return cl.Context([opencl_device(device)])
