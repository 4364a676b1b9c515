"""Bytes are copied between buffers, and within one."""

from __future__ import annotations

import numpy as np
import pyopencl as cl
import pytest

import tiledialect as td
from tiledialect.lowering.runtime.call.copies import copy_bytes

BYTES = np.arange(1024, dtype=np.int32).astype(np.uint8)


@pytest.mark.every_device
@pytest.mark.parametrize("nbytes", [1, 56, 384])
@pytest.mark.parametrize(("to", "from_"), [(512, 128), (128, 512), (3, 387)])
@pytest.mark.parametrize("is_one", [False, True], ids=["two buffers", "one buffer"])
def test_layout_copies(device: td.Device, is_one: bool, to: int, from_: int, nbytes: int):
    """PoCL 3 takes some rectangles within one buffer for ones that overlap."""
    queue = td.queue(device)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    source = cl.Buffer(queue.context, flags, hostbuf=BYTES)
    target = source if is_one else cl.Buffer(queue.context, flags, hostbuf=BYTES)
    copy_bytes(queue, target, source, nbytes, to, from_).wait()
    expected, found = BYTES.copy(), np.empty_like(BYTES)
    expected[to : to + nbytes] = BYTES[from_ : from_ + nbytes]
    cl.enqueue_copy(queue, found, target).wait()
    assert np.array_equal(found, expected)
