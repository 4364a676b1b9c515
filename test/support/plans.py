"""Modules of the kernel level by hand, and plans of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.context import Context

import tiledialect as td
from tiledialect.ir.mlir_text import parse_mlir
from tiledialect.lowering.host.gpu_arena import GpuArenaPass
from tiledialect.lowering.runtime.call.launch import Executable
from tiledialect.lowering.runtime.device.queue_state import state_of
from tiledialect.lowering.runtime.device.queues import opencl_device, queue_for
from tiledialect.lowering.runtime.program.build import build_program
from tiledialect.lowering.runtime.program.plan import Plan
from tiledialect.lowering.runtime.program.plan_building import make_plan
from tiledialect.lowering.runtime.program.program import Built
from tiledialect.lowering.runtime.program.program_text import KernelTexts

# xDSL has no custom syntax for these ops, so that they are written by these.
MEMREF = "memref<4xf32, 1 : i32>"
ALLOC = '"gpu.alloc"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> ' + MEMREF


def free(name: str) -> str:
    segments = "{operandSegmentSizes = array<i32: 0, 1>}"
    return f'"gpu.dealloc"({name}) {segments} : ({MEMREF}) -> ()'


def copy(target: str, source: str, t: str = MEMREF) -> str:
    segments = "{operandSegmentSizes = array<i32: 0, 1, 1>}"
    return f'"gpu.memcpy"({target}, {source}) {segments} : ({t}, {t}) -> ()'


def launch(
    kernel: str,
    *args: str,
    groups: str = "%two",
    shared: str = "",
    types: dict[str, str] | None = None,
) -> str:
    sizes = f"{groups}, %one, %one, %two, %one, %one"
    segments = f"array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, {len(shared) and 1}, {len(args)}, 0>"
    given = ", ".join((types or {}).get(arg, MEMREF) for arg in args)
    if shared:
        sizes, given = f"{sizes}, {shared}", f"i32, {given}"
    return (
        f'"gpu.launch_func"({sizes}, {", ".join(args)}) <{{kernel = @kernels::@{kernel}, '
        f"operandSegmentSizes = {segments}}}> : ({', '.join(['index'] * 6)}, {given}) -> ()"
    )


KERNEL_TEXT = """
"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (M, M, M) -> (), kernel}> ({
  ^bb0(%a: M, %b: M, %c: M):
    %i = "gpu.global_id"() <{dimension = #gpu<dim x>}> : () -> index
    %x = memref.load %a[%i] : M
    %y = memref.load %b[%i] : M
    %s = arith.addf %x, %y : f32
    memref.store %s, %c[%i] : M
    "gpu.return"() : () -> ()
  }) {sym_name = "add"} : () -> ()
  "gpu.func"() <{function_type = (M, index, f32, M) -> (), kernel}> ({
  ^bb0(%a: M, %n: index, %f: f32, %c: M):
    %i = "gpu.global_id"() <{dimension = #gpu<dim x>}> : () -> index
    %x = memref.load %a[%i] : M
    %j = arith.index_cast %n : index to i32
    %g = arith.sitofp %j : i32 to f32
    %y = arith.mulf %x, %g : f32
    %z = arith.mulf %y, %f : f32
    memref.store %z, %c[%i] : M
    "gpu.return"() : () -> ()
  }) {sym_name = "scale"} : () -> ()
}) {dlti.dl_spec = #dlti.dl_spec<index = 32 : i32>} : () -> ()
""".replace("M", MEMREF)


def plan(signature: str, *body: str, arena: bool = True) -> Plan:
    lines = "\n".join(body).replace("ALLOC", ALLOC)
    text = f"""
    builtin.module attributes {{gpu.container_module}} {{
      {KERNEL_TEXT}
      func.func @host{signature.replace("M", MEMREF)} {{
        %zero = arith.constant 0 : index
        %one = arith.constant 1 : index
        %two = arith.constant 2 : index
        {lines}
      }}
    }}"""
    module = parse_mlir(text, "plan.mlir")
    if arena:
        GpuArenaPass().apply(Context(), module)
    module.verify()
    return make_plan(module, "host")


def executable(p: Plan, device: td.Device, on_host: bool = True, queue: Any = None) -> Executable:
    queue = queue or queue_for(device)
    program = build_program(p.source, queue.context, opencl_device(device), ())
    built = {name: Built(program, name, b"") for name in KernelTexts.of(p.source).kernels}
    return Executable(p, built, state_of(queue), on_host)


def chain() -> Plan:
    """((A + B) + B) + B, and the second sum."""
    return plan(
        '(%A: M {tile.name = "A"}, %B: M {tile.name = "B"}) '
        '-> (M {tile.name = "O"}, M {tile.name = "P"})',
        "%x = ALLOC",
        launch("add", "%A", "%B", "%x"),
        "%p = ALLOC",
        launch("add", "%x", "%B", "%p"),
        free("%x"),
        "%y = ALLOC",
        launch("add", "%p", "%B", "%y"),
        "%o = ALLOC",
        launch("add", "%y", "%A", "%o"),
        free("%y"),
        f"func.return %o, %p : {MEMREF}, {MEMREF}",
    )


A, B = np.float32([1, 2, 3, 4]), np.float32([10, 20, 30, 40])


HALF = "memref<2xf32, strided<[1], offset: 2>, 1 : i32>"
ACROSS = "memref<2x2xf32, strided<[1, 2]>, 1 : i32>"
BYTES = "memref<32xi8, 1 : i32>"


def part(source: str, offset: int, t: str) -> str:
    return (
        f'"memref.reinterpret_cast"({source}) <{{static_offsets = array<i64: {offset}>, '
        "static_sizes = array<i64: 2>, static_strides = array<i64: 1>, "
        f"operandSegmentSizes = array<i32: 1, 0, 0, 0>}}> : ({MEMREF}) -> {t}"
    )
