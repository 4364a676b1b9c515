"""Kernels in upstream dialects, printed as OpenCL C and run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.dialects.gpu import ModuleOp
from xdsl.parser import Parser

from tiledialect.lowering.opencl.target import print_opencl
from tiledialect.lowering.runtime.device.queues import queue_for


def build_options(queue: cl.CommandQueue) -> str:
    """Oclgrind gets vectors of i1 wrong, which only LLVM's optimizer makes."""
    simulated = queue.device.platform.name == "Oclgrind"
    return "-cl-mad-enable -cl-opt-disable" if simulated else "-cl-mad-enable"


def own_cases(request: pytest.FixtureRequest, queue: cl.CommandQueue, name: str) -> list[Any]:
    """Values of a parameter in the tests that run on a queue."""
    calls = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    return [p[name] for p in calls if {"queue", name} <= {*p} and queue_for(p["queue"]) is queue]


NUMPY = {
    "i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "index": np.int64, "f16": np.float16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip


def parse(text: str, *, allow_unregistered: bool = False) -> ModuleOp:
    context = Context(allow_unregistered)
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
    module = Parser(context, text).parse_module()
    return next(op for op in module.walk() if isinstance(op, ModuleOp))


def gpu_module(*functions: str, index_bits: int = 64) -> str:
    body = "\n".join(functions)
    spec = f"{{dlti.dl_spec = #dlti.dl_spec<index = {index_bits} : i32>}}"
    return f'"gpu.module"() <{{sym_name = "kernels"}}> ({{\n{body}\n}}) {spec} : () -> ()'


def kernel(name: str, arguments: dict[str, str], body: str) -> str:
    types = ", ".join(arguments.values())
    block = ", ".join(f"%{n} : {t}" for n, t in arguments.items())
    return f"""\
"gpu.func"() <{{function_type = ({types}) -> (), kernel}}> ({{
^bb0({block}):
{body}
"gpu.return"() : () -> ()
}}) {{sym_name = "{name}"}} : () -> ()"""


def build(queue: cl.CommandQueue, text: str, *, verify: bool = True) -> cl.Program:
    module = parse(text)
    if verify:
        module.verify()
    return cl.Program(queue.context, print_opencl(module)).build(build_options(queue))


def launch(
    queue: cl.CommandQueue,
    program: cl.Program,
    name: str,
    arrays: list[np.ndarray],
    size: tuple[int, ...],
    local: tuple[int, ...] | None = None,
    scalars: Sequence[int] = (),
) -> list[np.ndarray]:
    """Run a kernel on copies of arrays, and on scalars of i32; returns what the arrays are
    after."""
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    copies = [np.ascontiguousarray(a) for a in arrays]
    buffers = [cl.Buffer(queue.context, flags, hostbuf=a) for a in copies]
    cl.Kernel(program, name)(queue, size, local, *buffers, *map(np.int32, scalars))
    results = [np.empty_like(a) for a in copies]
    for result, buffer in zip(results, buffers, strict=True):
        cl.enqueue_copy(queue, result, buffer)
    queue.finish()
    return results
