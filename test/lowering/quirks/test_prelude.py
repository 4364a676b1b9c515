"""Preludes of programs mean the same as OpenCL's own functions."""

import ml_dtypes
import numpy as np
import oclgrind
import pyopencl as cl
import pytest
from described import run_as, spec

import tiledialect as td
from tiledialect.lowering.opencl.helpers import BF16_FROM_FLOAT, conversions
from tiledialect.lowering.quirks.prelude import LANES, TYPES, prelude
from tiledialect.lowering.runtime.device.queues import queue_for

BF16 = ml_dtypes.bfloat16
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


@pytest.mark.covering(1)
@pytest.mark.every_device
@pytest.mark.parametrize("device", td.devices(), ids=lambda device: device.id)
@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("own", [True, False])
def test_vectors_of_halves(device: td.Device, lanes: int, own: bool):
    """Functions with a place for whole vectors; NVIDIA's are in OpenCL C everywhere."""
    queue = queue_for(device)
    text = prelude(device.short_platform if own else "nvidia")
    source = HALVES.format(prelude=text, lanes=lanes)
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


HALVES_ANYWHERE = """
{prelude}
__kernel void copy(const __global half *a, __global half *b)
{{
    __local ushort t[40] __attribute__((aligned(32)));
    vstore_half{lanes}_rte(vload_half{lanes}(1, a + 3), 0, (__local half *)t + 5);
    vstore_half{lanes}_rte(vload_half{lanes}(0, (const __local half *)t + 5), 1, b + 7);
}}
"""


