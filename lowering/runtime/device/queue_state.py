"""Command queues with the state that all plans on a queue share."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt
import pyopencl as cl
from pyopencl.tools import ImmediateAllocator, MemoryPool

from tiledialect import caches
from tiledialect.ir.target_spec import SIMULATOR
from tiledialect.lowering.runtime.device.device import Device
from tiledialect.lowering.runtime.device.devices import device_of
from tiledialect.lowering.runtime.device.locked_memory import LockedMemory
from tiledialect.lowering.runtime.device.queues import queue_in_caller

NOTHING = np.empty(0, np.uint8)


@dataclass(frozen=True, eq=False)
class KeptBuffer:
    """A buffer to which there can be weak references."""

    buffer: cl.Buffer


class QueueState:
    """A command queue with the lock and memory of its plans.

    Commands of a queue run in order, so that a buffer can serve one plan after the other.
    """

    def __init__(self, queue: cl.CommandQueue, is_synchronous: bool = False):
        self.queue = queue
        self.context = queue.context
        self.device = device_of(queue.device)
        self.lock = threading.RLock()
        self.is_busy = False
        """Whether a call is under way that uses the queue's memory."""
        self.out_of_order = bool(
            queue.properties & cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
        )
        self.is_synchronous = is_synchronous
        """Whether a command is done when the call that enqueues it returns."""
        self.is_simulator = self.device.type == SIMULATOR
        self.takes_pointers = _takes_pointers(queue.device)
        self.scratch: list[cl.Buffer] = []
        self.generation = 0
        """Number of times that a buffer was replaced by a larger one."""
        # A simulator knows where each buffer ends only if it is allocated for itself.
        self.constants: WeakValueDictionary[bytes, KeptBuffer] = WeakValueDictionary()
        """Buffers of constants by the digest of their bytes: programs may share them."""
        self.pool = None if self.is_simulator else _pool(queue)
        """Pool of the outputs on the device, to which their memory returns."""
        copies = not self.device.uses_host_memory and not self.is_simulator
        self.locked_memory = LockedMemory(queue) if copies else None
        """Memory of the host for outputs that are copied there."""

    def ensure(self, sizes: Sequence[int]) -> None:
        """Allocate a buffer of at least each of these sizes.

        A simulator gets new buffers of just these sizes, so that it sees every access beyond them
        and every read of unwritten memory.
        """
        if self.is_simulator:
            self.scratch.clear()
        for k, size in enumerate(sizes):
            if k < len(self.scratch) and self.scratch[k].size >= size:
                continue
            # The smaller one goes first, as there may not be room for both.
            del self.scratch[k:]
            self.generation += 1
            for missing in sizes[k:]:
                self.scratch.append(self.allocate(missing))
            break

    def host_array(self, shape: Sequence[int], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """A new array in the host's memory for results of the queue."""
        if self.locked_memory is None:
            return np.empty(shape, dtype)
        return self.locked_memory.array(shape, dtype)

    def allocate(self, size: int) -> cl.Buffer:
        """A new buffer of ``size`` bytes; OpenCL has none of size 0."""
        try:
            buffer = cl.Buffer(self.context, cl.mem_flags.READ_WRITE, max(1, size))
        except cl.MemoryError:
            if self.pool is None or not self.pool.held_blocks:
                raise
            self.pool.free_held()
            return self.allocate(size)
        self.renew(buffer)
        return buffer

    def constant(self, data: bytes) -> KeptBuffer:
        """A buffer of bytes that nobody writes; it is kept while anybody has it."""
        key = sha256(data).digest()
        with self.lock:
            if (kept := self.constants.get(key)) is None:
                flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
                kept = KeptBuffer(cl.Buffer(self.context, flags, hostbuf=data))
                self.constants[key] = kept
            return kept

    def renew(self, buffer: Any) -> None:
        """Let a simulator forget the contents of the place of this new buffer."""
        if self.is_simulator:
            # Oclgrind takes the size and bytes of a freed buffer for those of the one in its place,
            # until the host writes to it: then it knows the bytes that are written, here none.
            cl.enqueue_copy(self.queue, buffer, NOTHING)

    def finish(self) -> None:
        """Wait until nothing runs any more, however often the user interrupts that."""
        while True:
            try:
                self.queue.finish()
                return
            except KeyboardInterrupt:
                continue
            except cl.Error:
                return


def _takes_pointers(device: cl.Device) -> bool:
    """Whether kernels may be given any address of the process, with no buffer around it."""
    try:
        capabilities = device.svm_capabilities
    except cl.Error:
        # Devices from before OpenCL 2.0 do not know the question.
        return False
    return bool(capabilities & cl.device_svm_capabilities.FINE_GRAIN_SYSTEM)


def _pool(queue: cl.CommandQueue) -> MemoryPool:
    """A pool that rounds sizes up by a tenth of a percent at most."""
    return MemoryPool(ImmediateAllocator(queue), leading_bits_in_bin_id=10)


@caches.QUEUES
def state_of(queue: cl.CommandQueue) -> QueueState:
    """State of a queue."""
    return QueueState(queue)


@caches.DEVICES
def state_in_caller(device: Device) -> QueueState | None:
    """State of the queue whose commands the calling thread executes, if the device has one."""
    queue = queue_in_caller(device)
    return None if queue is None else QueueState(queue, is_synchronous=True)
