"""NumPy arrays as kernels' arguments: where they are, without a copy."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import pyopencl as cl

from tiledialect.lowering.runtime.call.arrays import Array
from tiledialect.lowering.runtime.device.queue_state import QueueState

IN_PLACE = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
"""Flags of inputs, too: Intel's CPU runtime copies READ_ONLY arrays that are not aligned."""


def pointer(array: Array) -> cl.SVM[Any]:
    """Address of an array, for devices that take addresses.

    An array that is given twice, or overlaps another, is no matter there.
    """
    return cl.SVM(_memory(array))


def wrapped(state: QueueState, arrays: Sequence[Array]) -> list[cl.Buffer]:
    """Buffers that read the arrays where they are.

    OpenCL does not define the effect of two buffers of the same memory: an array that is given
    twice gets one buffer, and an array that overlaps another is copied.
    """
    buffers: list[cl.Buffer] = []
    if len(set(map(id, arrays))) == len(arrays):
        # Arrays that own their memory do not overlap.
        for array in arrays:
            if array.base is not None:
                break
            buffers.append(around(state, array))
        else:
            return buffers
        buffers.clear()
    known: dict[tuple[int, int], cl.Buffer] = {}
    for array in arrays:
        start: int = array.__array_interface__["data"][0]
        span = start, start + array.nbytes
        buffer = known.get(span)
        if buffer is None:
            apart = all(span[1] <= low or high <= span[0] for low, high in known)
            buffer = around(state, array if apart else array.copy())
            if apart and array.nbytes:
                known[span] = buffer
        buffers.append(buffer)
    return buffers


def around(state: QueueState, array: Array) -> cl.Buffer:
    """A buffer where an array is."""
    if not array.nbytes:
        return state.allocate(0)
    return cl.Buffer(state.context, IN_PLACE, hostbuf=_memory(array))


def _memory(array: Array) -> Any:
    """The memory of an array as pyopencl takes it."""
    if array.flags.writeable:
        return array
    # Nothing writes to it, but pyopencl asks that one could.
    address = array.__array_interface__["data"][0]
    return (ctypes.c_char * array.nbytes).from_address(address)
