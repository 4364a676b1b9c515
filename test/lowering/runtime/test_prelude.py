"""What is put before programs for one platform means what OpenCL's own functions mean."""

import numpy as np
import pyopencl as cl
import pytest

import tiledialect as td
from tiledialect.lowering.runtime.devices import queue_for
from tiledialect.lowering.runtime.prelude import LANES, TYPES, prelude

NUMPY = {
    **{"char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4"},
    **{"long": "i8", "ulong": "u8", "float": "f4", "double": "f8"},
}
COPY = """
__kernel void copy_{type}{lanes}(const __global {type} *a, __global {type} *b)
{{
    __local {type} t[64];
    {type} p[64];
    vstore{lanes}(vload{lanes}(1, a + 1), 0, t + 3);
    vstore{lanes}(vload{lanes}(0, t + 3), 1, p + 1);
    vstore{lanes}(vload{lanes}(1, p + 1), 0, b + 5);
}}
"""


@pytest.mark.parametrize("device", td.devices(), ids=lambda device: device.id)
def test_accesses_to_vectors(device: td.Device):
    """Vectors anywhere in memory, of each type, in each address space."""
    queue = queue_for(device)
    types = [*TYPES, "double"] if device.fp64 else TYPES
    names = [(type, lanes) for type in types for lanes in LANES]
    source = "".join(COPY.format(type=type, lanes=lanes) for type, lanes in names)
    program = cl.Program(queue.context, prelude(device.short_platform) + source).build()
    for type, lanes in names:
        a = np.arange(1, 65).astype(NUMPY[type])
        b = np.zeros_like(a)
        memory = [
            cl.Buffer(queue.context, cl.mem_flags.COPY_HOST_PTR, hostbuf=array) for array in (a, b)
        ]
        getattr(program, f"copy_{type}{lanes}")(queue, (1,), (1,), *memory)
        cl.enqueue_copy(queue, b, memory[1])
        expected = np.zeros_like(a)
        expected[5 : 5 + lanes] = a[1 + lanes : 1 + 2 * lanes]
        np.testing.assert_array_equal(b, expected)


HALVES = """
{prelude}
__kernel void copy(const __global half *a, __global half *b, __global float *c)
{{
    __local ushort t[32] __attribute__((aligned(32)));
    vstorea_half{lanes}_rte(vloada_half{lanes}(1, a), 0, (__local half *)t);
    vstorea_half{lanes}_rte(vloada_half{lanes}(0, (const __local half *)t), 1, b);
    vstore{lanes}(vloada_half{lanes}(1, b), 1, c);
}}
"""


@pytest.mark.parametrize("device", td.devices(), ids=lambda device: device.id)
@pytest.mark.parametrize("lanes", LANES)
def test_vectors_of_halves(device: td.Device, lanes: int):
    """Those that have a place for whole vectors; these functions are in OpenCL C everywhere."""
    queue = queue_for(device)
    source = HALVES.format(prelude=prelude("nvidia"), lanes=lanes)
    program = cl.Program(queue.context, source).build()
    a = np.linspace(-3, 60000, 64).astype(np.float16)
    memory = [
        cl.Buffer(queue.context, cl.mem_flags.COPY_HOST_PTR, hostbuf=array)
        for array in (a, np.zeros_like(a), np.zeros(64, np.float32))
    ]
    program.copy(queue, (1,), (1,), *memory)
    expected = np.zeros_like(a)
    expected[lanes : 2 * lanes] = a[lanes : 2 * lanes]
    for buffer, dtype in zip(memory[1:], (np.float16, np.float32), strict=True):
        found = np.zeros(64, dtype)
        cl.enqueue_copy(queue, found, buffer)
        np.testing.assert_array_equal(found, expected)


def test_errors_name_the_programs_own_lines():
    """The compiler counts from the program on."""
    assert all(prelude(d.short_platform)[-8:] in ("", "#line 1\n") for d in td.devices())
    assert "vload16" in prelude("pocl")
