"""Plans from hand-written modules of the kernel level, and their execution on every device."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from string import ascii_letters
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyopencl as cl
import pyopencl.array as cla
import pytest
from plans import (
    ALLOC,
    HALF,
    KERNEL_TEXT,
    MEMREF,
    A,
    B,
    chain,
    copy,
    executable,
    free,
    launch,
    part,
    plan,
)
from threads import in_threads

import tiledialect as td
from tiledialect.errors import TileError
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.lowering.host import memory_plan
from tiledialect.lowering.runtime.call.refusals import check_sizes, format_bytes
from tiledialect.lowering.runtime.device.devices import choose
from tiledialect.lowering.runtime.device.queue_state import state_of
from tiledialect.lowering.runtime.device.queues import opencl_device, queue_for
from tiledialect.lowering.runtime.program.build import build_program, error_lines
from tiledialect.lowering.runtime.program.plan import Copy, Launch, Plan, Scalar, Slot, Tensor
from tiledialect.lowering.runtime.program.plan_building import make_plan
from tiledialect.lowering.runtime.program.specialization import check_double


def test_what_a_plan_says():
    p = chain()
    assert p.inputs == (Tensor("A", (4,), "float32"), Tensor("B", (4,), "float32"))
    assert [t.name for t in p.outputs] == ["O", "P"]
    assert p.slots == (Slot(0, 0, 16),), "two intermediates, one after the other, share a place"
    assert p.allocations == (128,)
    assert p.peak_memory == 4 * 16 + 128
    assert p.steps[0] == Launch("add", (4, 1, 1), (2, 1, 1), (0, 1, 4))
    assert [step.args for step in p.steps if isinstance(step, Launch)] == [
        (0, 1, 4),
        (4, 1, 3),
        (3, 1, 4),
        (4, 0, 2),
    ]


def test_a_chain(device: td.Device):
    o, p = executable(chain(), device).on_host([A, B])
    assert np.array_equal(p, A + 2 * B)
    assert np.array_equal(o, 2 * A + 3 * B)


def test_slots_without_an_arena():
    p = plan(
        "(%A: M) -> (M)",
        "%x = ALLOC",
        launch("add", "%A", "%A", "%x"),
        free("%x"),
        "%y = ALLOC",
        launch("add", "%A", "%A", "%y"),
        free("%y"),
        f"func.return %A : {MEMREF}",
        arena=False,
    )
    assert p.slots == (Slot(0, 0, 16), Slot(1, 0, 16)) and p.allocations == (16, 16)


def test_intermediates_in_a_result(device: td.Device, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(memory_plan, "SMALL", 1)
    p = plan(
        "(%A: M, %B: M) -> (M)",
        "%x = ALLOC",
        launch("add", "%A", "%B", "%x"),
        "%y = ALLOC",
        copy("%y", "%x"),
        "%z = ALLOC",
        copy("%z", "%y"),
        "%o = ALLOC",
        launch("add", "%z", "%A", "%o"),
        f"func.return %o : {MEMREF}",
    )
    assert p.allocations == (128,) and p.steps[1:3] == (Copy(2, 3, 16), Copy(3, 2, 16))
    assert np.array_equal(executable(p, device).on_host([A, B])[0], 2 * A + B)
    given = [cla.to_device(queue_for(device), array) for array in (A, B)]
    assert np.array_equal(executable(p, device, on_host=False).on_device(given)[0].get(), 2 * A + B)


def test_a_result_and_a_part_of_it_are_not_apart():
    whole, part = f"memref<{16}xi8, 1 : i32>", "memref<2xf32, 1 : i32>"
    with pytest.raises(TileError, match="source and target of the copy overlap"):
        plan(
            f"(%A: {part}) -> (M)",
            f"%o = {ALLOC.replace(MEMREF, whole)}",
            f"%r = memref.view %o[%zero][] : {whole} to {MEMREF}",
            f"%p = memref.view %o[%zero][] : {whole} to {part}",
            f"%q = memref.reinterpret_cast %r to offset: [0], sizes: [2], strides: [1]"
            f" : {MEMREF} to {part}",
            copy("%p", "%q", part),
            f"func.return %r : {MEMREF}",
            arena=False,
        )


def test_scalars(device: td.Device):
    p = plan(
        "(%A: M) -> (M)",
        "%n = arith.constant 3 : index",
        "%f = arith.constant 0.5 : f32",
        "%o = ALLOC",
        launch("scale", "%A", "%n", "%f", "%o", types={"%n": "index", "%f": "f32"}),
        f"func.return %o : {MEMREF}",
    )
    (step,) = p.steps
    assert isinstance(step, Launch)
    assert step.args == (0, Scalar("int32", 3), Scalar("float32", 0.5), 1)
    assert np.array_equal(executable(p, device).on_host([A])[0], A * 1.5)


def test_inputs_and_doubles_are_copied_when_returned(device: td.Device):
    p = plan(
        "(%A: M) -> (M, M, M)",
        "%o = ALLOC",
        launch("add", "%A", "%A", "%o"),
        f"func.return %A, %o, %o : {MEMREF}, {MEMREF}, {MEMREF}",
    )
    assert p.steps[1:] == (Copy(1, 0, 16), Copy(3, 2, 16))
    results = executable(p, device).on_host([A])
    assert [r.tolist() for r in results] == [A.tolist(), (2 * A).tolist(), (2 * A).tolist()]
    assert not any(np.shares_memory(a, b) for a, b in zip(results, (A, *results), strict=False))


@pytest.mark.every_device
@pytest.mark.parametrize("n", [1, 3, 125, 1003, 65539])
def test_copies_of_any_number_of_bytes(device: td.Device, n: int):
    """Intel's runtime copies most numbers of bytes slowly, so that CPUs copy rectangles of one row."""
    f = td.compile("function (X[N], Y[N]) -> (O, P) { O = Y; P = X; }", device=device)
    n = min(n, 4099) if device.type == "simulator" else n
    x, y = np.arange(2 * n, dtype=np.uint8).reshape(2, n)
    queue = td.queue(device)
    whole = cla.to_device(queue, np.concatenate([x, y]))
    for results in (f(x, y), [r.get() for r in f(whole[:n], whole[n:])]):
        assert np.array_equal(results[0], y) and np.array_equal(results[1], x)