@pytest.mark.every_device
@pytest.mark.parametrize("device", td.devices(), ids=lambda device: device.id)
@pytest.mark.parametrize("lanes", LANES)
def test_vectors_of_halves_anywhere(device: td.Device, lanes: int):
    queue = queue_for(device)
    source = HALVES_ANYWHERE.format(prelude=prelude(device.short_platform), lanes=lanes)
    program = cl.Program(queue.context, source).build()
    a = np.linspace(-3, 60000, 64).astype(np.float16)
    memory = [
        cl.Buffer(queue.context, cl.mem_flags.COPY_HOST_PTR, hostbuf=array)
        for array in (a, np.zeros_like(a))
    ]
    program.copy(queue, (1,), (1,), *memory)
    expected, found = np.zeros_like(a), np.zeros_like(a)
    expected[7 + lanes : 7 + 2 * lanes] = a[3 + lanes : 3 + 2 * lanes]
    cl.enqueue_copy(queue, found, memory[1])
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("device", td.devices(), ids=lambda device: device.id)
@pytest.mark.parametrize("lanes", (1, 8))
def test_rounding_to_bf16(device: td.Device, lanes: int):
    """To the nearest, of two to the even one, wherever an instruction does it."""
    queue, vector = queue_for(device), str(lanes) if lanes > 1 else ""
    body = BF16_FROM_FLOAT.replace("NAME", "rounded").replace("LANES", vector)
    for name, conversion in conversions(vector).items():
        body = body.replace(name, conversion)
    kernel = """__kernel void k(const __global floatN *a, __global shortN *b)
    { b[get_global_id(0)] = rounded(a[get_global_id(0)]); }""".replace("N", vector)
    text = prelude(device.short_platform, device.compute_capability) + body + kernel
    program = cl.Program(queue.context, text).build()
    ends = [0, -0.0, np.inf, -np.inf, np.nan, 3.4e38, 1 + 2**-8, 1 + 3 * 2**-8, -1e-38, 2.5]
    a = np.array([*ends, *np.linspace(-7, 9, 54)], np.float32)
    b = np.zeros(64, np.int16)
    flags = cl.mem_flags.COPY_HOST_PTR
    memory = [cl.Buffer(queue.context, flags, hostbuf=array) for array in (a, b)]
    program.k(queue, (64 // lanes,), None, *memory)
    cl.enqueue_copy(queue, b, memory[1])
    found, expected = (x.astype(np.float32) for x in (b.view(BF16), a.astype(BF16)))
    np.testing.assert_array_equal(found, expected)


def test_errors_name_the_programs_own_lines():
    """The compiler counts from the program on."""
    assert all(prelude(d.short_platform)[-8:] in ("", "#line 1\n") for d in td.devices())
    assert "vload16" in prelude("pocl")


ROUND = """
__kernel void rounded{lanes}(const __global half *a, const __global float *x, __global half *b)
{{
    int i = get_global_id(0);
    vstore_half{lanes}_rte({load} - vload_half{lanes}(i, a), i, b);
}}
"""
ENDS = [0, -0.0, np.inf, -np.inf, np.nan, 65519, 65520, 3e-8, -2e-7, 6e-5, 1 + 2**-11, 2049]


@pytest.mark.parametrize("device", td.devices(), ids=lambda device: device.id)
def test_conversions_of_halves(device: td.Device):
    """To the nearest, with numbers below the least normal half, infinities and NaN."""
    kernels = [ROUND.format(lanes="", load="x[i]")]
    kernels += [ROUND.format(lanes=lanes, load=f"vload{lanes}(i, x)") for lanes in LANES]
    program = _built(device, "".join(kernels))
    x = np.resize(np.float32([*ENDS, *np.linspace(-9, 9, 20)]), 32)
    a = np.resize(np.float16([0, 0, 0, 1e-7]), 32)
    with np.errstate(over="ignore", invalid="ignore"):
        expected = (x - a.astype(np.float32)).astype(np.float16)
    for lanes in (1, *LANES):
        found = np.zeros_like(a)
        _call(
            device,
            getattr(program, f"rounded{lanes if lanes > 1 else ''}"),
            32 // lanes,
            a,
            x,
            found,
        )
        np.testing.assert_array_equal(found, expected)


SHORT = """
__kernel void short_{type}(const __global {type} *a, __global {type} *b, __global int *c)
{{
    int i = {lanes} * get_global_id(0);
    {type} x = {load};
    {type} y[] = {{ fabs(x), floor(x), ceil(x), trunc(x), rint(x) }};
    for (int k = 0; k < 5; ++k)
        {store};
    c[0] = max((int)a[0], 3);
    c[1] = min((int)a[0], 3);
}}
"""


@pytest.mark.parametrize("device", td.devices(), ids=lambda device: device.id)
def test_short_functions(device: td.Device):
    """Functions that are written out where a library's would be called."""
    types = ("float", "double") if device.fp64 else ("float",)
    names = [(type, lanes) for type in types for lanes in (1, *LANES)]
    program = _built(device, "".join(_short(type, lanes) for type, lanes in names))
    for type, lanes in names:
        a = np.array([-2.5, -0.0, np.inf, -np.inf, np.nan, 2.5, -3.5, 1e-9] * 2, NUMPY[type])
        found, extrema = np.zeros((5, 16), a.dtype), np.zeros(2, np.int32)
        kernel = getattr(program, f"short_{type}{lanes if lanes > 1 else ''}")
        _call(device, kernel, 16 // lanes, a, found, extrema)
        expected = [f(a) for f in (np.abs, np.floor, np.ceil, np.trunc, np.rint)]
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.signbit(found[:, :4]), np.signbit(expected)[:, :4])
        np.testing.assert_array_equal(extrema, [3, -2])


def _short(type: str, lanes: int) -> str:
    if lanes == 1:
        return SHORT.format(type=type, lanes=1, load="a[i]", store="b[16 * k + i] = y[k]")
    load, store = f"vload{lanes}(0, a + i)", f"vstore{lanes}(y[k], 0, b + 16 * k + i)"
    return SHORT.format(type=f"{type}{lanes}", lanes=lanes, load=load, store=store).replace(
        f"__global {type}{lanes}", f"__global {type}"
    )


def _built(device: td.Device, source: str) -> cl.Program:
    fp64 = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" if device.fp64 else ""
    text = prelude(device.short_platform) + fp64 + source
    return cl.Program(queue_for(device).context, text).build()


def _call(device: td.Device, kernel: cl.Kernel, items: int, *arrays: np.ndarray):
    """Call a kernel with arrays, which are then what it has written."""
    queue = queue_for(device)
    memory = [
        cl.Buffer(queue.context, cl.mem_flags.COPY_HOST_PTR, hostbuf=array) for array in arrays
    ]
    kernel(queue, (items,), (1,), *memory)
    for buffer, array in zip(memory, arrays, strict=True):
        cl.enqueue_copy(queue, array, buffer)


@pytest.mark.covering(1)
@pytest.mark.every_device
@pytest.mark.parametrize("width", (2, 16))
@pytest.mark.parametrize("source", ("as_float(A, 16)", "-as_float(A, 16)"))
def test_halves_of_doubles(device: td.Device, source: str, width: int):
    """Rounded once, and what Oclgrind finds initialized, in vectors of each length too."""
    f = td.compile(f"function (A[N]) -> (O) {{ O = {source}; }}")
    least = np.float16(2) ** -24
    halves = np.float16([1, 2049, 0.1, 30000, least, 3 * least, 1e-5])
    middle = (halves.astype(float) + np.nextafter(halves, np.float16(6e4)).astype(float)) / 2
    near = [middle, *(middle * (1 + sign * 2.0**-50) for sign in (-1, 1))]
    a = np.concatenate([*near, [np.nan, np.inf, 65519.99, 65520, 1e300, 1e-300, 0, -0.0, 2.0**-25]])
    a = np.concatenate([a, -a])
    before = len(oclgrind.log())
    described = spec("CPU", {"type": "cpu", "compute_units": 2, "native_vector_width": width})
    (found,) = run_as(f, [a], device, described)
    np.testing.assert_array_equal(found, f.reference(a))
    assert not oclgrind.report(before)
