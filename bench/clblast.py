"""CLBlast's matrix product, by ctypes."""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Sequence
from functools import cache
from typing import Any

import pyopencl.array as cla
from frame import Array
from timing import Contestant

import tiledialect as td

ROW_MAJOR, PLAIN, TRANSPOSED = 101, 111, 112


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(ctypes.util.find_library("clblast"))


def product(arrays: Sequence[Array], device: td.Device, transposed: str = "") -> Contestant:
    """A product of matrices; those named in ``transposed`` are read transposed."""
    queue = td.queue(device)
    a, b = (cla.to_device(queue, array) for array in arrays)
    m, k = a.shape[::-1] if "A" in transposed else a.shape
    n = b.shape[0] if "B" in transposed else b.shape[1]
    size, real = ctypes.c_size_t, ctypes.c_float
    handle = ctypes.c_void_p(queue.int_ptr)

    def matrix(array: Any) -> tuple[Any, ...]:
        return ctypes.c_void_p(array.base_data.int_ptr), size(0), size(array.shape[1])

    def run() -> Any:
        c = cla.empty(queue, (m, n), a.dtype)
        status = _library().CLBlastSgemm(
            ROW_MAJOR,
            TRANSPOSED if "A" in transposed else PLAIN,
            TRANSPOSED if "B" in transposed else PLAIN,
            *(size(m), size(n), size(k), real(1)),
            *(*matrix(a), *matrix(b), real(0), *matrix(c)),
            *(ctypes.byref(handle), None),
        )
        if status:
            raise RuntimeError(f"CLBlast fails with status {status}")
        return c

    return Contestant(run, queue.finish, lambda result: [result.get()])
