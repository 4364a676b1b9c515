"""Copies between buffers of a device, and to the host."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyopencl as cl

from tiledialect.lowering.runtime.device.devices import device_of
from tiledialect.platforms import INTEL

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyopencl.array as cla

RECTANGLES = (INTEL.short,)
"""Platforms whose CPU devices copy rectangles of one row faster than bytes."""


def copy_bytes(
    queue: cl.CommandQueue,
    target: Any,
    source: Any,
    nbytes: int,
    to: int,
    from_: int,
    wait_for: Sequence[cl.Event] | None = None,
) -> cl.Event:
    """Copy bytes from place ``from_`` of a buffer to place ``to`` of this or another buffer.

    Intel's runtime for CPUs takes up to 80 times as long for a number of bytes that 128 does not
    divide (4.4 ms for 4 MB and 12 bytes); it copies a rectangle of one row as fast as memory, and a
    few bytes in half the time. PoCL 3 refuses rectangles within one buffer that do not overlap.
    GPUs copy bytes.
    """
    device = device_of(queue.device)
    if device.type == "cpu" and device.short_platform in RECTANGLES:
        return cl.enqueue_copy(
            queue,
            target,
            source,
            src_origin=(from_, 0, 0),
            dst_origin=(to, 0, 0),
            region=(nbytes, 1, 1),
            wait_for=wait_for,
        )
    return cl.enqueue_copy(
        queue,
        target,
        source,
        byte_count=nbytes,
        src_offset=from_,
        dst_offset=to,
        wait_for=wait_for,
    )


def copy_to_host(
    queue: cl.CommandQueue, pairs: Iterable[tuple[npt.NDArray[Any], cla.Array]]
) -> None:
    """Copy the elements of arrays on a device, without gaps, to arrays of the host.

    Commands of the queue, which are in order, made the elements. NVIDIA takes longer for copies
    that are waited for together: 16 us for a small one, not 10.
    """
    for array, own in pairs:
        if array.nbytes:
            data: Any = own.base_data
            whole = array if array.flags.c_contiguous else np.empty(array.shape, array.dtype)
            cl.enqueue_copy(queue, whole, data)
            if whole is not array:
                array[...] = whole


def copy_to_device(
    queue: cl.CommandQueue, array: cla.Array, source: npt.NDArray[Any], *, waits: bool = True
) -> cl.Event | None:
    """Copy the elements of an array of the host to one on a device that is there, without gaps.

    Without a wait the source's memory is read until the event is gone, which waits for it.
    """
    if not source.nbytes:
        return None
    data: Any = array.base_data
    return cl.enqueue_copy(queue, data, source.reshape(-1).view(np.uint8), is_blocking=waits)
