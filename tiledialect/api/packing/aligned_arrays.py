"""Arrays of the host at addresses that kernels read fast, in memory that the system has back."""

from __future__ import annotations

import ctypes
from math import prod
from mmap import ACCESS_COPY, mmap
from typing import Any

import numpy as np

from tiledialect.schedule.cost.device import LINE

OWN_PAGES = 1 << 18
"""Bytes from which on an array has pages of its own."""


def aligned(array: Any) -> Any:
    """An array of the host at the beginning of a line of the cache: vectors of it are in one each.

    NumPy's own begin anywhere in a line. Large ones have pages of their own, which the system has
    back as soon as they are given up; a heap would keep most of them.
    """
    if not isinstance(array, np.ndarray) or array.dtype.hasobject:
        return array
    found = aligned_empty(array.shape, array.dtype)
    found[...] = array
    return found


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """An array without numbers yet, as ``aligned`` gives it."""
    nbytes = prod(shape) * dtype.itemsize
    size = nbytes + LINE
    memory = mmap(-1, size, access=ACCESS_COPY) if size > OWN_PAGES else bytearray(size)
    room = np.frombuffer(memory, np.uint8)
    start = -room.ctypes.data % LINE
    return room[start : start + nbytes].view(dtype).reshape(shape)


def trim() -> None:
    """Give the system back what the heap has free, where the C library can: glibc keeps it."""
    own = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if own is not None:
        own(0)