def test_memcpy_and_reshapes(device: td.Device):
    square = "memref<2x2xf32, 1 : i32>"
    cast = (
        f'"memref.reinterpret_cast"(%o) <{{static_offsets = array<i64: 0>, '
        "static_sizes = array<i64: 2, 2>, static_strides = array<i64: 2, 1>, "
        f"operandSegmentSizes = array<i32: 1, 0, 0, 0>}}> : ({MEMREF}) -> {square}"
    )
    p = plan(
        f'(%A: M) -> ({square} {{tile.name = "S"}})',
        "%o = ALLOC",
        copy("%o", "%A"),
        f"%s = {cast}",
        f"func.return %s : {square}",
    )
    assert p.steps == (Copy(1, 0, 16),) and p.slots == ()
    assert np.array_equal(executable(p, device).on_host([A])[0], A.reshape(2, 2))


def test_an_empty_launch_is_none():
    p = plan(
        "(%A: M) -> (M)",
        "%o = ALLOC",
        launch("add", "%A", "%A", "%o", groups="%zero"),
        f"func.return %o : {MEMREF}",
    )
    assert p.steps == ()


def test_unsigned_elements():
    t = "memref<4xi8, 1 : i32>"
    p = plan(
        f'(%A: {t} {{tile.name = "A", tile.element_type = ui8}}) -> ({t} {{tile.name = "O"}})',
        f"func.return %A : {t}",
    )
    assert (p.inputs[0].dtype, p.outputs[0].dtype) == ("uint8", "int8")


