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


def test_errors_name_the_programs_own_lines():
    """The compiler counts from the program on."""
    assert all(prelude(d.short_platform)[-8:] in ("", "#line 1\n") for d in td.devices())
    assert "vload16" in prelude("pocl")
