"""Calls: what leaves one early, memory that is given twice, memory that there is not."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array as cla
import pytest
import tool_server

import tiledialect as td
from tiledialect.errors import TileError
from tiledialect.lowering.runtime.call import host_arrays, launch
from tiledialect.lowering.runtime.call.launch import Executable
from tiledialect.lowering.runtime.device.queue_state import state_of
from tiledialect.lowering.runtime.device.queues import SURVIVE_FORKS, queue_for

MANY = """
from tiledialect.lowering.given_passes import GivenPasses, NestFuseHorizontallyPass

# Each kernel has a launch of its own.
GivenPasses.horizontal = lambda self: NestFuseHorizontallyPass(1)
N, COUNT = 200_000, 6
names = [f"O{k}" for k in range(COUNT)]
body = " ".join(f"{o}[i: N] = +(A[i] * B[j]), j < {400 - k};" for k, o in enumerate(names))
f = td.compile(f"function (A[N], B[M]) -> ({', '.join(names)}) {{ {body} }}")
a, b = np.arange(N), np.arange(400)
"""


def run_python(code: str, *args: str) -> str:
    """Output of Python for ``code``, in a process that must end well."""
    program = "import numpy as np\nimport tiledialect as td\n" + textwrap.dedent(code)
    done = subprocess.run(
        [tool_server.python(), "-c", program, *args], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    return done.stdout


# -- what leaves a call ----------------------------------------------------------------------


LEFT_EARLY = """
import os, signal, sys
import pyopencl as cl
from tiledialect.lowering.runtime.call import launch
from tiledialect.lowering.runtime.device.queues import queue_for

f(a, b)
enqueue, calls = cl.enqueue_nd_range_kernel, []

def left_early(*args, **options):
    calls.append(None)
    if len(calls) == COUNT:
        LEAVE
    return enqueue(*args, **options)

for _ in range(3):
    calls.clear()
    launch.cl.enqueue_nd_range_kernel = left_early
    try:
        f(a, b)
    except (KeyboardInterrupt, td.TileError) as error:
        print(type(error).__name__)
    launch.cl.enqueue_nd_range_kernel = enqueue
    # What gets the memory that is free again stays as it is.
    others = [np.full(N, -1) for _ in range(COUNT)]
    queue_for(f.device).finish()
    assert all((other == -1).all() for other in others)
    del others
assert np.array_equal(f(a, b).O3, a * b[:-3].sum())
"""


@pytest.mark.parametrize(
    ("leave", "name"),
    [
        ("os.kill(os.getpid(), signal.SIGINT)", "KeyboardInterrupt"),
        ('raise cl.LogicError("clEnqueueNDRangeKernel failed: INVALID_VALUE")', "TileError"),
    ],
)
def test_a_call_that_is_left_early_waits_for_what_runs(leave: str, name: str):
    assert run_python(MANY + LEFT_EARLY.replace("LEAVE", leave)) == f"{name}\n" * 3


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, cl.LogicError("bad")])
def test_whatever_leaves_a_call_finishes_the_queue(
    device: td.Device, monkeypatch: pytest.MonkeyPatch, error: Any
):
    f = td.compile("function (A[N]) -> (B, C) { B = A + 1; C[] = +(A[i]); }", device=device)
    a = np.float32([1, 2, 3])
    expected = f(a)
    finished: list[bool] = []
    state = state_of(queue_for(device))
    finish = state.finish

    def fail(*args: Any, **options: Any) -> Any:
        raise error

    def record() -> None:
        finished.append(True)
        finish()

    with monkeypatch.context() as patch:
        patch.setattr(launch.cl, "enqueue_nd_range_kernel", fail)
        patch.setattr(state, "finish", record)
        with pytest.raises((KeyboardInterrupt, RuntimeError, TileError)):
            f(a)
    assert finished == [True]
    assert np.array_equal(f(a).B, expected.B)


def test_what_a_device_says_is_told(device: td.Device, monkeypatch: pytest.MonkeyPatch):
    f = td.compile("function (A[N]) -> (B) { B = A + 1; }", device=device)
    f(np.zeros(3))

    def fail(*args: Any, **options: Any) -> Any:
        raise cl.LogicError("clEnqueueNDRangeKernel failed: BROKEN\nwhere")

    monkeypatch.setattr(launch.cl, "enqueue_nd_range_kernel", fail)
    words = r"cannot run the program: clEnqueueNDRangeKernel failed: BROKEN \(memory needed: 48 bytes of"
    with pytest.raises(TileError, match=words):
        f(np.zeros(3))


@pytest.mark.parametrize("on_device", [False, True])
def test_a_call_in_the_midst_of_another(
    device: td.Device, monkeypatch: pytest.MonkeyPatch, on_device: bool
):
    """As a signal's handler or a finalizer makes one: neither call takes the other's memory."""
    chain = "B[i, j: N, N] = +(A[i] * A[j]); D[i, j: N, N] = +(B[i, k] * B[k, j]);"
    f = td.compile(f"function (A[N]) -> (D) {{ {chain} }}", device=device)
    g = td.compile("function (A[N]) -> (B, S) { B = A + 1; S[] = +(B[i]); }", device=device)
    queue, enqueue = td.queue(device), cl.enqueue_nd_range_kernel
    arrays: list[Any] = [np.arange(start, start + 5, dtype=np.float32) for start in range(3)]
    expected = [f.reference(a) for a in arrays]
    expected_g = g.reference(arrays[0])
    if on_device:
        arrays = [cla.to_device(queue, a) for a in arrays]
    within: list[Any] = []
    waiting: list[Any] = [(f, arrays[1]), (g, arrays[0]), (f, arrays[2])]

    def interrupted(*args: Any, **options: Any) -> Any:
        if waiting:
            call, given = waiting.pop()
            within.append(call(given))
        return enqueue(*args, **options)

    def host(result: Any) -> Any:
        return result.get() if on_device else result

    assert np.array_equal(host(f(arrays[0])), expected[0])
    g(arrays[0])
    monkeypatch.setattr(launch.cl, "enqueue_nd_range_kernel", interrupted)
    # Each interrupts the one before it.
    assert np.array_equal(host(f(arrays[0])), expected[0])
    first, second, third = within
    assert np.array_equal(host(first), expected[1])
    assert np.array_equal(host(second.B), expected_g.B) and host(second.S) == expected_g.S
    assert np.array_equal(host(third), expected[2])
    assert np.array_equal(host(f(arrays[1])), expected[1])


# -- forks -----------------------------------------------------------------------------------

FORK = """
import os, sys
from pathlib import Path

