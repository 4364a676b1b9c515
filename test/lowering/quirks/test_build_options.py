"""Build options that single platforms need."""

from __future__ import annotations

import numpy as np
import pyopencl as cl
import pytest

import tiledialect as td
from tiledialect.lowering.quirks.prelude import prelude
from tiledialect.lowering.quirks.table import DENORMALS_ARE_ZERO, NO_WARNINGS, NOT_OPTIMIZED
from tiledialect.lowering.runtime.device.queues import opencl_device
from tiledialect.lowering.runtime.program.build import build_options, build_program

WIDE = """static inline __attribute__((always_inline)) float16 twice(float16 x) { return 2 * x; }
kernel void f(global float *a) { vstore16(twice(vload16(0, a)), 0, a); }
"""
"""Warned of on processors whose vectors hold fewer floats."""


def test_numbers_below_the_least_normal_one():
    for platform in ("intel", "pocl"):
        assert DENORMALS_ARE_ZERO in build_options(platform)
        assert DENORMALS_ARE_ZERO not in build_options(platform, exact=True)
    assert DENORMALS_ARE_ZERO not in build_options("nvidia")


def test_the_simulator_optimizes_nothing():
    assert NOT_OPTIMIZED in build_options("oclgrind", exact=True)


def test_a_driver_prints_nothing(device: td.Device, capfd: pytest.CaptureFixture[str]):
    """PoCL prints the number of warnings."""
    assert NO_WARNINGS in build_options("pocl")
    opencl = opencl_device(device)
    context = cl.Context([opencl])
    platform = device.short_platform
    program = build_program(prelude(platform) + WIDE, context, opencl, build_options(platform))
    queue = cl.CommandQueue(context)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    memory = cl.Buffer(context, flags, hostbuf=np.zeros(16, np.float32))
    cl.Kernel(program, "f")(queue, (1,), None, memory)
    queue.finish()
    assert capfd.readouterr() == ("", "")