@pytest.mark.parametrize(
    ("inner", "outer", "bits"), [("32", "64", 32), ("", "32", 32), ("", "", 64)]
)
def test_host_and_kernel_agree_on_the_width_of_indices(inner: str, outer: str, bits: int):
    spec = "dlti.dl_spec = #dlti.dl_spec<index = {} : i32>"
    body = f"""
        %n = arith.constant 3 : index
        %f = arith.constant 0.5 : f32
        %o = {ALLOC}
        {launch("scale", "%A", "%n", "%f", "%o", types={"%n": "index", "%f": "f32"}, groups="%n")}
        func.return %o : {MEMREF}"""
    kernels = KERNEL_TEXT.replace(
        f" {{{spec.format(32)}}}", f" {{{spec.format(inner)}}}" * bool(inner)
    )
    text = f"""
    builtin.module attributes {{gpu.container_module{f", {spec.format(outer)}" * bool(outer)}}} {{
      {kernels}
      func.func @host(%A: {MEMREF}) -> ({MEMREF}) {{
        %one = arith.constant 1 : index
        %two = arith.constant 2 : index
        {body}
      }}
    }}"""
    p = make_plan(parse_mlir(text, "plan.mlir"), "host")
    (step,) = p.steps
    assert isinstance(step, Launch) and step.args[1] == Scalar(f"int{bits}", 3)
    assert f"{'int' if bits == 32 else 'long'} n," in p.source


def test_parts_of_buffers(device: td.Device):
    p = plan(
        f"(%A: M, %B: M) -> ({HALF}, {HALF}, M)",
        "%o = ALLOC",
        launch("add", "%A", "%B", "%o"),
        "%q = ALLOC",
        copy("%q", "%B"),
        f"%x = {part('%o', 2, HALF)}",
        f"%y = {part('%A', 2, HALF)}",
        f"%z = {part('%q', 2, HALF)}",
        copy("%z", "%y", HALF),
        f"func.return %x, %y, %q : {HALF}, {HALF}, {MEMREF}",
    )
    assert p.slots == (Slot(0, 0, 16),), "a part of a buffer is not the whole of an output"
    x, y, q = executable(p, device).on_host([A, B])
    assert np.array_equal(x, (A + B)[2:]) and np.array_equal(y, A[2:])
    assert np.array_equal(q, [*B[:2], *A[2:]])
    x, y, q = executable(p, device, on_host=False).on_device(
        [cla.to_device(queue_for(device), array) for array in (A, B)]
    )
    assert np.array_equal(x.get(), (A + B)[2:]) and np.array_equal(y.get(), A[2:])


# -- execution -------------------------------------------------------------------------------


def test_arrays_on_the_device_stay_there(device: td.Device):
    run = executable(chain(), device, on_host=False)
    queue = queue_for(device)
    a, b = cla.to_device(queue, A), cla.to_device(queue, B)
    o, p = run.on_device([a, b])
    assert isinstance(o, cla.Array) and o.queue is queue and o.events
    (q, _) = run.on_device([p, a])
    assert np.array_equal(p.get(), A + 2 * B)
    assert np.array_equal(q.get(), 2 * (A + 2 * B) + 3 * A)


def test_a_queue_without_order(device: td.Device):
    properties = cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    try:
        queue = cl.CommandQueue(queue_for(device).context, properties=properties)
    except cl.Error:
        pytest.skip("this device has none")
    run = executable(chain(), device, on_host=False, queue=queue)
    a, b = cla.to_device(queue, A), cla.to_device(queue, B)
    for _ in range(20):
        o, _ = run.on_device([a, b])
    queue.finish()
    assert np.array_equal(o.get(), 2 * A + 3 * B)


def test_plans_of_one_queue_share_buffers():
    device = choose()
    queue = cl.CommandQueue(queue_for(device).context)
    first, second = (executable(chain(), device, queue=queue) for _ in range(2))
    for run in (first, second, first):
        assert np.array_equal(run.on_host([A, B])[1], A + 2 * B)
    state = state_of(queue)
    assert len(state.scratch) == 1
    state.ensure([1 << 20])
    assert state.scratch[0].size == 1 << 20
    assert np.array_equal(first.on_host([A, B])[0], 2 * A + 3 * B)


def test_many_threads(device: td.Device):
    if device.type == "simulator":
        pytest.skip("Oclgrind crashes when called from several threads, even in turn")
    run = executable(chain(), device)
    wrong: list[int] = []

    def work(k: int) -> None:
        a = A + k
        for _ in range(10):
            if not np.array_equal(run.on_host([a, B])[0], 2 * a + 3 * B):
                wrong.append(k)

    in_threads(work, range(4))
    assert not wrong