text, told = "function (A[N]) -> (B) { B = A + 1; }", Path(sys.argv[2])
f = td.compile(text)

def in_child():
    told.write_text("does not end")
    child = os.fork()
    if not child:
        try:
            device = sys.argv[1]
            results = [f(np.zeros(3)), td.compile(text, device=device)(np.zeros(4, np.float32))]
            told.write_text(str([r.tolist() for r in results]))
        except td.TileError as error:
            told.write_text(error.message)
        os._exit(0)
    os.waitpid(child, 0)
    print(told.read_text().partition(";")[0])

in_child()
f(np.zeros(3))
in_child()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
def test_forked_processes(device: td.Device, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("TILE_DEVICE", device.id)
    works = "[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]]"
    refused = f"{device} works in no process that was forked from one where OpenCL was in use"
    later = works if device.short_platform in SURVIVE_FORKS else refused
    printed = run_python(FORK, device.id, str(tmp_path / "told"))
    assert printed.splitlines() == [works, later]


# -- memory that is given twice --------------------------------------------------------------

SUMS = "function (A[N], B[N], C[N]) -> (O) { O = A + 2 * B + 4 * C; }"


def test_an_array_given_twice(device: td.Device):
    f = td.compile(SUMS, device=device)
    a, b = np.float32([1, 2, 3]), np.float32([5, 6, 7])
    assert np.array_equal(f(a, a, a), 7 * a)
    assert np.array_equal(f(a, b, a), 5 * a + 2 * b)


def test_views_that_overlap(device: td.Device):
    f = td.compile(SUMS, device=device)
    whole = np.arange(8, dtype=np.float32)
    a, b, c = whole[:5], whole[2:7], whole[3:]
    assert np.array_equal(f(a, b, c), a + 2 * b + 4 * c)
    assert np.array_equal(f(a, a.view(), c), 3 * a + 4 * c)
    assert np.array_equal(f(whole[:0], whole[:0], whole[:0]), whole[:0])


def test_arrays_that_cannot_be_written_and_begin_anywhere(device: td.Device, tmp_path: Path):
    f = td.compile(SUMS, device=device)
    a, b = np.arange(100, dtype=np.float32), np.zeros(132, np.float32)
    a.tofile(tmp_path / "a")
    mapped = np.memmap(tmp_path / "a", np.float32, "r")
    for start in (1, 3, 16, 31):
        b[start : start + 100] = a[::-1]
        c = b[start : start + 100]
        c.flags.writeable = False
        assert np.array_equal(f(mapped, c, c), a + 6 * c)
        assert np.array_equal(f(a, np.frombuffer(c.tobytes(), np.float32), mapped), 5 * a + 2 * c)


def test_no_two_buffers_have_the_same_memory():
    device = next(d for d in td.devices() if d.uses_host_memory)
    state = state_of(queue_for(device))
    whole = np.arange(64, dtype=np.float32)
    apart, other = whole[:16], whole[16:32]
    buffers = host_arrays.wrapped(state, [apart, apart, whole[8:24], other, np.array(apart)])
    assert buffers[0] is buffers[1]
    addresses = [
        b.get_host_array((b.size,), np.uint8).__array_interface__["data"][0]
        for b in dict.fromkeys(buffers)
    ]
    assert len(set(addresses)) == len(addresses) == 4
    start = whole.ctypes.data
    inside = [address for address in addresses if start <= address < start + whole.nbytes]
    assert inside == [start, start + 64]


# -- memory that there is not ----------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="it limits the memory of a process")
def test_results_beyond_the_limit_of_the_process():
    output = run_python(
        """
import resource
f = td.compile("function (A[N]) -> (B) { B[i, j: N, N] = +(A[i] * A[j]); }")
f(np.ones(3))
f(np.ones(8000))[0, 0]
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 27), -1))
for call in (f, f.reference):
    try:
        call(np.ones(8000))
    except td.TileError as error:
        print(error)
print(f(np.ones(3))[0, 0])
"""
    )
    first, second, last = output.splitlines()
    assert first == "there is not enough memory for the results (B: float64[8000, 8000]): 488.3 MiB"
    assert "memory" in second
    assert last == "1.0"


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        (["1"] * 65, "O has 65 axes; arrays have at most 64"),
        (["0", str(2**62)], r"O: float32\[0, 4611686018427387904\] is larger than any array"),
    ],
)
def test_results_that_are_no_arrays(sizes: list[str], words: str):
    indices = [f"i{k}" for k in range(len(sizes))]
    f = td.compile(
        f"function (A[N]) -> (O) {{ O[{', '.join(indices)}: {', '.join(sizes)}] = "
        f"+(A[{' + '.join(indices)}]); }}"
    )
    for call in (f, f.reference):
        with pytest.raises(TileError, match=words):
            call(np.ones(3, np.float32))


