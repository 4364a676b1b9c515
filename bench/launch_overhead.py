"""Overhead of a call of a compiled function, compared with pyopencl for the same launches.

Three small arrays; the same kernel, by `Function.__call__` and by hand with pyopencl, alternating
in one run, so that both see the same machine. By hand means the least that gives the same result:
NumPy arrays are wrapped where they are on CPUs, else copied to buffers that are kept.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array as cla

import tiledialect as td
from tiledialect.lowering.runtime.device.queues import queue_for

SOURCE = "function (A[N], B[N], C[N]) -> (O) { O = A * B + C; }"
CLOCK = time.thread_time
"""Time of this thread alone, without other load of the computer."""
ROUNDS, CALLS = 30, 100
ALLOWED = 50.0
"""Microseconds a call."""


def best(function: Callable[[], Any]) -> float:
    """Microseconds a call in one round."""
    start = CLOCK()
    for _ in range(CALLS):
        function()
    return (CLOCK() - start) / CALLS * 1e6


def compare(ours: Callable[[], Any], by_hand: Callable[[], Any]) -> tuple[float, float]:
    """The medians of alternating rounds."""
    for function in (ours, by_hand):
        best(function)
    rounds = [(best(ours), best(by_hand)) for _ in range(ROUNDS)]
    a, b = np.median(rounds, axis=0)
    return float(a), float(b)


def by_hand_host(
    device: td.Device, program: cl.Program, launch: tuple[Any, ...], arrays: list[Any]
) -> Callable[[], Any]:
    queue = queue_for(device)
    context, flags = queue.context, cl.mem_flags
    name, global_size, local_size = launch
    kernel = cl.Kernel(program, name)
    # Intel's CPU runtime copies READ_ONLY arrays that are not aligned.
    there = flags.READ_WRITE | flags.USE_HOST_PTR

    def in_place() -> Any:
        out = np.empty_like(arrays[0])
        buffers = [cl.Buffer(context, there, hostbuf=a) for a in arrays]
        result = cl.Buffer(context, there, hostbuf=out)
        kernel(queue, global_size, local_size, *buffers, result)
        view, _ = cl.enqueue_map_buffer(queue, result, cl.map_flags.READ, 0, out.shape, out.dtype)
        view.base.release(queue)
        return out

    kept = [cl.Buffer(context, flags.READ_WRITE, a.nbytes) for a in (*arrays, arrays[0])]

    def copied() -> Any:
        out = np.empty_like(arrays[0])
        for buffer, a in zip(kept, arrays, strict=False):
            cl.enqueue_copy(queue, buffer, a, is_blocking=False)
        kernel(queue, global_size, local_size, *kept)
        cl.enqueue_copy(queue, out, kept[-1])
        return out

    return in_place if device.uses_host_memory else copied


def by_hand_device(program: cl.Program, launch: tuple[Any, ...], arrays: list[Any]) -> Any:
    name, global_size, local_size = launch
    kernel = cl.Kernel(program, name)
    queue = arrays[0].queue

    def call() -> Any:
        out = cla.Array(queue, arrays[0].shape, arrays[0].dtype)
        buffers: list[Any] = [a.data for a in (*arrays, out)]
        kernel(queue, global_size, local_size, *buffers)
        return out

    return call


def measure(device: td.Device) -> bool:
    """Show the overheads on a device; are they as small as they must be?"""
    function = td.compile(SOURCE, device=device)
    arrays = [np.random.default_rng(k).random(16, np.float32) for k in range(3)]
    (time_of_kernel,) = function.profile(*arrays)[1].kernels
    launch = (time_of_kernel.kernel, time_of_kernel.global_size, time_of_kernel.local_size)
    queue = queue_for(device)
    program = cl.Program(queue.context, function.opencl(*arrays)).build()
    on_device = [cla.to_device(queue, a) for a in arrays]

    def drained(call: Callable[[], Any]) -> Callable[[], Any]:
        def run() -> None:
            call()
            queue.finish()

        return run

    cases = {
        "NumPy arrays": (
            lambda: function(*arrays),
            by_hand_host(device, program, launch, arrays),
        ),
        "pyopencl arrays": (
            drained(lambda: function(*on_device)),
            drained(by_hand_device(program, launch, on_device)),
        ),
    }
    good = True
    for what, (ours, by_hand) in cases.items():
        a, b = compare(ours, by_hand)
        good = good and a - b <= ALLOWED
        print(f"{device.id:10} {what:16} {a:7.1f} us, by hand {b:7.1f} us: {a - b:+6.1f} us")
    return good


def main() -> int:
    """Measure on every device but simulators; 1 if a call costs more than is allowed."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    good = [measure(device) for device in td.devices() if device.type != "simulator"]
    print(f"allowed: {ALLOWED:.0f} us a call beyond pyopencl")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
