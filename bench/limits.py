"""What a device can do at most: copying memory, and multiplying and adding, measured."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyopencl as cl
from timing import ROUNDS, Contestant, interleaved

import tiledialect as td

COPY = """
__kernel void copy(__global const float4 *a, __global float4 *b)
{
    b[get_global_id(0)] = a[get_global_id(0)];
}
"""
STEPS = 2048
CHAINS = 10
"""Independent chains of multiplications and additions: more than their latency needs."""
BYTES = 1 << 28


@dataclass(frozen=True)
class Limits:
    """Bytes that a copy reads and writes in a second, and operations on float32."""

    bandwidth: float
    flops: float

    def seconds(self, flops: float, nbytes: float) -> float:
        """The least time for so many operations, while so many bytes are moved."""
        return max(flops / self.flops, nbytes / self.bandwidth)


def arithmetic(width: int) -> str:
    """A kernel that multiplies and adds in registers."""
    t = f"float{width}" if width > 1 else "float"
    names = [f"x{k}" for k in range(CHAINS)]
    starts = " ".join(f"{t} {x} = ({t})(a[{k}]);" for k, x in enumerate(names))
    body = " ".join(f"{x} = {x} * m + c;" for x in names)
    last = "".join(".s0" for _ in range(width > 1))
    return f"""
__kernel void arithmetic(__global const float *a, __global float *b)
{{
    {starts} {t} m = ({t})(a[{CHAINS}]), c = ({t})(a[{CHAINS + 1}]);
    for (int k = 0; k < {STEPS}; ++k) {{ {body} }}
    b[get_global_id(0)] = ({" + ".join(names)}){last};
}}
"""


def measure(device: td.Device, rounds: int = ROUNDS, most: int = BYTES) -> Limits:
    """The limits of a device, by copying no more than ``most`` bytes."""
    queue = td.queue(device)
    width = 1 if device.type == "gpu" else max(4, device.native_vector_width)
    items, group = (256 * 32, 256) if device.type == "gpu" else (16, 1)
    items *= device.compute_units
    nbytes = min(most, device.max_mem_alloc_size // 4)
    flags = cl.mem_flags.READ_WRITE
    a, b = (cl.Buffer(queue.context, flags, nbytes) for _ in range(2))
    for buffer in (a, b):
        cl.enqueue_fill_buffer(queue, buffer, np.float32(0.5), 0, nbytes)

    def contestant(source: str, name: str, size: int, local: int) -> Contestant:
        with warnings.catch_warnings():
            # What a compiler says about a program that it takes.
            warnings.simplefilter("ignore")
            program = cl.Program(queue.context, source).build(["-cl-mad-enable"])
        kernel: Any = cl.Kernel(program, name)
        return Contestant(lambda: kernel(queue, (size,), (local,), a, b), queue.finish)

    local = 256 if device.type == "gpu" else 64
    best = {
        name: min(times)
        for name, times in interleaved(
            {
                "copy": contestant(COPY, "copy", nbytes // 16, local),
                "arithmetic": contestant(arithmetic(width), "arithmetic", items, group),
            },
            rounds,
        ).items()
    }
    operations = 2 * STEPS * CHAINS * width * items
    return Limits(2 * nbytes / best["copy"], operations / best["arithmetic"])