# -- what a simulator knows ------------------------------------------------------------------

SIMULATED = """
import gc, os, sys
from pathlib import Path
import pyopencl as cl, pyopencl.array as cla
from tiledialect.lowering.runtime.device.queue_state import state_of

queue, log = td.queue("oclgrind"), Path(os.environ["OCLGRIND_LOG"])
two_kernels = "function (I[M]) -> (O) { J = -I; P[] = >(J[i]); O = -P; }"
sound = td.compile(two_kernels, device="oclgrind")
given = np.ones(64, np.float32)
text = "__kernel void k(__global float *a, __global float *b) { if (a[3] > 0) b[3] = 1; }"
program = cl.Program(queue.context, text).build()

def after_others(size):
    others = [cla.to_device(queue, np.zeros(size, np.float32)) for _ in range(8)]
    del others
    gc.collect()

for size in (1, 1000):
    after_others(size)
    assert (sound(cla.to_device(queue, given)).get() if "on device" in sys.argv else sound(given)) == 1
    print(log.read_text())
    after_others(size)
    a, b = (state_of(queue).allocate(256) for _ in range(2))
    cl.Kernel(program, "k")(queue, (1,), None, a, b)
    queue.finish()
    assert "depends on uninitialized value" in log.read_text()
    log.write_text("")
"""


@pytest.mark.skipif(
    all(device.short_platform != "oclgrind" for device in td.devices()), reason="without Oclgrind"
)
@pytest.mark.parametrize("place", ["on device", "on host"])
def test_the_simulator_sees_every_buffer_anew(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Memory may have held anything before, of any size."""
    monkeypatch.setenv("OCLGRIND_LOG", str(tmp_path / "log"))
    assert run_python(SIMULATED, place).strip() == ""


@pytest.mark.parametrize("text", ["B = A * 2;", "B = A > 1;", "B[i: N] = +(A[j]), i - j < N;"])
def test_what_no_kernel_writes_is_not_right_by_an_earlier_call(device: td.Device, text: str):
    f = td.compile(f"function f(A[N]) -> (B) {{ {text} }}", device=device)
    a = np.arange(6, dtype=np.float32)
    run = f._specialize(f.types((a,), {}), device).executable(  # pyright: ignore[reportPrivateUsage]
        state_of(queue_for(device, profiling=True)), on_host=True
    )
    expected = f.reference(a)
    for _ in range(2):
        ((found,), _) = run.profile([a], on_spoilt=True)
        assert np.array_equal(found, expected)
    run.steps = []
    (found,), _ = run._guarded(Executable._on_spoilt, [a])  # pyright: ignore[reportPrivateUsage]
    assert {*found.tobytes()} == {0xFF}


def test_arrays_are_not_copied_again(device: td.Device, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(td.Device, "uses_host_memory", False)
    f = td.compile("function f(A[N]) -> (B) { B = A * 2; }", device=device)
    a = np.arange(6, dtype=np.float32)
    run = f._specialize(f.types((a,), {}), device).executable(  # pyright: ignore[reportPrivateUsage]
        state_of(queue_for(device, profiling=True)), on_host=True
    )
    ((first,), _) = run.profile([a])
    a += 1
    ((second,), _) = run.profile([a], again=True)
    keeps = not run.state.is_simulator
    assert np.array_equal(second, first if keeps else 2 * a)
    ((third,), _) = run.profile([a])
    assert np.array_equal(third, 2 * a)