def test_a_profile(device: td.Device):
    run = executable(chain(), device, queue=queue_for(device, profiling=True))
    (o, _), profile = run.profile([A, B])
    assert np.array_equal(o, 2 * A + 3 * B)
    assert [k.kernel for k in profile.kernels] == ["add"] * 4
    assert all(k.seconds >= 0 and k.nbytes == 48 for k in profile.kernels)
    assert profile.seconds == pytest.approx(sum(k.seconds for k in profile.kernels))
    assert profile.peak_memory == 4 * 16 + 128 and profile.device == device


def test_a_profile_is_of_medians(device: td.Device, monkeypatch: pytest.MonkeyPatch):
    run = executable(chain(), device, queue=queue_for(device, profiling=True))
    ends = iter([9000, 2000, 1000])

    def measured(*_: Any) -> Any:
        times = SimpleNamespace(profile=SimpleNamespace(start=0, end=next(ends)))
        return [A], [(launch, times) for launch in run.launches]

    monkeypatch.setattr(run, "_guarded", measured)
    _, profile = run.profile([A, B], repeat=3)
    assert profile.runs == 3
    assert [k.seconds for k in profile.kernels] == pytest.approx([2e-6] * 4)


def test_tensors_larger_than_the_device(device: td.Device):
    huge = device.max_mem_alloc_size // 4 + 1
    one = Plan((Tensor("A", (huge,), "float32"),), (), (), (), (), "")
    with pytest.raises(TileError, match=rf"A: float32\[{huge}\] takes .* at most"):
        check_sizes(one, device)
    with pytest.raises(TileError, match="Big takes"):
        check_sizes(Plan((), (), (4 * huge,), (), (), "", largest=("Big",)), device)
    parts = device.global_mem_size // device.max_mem_alloc_size + 1
    many = Plan((), (), (device.max_mem_alloc_size,) * parts, (), (), "")
    with pytest.raises(TileError, match=r"of memory, of which intermediates .*, but .* has"):
        check_sizes(many, device)
    few = tuple(Tensor(name, (huge - 1,), "float32") for name in ascii_letters[: parts + 1])
    with pytest.raises(TileError, match=r"of memory, of which a: float32.*, but .* has"):
        check_sizes(Plan(few, (), (), (), (), ""), device)


@pytest.mark.parametrize(
    ("dtype", "words"), [("float64", "A given as float64"), ("float32", "a computation in float64")]
)
def test_a_device_without_double_precision(device: td.Device, dtype: str, words: str):
    p = Plan((Tensor("A", (3,), dtype),), (), (), (), (), "void f(double4 x) {}")
    check_double(p, replace(device, fp64=True))
    with pytest.raises(TileError, match=f"no double precision, which is needed for {words}"):
        check_double(p, replace(device, fp64=False))
    check_double(replace(p, source="int doubled;"), replace(device, fp64=False))


def test_a_program_that_the_device_refuses(device: td.Device):
    source = "__kernel void k(__global int *a) {\n  a[0] = nonsense;\n}\n"
    with pytest.raises(TileError, match="nonsense"):
        build_program(source, queue_for(device).context, opencl_device(device), ())


def test_the_essentials_of_a_build_log():
    log = "clBuildProgram failed: error\nwarning: x\nfoo.cl:3: error: bad\n  here\n" + "more\n" * 30
    assert error_lines(log).splitlines()[:2] == ["foo.cl:3: error: bad", "  here"]
    assert len(error_lines(log).splitlines()) == 12


def test_sizes_for_people():
    assert [format_bytes(n) for n in (0, 1023, 1536, 5 << 30)] == [
        *("0 bytes", "1023 bytes", "1.5 KiB", "5.0 GiB"),
    ]


def test_plans_have_bfloat16_where_nothing_else_is_imported():
    code = (
        f"from {Tensor.__module__} import Tensor; assert Tensor('A', (3,), 'bfloat16').nbytes == 6"
    )
    subprocess.run([sys.executable, "-P", "-c", code], check=True)
