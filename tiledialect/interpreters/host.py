"""The reference semantics of host functions: they allocate, launch kernels, and return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects import arith, func, gpu, memref
from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp
from xdsl.ir import Operation, SSAValue

from tiledialect.dialects.tile.numeric import NUMPY_TYPES
from tiledialect.errors import TileError
from tiledialect.interpreters.lanes import dtype_of
from tiledialect.interpreters.nest import Buffer, Launch, run_kernel
from tiledialect.signature import find_function, kernels_of

Array = npt.NDArray[Any]


class Host:
    """A host function that is being run."""

    def __init__(self, module: ModuleOp):
        self.kernels = kernels_of(module)
        self.buffers: dict[SSAValue, Buffer] = {}
        self.numbers: dict[SSAValue, int] = {}

    def run(self, function: func.FuncOp) -> list[Buffer]:
        """What the function returns."""
        for op in function.body.block.ops:
            if isinstance(op, func.ReturnOp):
                return [self.buffers[v] for v in op.operands]
            if (run := OPS.get(type(op))) is None:
                raise TileError.at(op, f"the host cannot execute {op.name}")
            run(self, op)
        raise TileError.at(function, "the host function does not return")

    def constant(self, op: arith.ConstantOp) -> None:
        """A number."""
        assert isinstance(op.value, IntegerAttr)
        self.numbers[op.result] = op.value.value.data

    def allocate(self, op: gpu.AllocOp) -> None:
        """An array."""
        assert isinstance(op.result.type, MemRefType)
        self.buffers[op.result] = Buffer.new(op.result.type)

    def free(self, op: gpu.DeallocOp) -> None:
        """An array that is used no more, also by nobody who sees it in another shape."""
        gone = self.buffers[op.buffer].data
        self.buffers = {v: b for v, b in self.buffers.items() if b.data is not gone}

    def copy(self, op: gpu.MemcpyOp) -> None:
        """All elements of an array to another."""
        source, target = self.buffers[op.src], self.buffers[op.dst]
        target.data[:] = source.data
        target.written[:] = source.written

    def view(self, op: memref.ReinterpretCastOp | memref.CastOp) -> None:
        """The same array in another shape."""
        self.buffers[op.results[0]] = self.buffers[op.source]

    def part(self, op: memref.ViewOp) -> None:
        """A part of an array of bytes, in which nothing of this type is written yet."""
        assert isinstance(op.result.type, MemRefType)
        new = Buffer.new(op.result.type)
        start = self.numbers[op.byte_shift]
        data = self.buffers[op.source].data[start : start + new.data.nbytes]
        self.buffers[op.result] = Buffer(data.view(new.data.dtype), new.written)

    def launch(self, op: gpu.LaunchFuncOp) -> None:
        """A run of a kernel."""
        name = (op.kernel.root_reference.data, op.kernel.nested_references.data[0].data)
        grid, block = (
            tuple(self.numbers[v] for v in sizes)
            for sizes in (
                (op.gridSizeX, op.gridSizeY, op.gridSizeZ),
                (op.blockSizeX, op.blockSizeY, op.blockSizeZ),
            )
        )
        (a, b, c), (x, y, z) = grid, block
        given = [self.buffers.get(v, self.numbers.get(v)) for v in op.kernelOperands]
        run_kernel(
            self.kernels[name], Launch((a, b, c), (x, y, z)), [g for g in given if g is not None]
        )


OPS: dict[type[Operation], Callable[[Host, Any], None]] = {
    arith.ConstantOp: Host.constant,
    gpu.AllocOp: Host.allocate,
    gpu.DeallocOp: Host.free,
    gpu.MemcpyOp: Host.copy,
    gpu.LaunchFuncOp: Host.launch,
    memref.ReinterpretCastOp: Host.view,
    memref.CastOp: Host.view,
    memref.ViewOp: Host.part,
}


def run_host(module: ModuleOp, name: str | None, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """The results of a host function (``name`` None: the only one) of nests or kernels.

    Raises:
        TileError: there is no such function, or a kernel does what it must not.
    """
    hosts = [f for f in module.ops if isinstance(f, func.FuncOp)]
    function = find_function(module, name) if name is not None or len(hosts) != 1 else hosts[0]
    host = Host(module)
    for argument, array in zip(function.body.block.args, arrays, strict=True):
        assert isinstance(argument.type, MemRefType)
        data = np.ascontiguousarray(array).reshape(-1).view(dtype_of(argument.type.element_type))
        host.buffers[argument] = Buffer(data.copy(), np.ones(data.size, np.bool_))
    found = host.run(function)
    results: list[Array] = []
    for number, (buffer, t) in enumerate(zip(found, function.function_type.outputs, strict=True)):
        assert isinstance(t, MemRefType)
        if not buffer.written.all():
            raise TileError(
                f"element {int(np.argmin(buffer.written))} of result {number} is never written"
            )
        attributes = function.res_attrs.data[number].data if function.res_attrs else {}
        element_type = attributes.get("tile.element_type", t.element_type)
        results.append(buffer.data.view(NUMPY_TYPES[element_type]).reshape(t.get_shape()))
    return tuple(results)
