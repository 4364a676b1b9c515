"""Memory of the host that a driver locks in its place, to which devices copy fastest.

A driver copies to other memory by way of its own, or locks it for each copy; new memory of the
process is made page by page at the first write, too. Locked memory takes as long to get, so it
serves one result after the other.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import pyopencl as cl

from tiledialect.rounding import round_up

BYTE = np.dtype(np.uint8)
LEAST = 1 << 16
"""Bytes of an array for which it pays."""
MOST = 1 << 30
"""Bytes that are locked at most, as the system cannot use them for anything else."""
STEPS = 8
"""Sizes between a power of two and the next one, to which sizes are rounded up."""


class Block:
    """Locked memory."""

    def __init__(self, queue: cl.CommandQueue, size: int):
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR
        access: Any = cl.map_flags.READ | cl.map_flags.WRITE
        self.size = size
        self.buffer = cl.Buffer(queue.context, flags, size)
        self.memory, _ = cl.enqueue_map_buffer(queue, self.buffer, access, 0, (size,), BYTE)


class Lease:
    """Memory of an array, which goes back to the pool with the last array in it."""

    def __init__(self, pool: LockedMemory, block: Block, nbytes: int):
        self._pool, self._block = pool, block
        self.__array_interface__ = {
            **block.memory.__array_interface__,
            "shape": (nbytes,),
        }

    def __del__(self) -> None:
        self._pool.free.append(self._block)


class LockedMemory:
    """Locked memory for a queue's results."""

    def __init__(self, queue: cl.CommandQueue):
        self.queue = queue
        self.free: list[Block] = []
        """Blocks that no array uses. One is added wherever an array goes, without a lock."""
        self.locked = 0
        """Bytes of all blocks."""
        self._lock = threading.RLock()

    def array(self, shape: Sequence[int], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """A new array; a small one, or one for which there is no room, in other memory."""
        nbytes = prod(shape) * dtype.itemsize
        block = self._block(nbytes) if nbytes >= LEAST else None
        if block is None:
            return np.empty(shape, dtype)
        return np.asarray(Lease(self, block, nbytes)).view(dtype).reshape(shape)

    def _block(self, nbytes: int) -> Block | None:
        step = (1 << (nbytes - 1).bit_length()) // (2 * STEPS)
        size = round_up(nbytes, step)
        with self._lock:
            for block in [own for own in self.free if own.size == size]:
                # A signal's handler may call a function, and take it, here.
                with suppress(ValueError):
                    self.free.remove(block)
                    return block
            while self.free and self.locked + size > MOST:
                self.locked -= self.free.pop(0).size
            if self.locked + size > MOST:
                return None
            try:
                block = Block(self.queue, size)
            except cl.Error:
                # Systems limit what a process may lock.
                return None
            self.locked += size
            return block
