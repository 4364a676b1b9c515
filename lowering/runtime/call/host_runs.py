"""Runs of executables on NumPy arrays: where they are, or copied; they wait for the results."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import pyopencl as cl

from tiledialect.lowering.runtime.call.arrays import Array
from tiledialect.lowering.runtime.call.host_arrays import around, pointer, wrapped
from tiledialect.lowering.runtime.device.queue_state import QueueState
from tiledialect.lowering.runtime.program.plan import Plan, Tensor

BYTE = np.dtype(np.uint8)


class Executable(Protocol):
    """Plan that is ready to run on host arrays."""

    plan: Plan
    state: QueueState
    buffers: dict[int, cl.Buffer]
    by_pointers: bool

    def enqueue(self, given: Sequence[Any]) -> Sequence[cl.Event]:
        """Enqueue the steps with the arguments that differ by call; the last event, if any."""
        ...

    def enqueue_again(self, given: Sequence[Any]) -> Sequence[cl.Event]:
        """Enqueue the steps with arguments most of which are those of the last call."""
        ...


def by_pointers(own: Executable, arrays: Sequence[Array], outputs: Sequence[Array]) -> None:
    """Give the kernels the arrays' addresses."""
    events = own.enqueue([pointer(array) for array in (*arrays, *outputs)])
    for event in events[-1:]:
        event.wait()


def at_addresses(own: Executable, given: Sequence[int]) -> None:
    """Run on the memory of the inputs and outputs at addresses."""
    if own.by_pointers:
        for event in own.enqueue_again(given)[-1:]:
            event.wait()
        return
    tensors = [*own.plan.inputs, *own.plan.outputs]
    arrays = [array_at(*pair) for pair in zip(given, tensors, strict=True)]
    count = len(own.plan.inputs)
    in_place(own, arrays[:count], arrays[count:])


def array_at(address: int, tensor: Tensor) -> Array:
    """The array of a tensor in memory of the host."""
    if not tensor.nbytes:
        return np.empty(tensor.shape, tensor.dtype)
    memory: Any = (ctypes.c_char * tensor.nbytes).from_address(address)
    return np.frombuffer(memory, tensor.dtype).reshape(tensor.shape)


def in_place(own: Executable, arrays: Sequence[Array], outputs: Sequence[Array]) -> None:
    """Give the kernels buffers around the arrays."""
    state = own.state
    buffers = [*wrapped(state, arrays), *(around(state, array) for array in outputs)]
    if not own.enqueue(buffers):
        return
    changed = [(buffers[k], arrays[k]) for k in own.plan.updated]
    for buffer, array in (*zip(buffers[len(arrays) :], outputs, strict=True), *changed):
        if array.nbytes:
            # Mapping makes the results visible; unmapping memory that was only read is no work,
            # so that nothing waits for it.
            view, _ = cl.enqueue_map_buffer(
                state.queue, buffer, cl.map_flags.READ, 0, (array.nbytes,), BYTE
            )
            view.base.release(state.queue)


def staged(own: Executable, arrays: Sequence[Any], outputs: Sequence[Array]) -> None:
    """Copy the arrays to buffers that stay, and the results back."""
    queue, plan = own.state.queue, own.plan
    copies = [
        cl.enqueue_copy(queue, own.buffers[k], array, is_blocking=False)
        for k, array in enumerate(arrays)
        if array.nbytes
    ]
    own.enqueue_again(())
    changed = [(k, arrays[k]) for k in plan.updated]
    for k, array in (*enumerate(outputs, plan.tensor_count - len(outputs)), *changed):
        if array.nbytes:
            cl.enqueue_copy(queue, array, own.buffers[k])
    # They wait until the arrays' memory has been read.
    del copies
