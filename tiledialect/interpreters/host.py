"""The reference semantics of host functions: they allocate, launch kernels, and return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects import arith, func, gpu, memref, scf
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from tiledialect.dialects.discardable import ELEMENT_TYPE
from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES
from tiledialect.errors import TileError
from tiledialect.interpreters.lanes import compute, dtype_of
from tiledialect.interpreters.nest import Buffer, Launch, run_kernel
from tiledialect.ir.host_functions import check_launch, is_dense, kernel_of, reach
from tiledialect.ir.host_memory import constant_array, globals_of
from tiledialect.ir.signature import find_function, kernels_of, result_names

Array = npt.NDArray[Any]


MOST_ITEMS = 1 << 24
"""The work-items that are run together: the memory for their values must be there."""


class Host:
    """A host function that is being run."""

    def __init__(self, module: ModuleOp):
        self.kernels = kernels_of(module)
        self.globals = globals_of(module)
        self.buffers: dict[SSAValue, Buffer] = {}
        """The whole array behind each memref."""
        self.numbers: dict[SSAValue, Array] = {}

    def run(self, function: func.FuncOp) -> list[Buffer]:
        """Run a function; the buffers that it returns."""
        end = self.run_block(function.body.block)
        if not isinstance(end, func.ReturnOp):
            raise TileError.at(function, "the host function does not return")
        return [self.dense(end, v) for v in end.operands]

    def run_block(self, block: Block) -> Operation | None:
        """Run the ops of a block but the last, which is the result."""
        for op in block.ops:
            if op.has_trait(IsTerminator):
                return op
            if (run := OPS.get(type(op))) is None:
                raise TileError.at(op, f"the host cannot execute {op.name}")
            run(self, op)
        return None

    def buffer(self, op: Operation, value: SSAValue) -> Buffer:
        """The whole array behind a memref that an op takes."""
        if value not in self.buffers:
            raise TileError.at(op, f"{op.name} uses an array that is freed, or not of the host")
        return self.buffers[value]

    def elements(self, op: Operation, value: SSAValue) -> Buffer:
        """The elements of a memref: the part of its array that it reaches."""
        whole, t = self.buffer(op, value), value.type
        assert isinstance(t, MemRefType)
        if not t.has_static_shape():
            return whole
        if (found := reach(t)) is None:
            raise TileError.at(op, f"the host needs memrefs at known places, not {t}")
        start, end = found
        if start < 0 or end > whole.data.size:
            raise TileError.at(op, f"{t} reaches beyond its buffer of {whole.data.size} elements")
        return Buffer(whole.data[start:end], whole.written[start:end])

    def dense(self, op: Operation, value: SSAValue) -> Buffer:
        """The elements of a memref without gaps."""
        t = value.type
        assert isinstance(t, MemRefType)
        if not is_dense(t):
            raise TileError.at(op, f"the host needs memrefs without gaps here, not {t}")
        return self.elements(op, value)

    def size(self, op: Operation, value: SSAValue) -> int:
        """A number that an op takes."""
        if value not in self.numbers:
            raise TileError.at(op, f"{op.name} needs constant sizes")
        return int(self.numbers[value][0])

    def constant(self, op: arith.ConstantOp) -> None:
        """A number."""
        (self.numbers[op.result],) = compute(op, [])

    def allocate(self, op: gpu.AllocOp) -> None:
        """An array."""
        assert isinstance(op.result.type, MemRefType)
        self.buffers[op.result] = Buffer.new(op.result.type)

    def constant_array(self, op: memref.GetGlobalOp) -> None:
        """An array of the module."""
        data = constant_array(op, self.globals).reshape(-1)
        storage = dtype_of(op.memref.type.element_type)
        self.buffers[op.memref] = Buffer(data.view(storage), np.ones(data.size, np.bool_))

    def free(self, op: gpu.DeallocOp) -> None:
        """An array that is used no more, also by nobody who sees it in another shape."""
        gone = self.buffer(op, op.buffer).data
        kept = {v: b for v, b in self.buffers.items() if not np.may_share_memory(b.data, gone)}
        self.buffers = kept

    def copy(self, op: gpu.MemcpyOp) -> None:
        """All elements of an array to another."""
        source, target = self.dense(op, op.src), self.dense(op, op.dst)
        if source.data.dtype != target.data.dtype or source.data.size != target.data.size:
            raise TileError.at(op, f"{op.src.type} cannot be copied to {op.dst.type}")
        target.data[:] = source.data
        target.written[:] = source.written

    def view(self, op: Operation) -> None:
        """The same array in another shape, or a part of it."""
        self.buffers[op.results[0]] = self.buffer(op, op.operands[0])

    def nothing(self, op: Operation) -> None:
        """Do nothing: each op ends before the next begins."""

    def part(self, op: memref.ViewOp) -> None:
        """A part of an array of bytes, in which nothing of this type is written yet."""
        assert isinstance(op.result.type, MemRefType)
        new = Buffer.new(op.result.type)
        start, whole = self.size(op, op.byte_shift), self.buffer(op, op.source).data
        data = whole[start : start + new.data.nbytes]
        if start < 0 or len(data) < new.data.nbytes:
            raise TileError.at(op, f"{op.result.type} reaches beyond its buffer, {op.source.type}")
        self.buffers[op.result] = Buffer(data.view(new.data.dtype), new.written)

    def read(self, op: memref.LoadOp) -> None:
        """An element of an array without axes."""
        if op.indices:
            raise TileError.at(op, "the host reads arrays without axes alone")
        data = self.elements(op, op.memref)
        if not data.written.all():
            raise TileError.at(op, "the host reads what was never written")
        self.numbers[op.res] = data.data[:1]

    def repeat(self, op: scf.ForOp) -> None:
        """A loop that carries nothing."""
        lower, upper, step = (self.size(op, v) for v in (op.lb, op.ub, op.step))
        block = op.body.block
        for k in range(lower, upper, step):
            self.numbers[block.args[0]] = np.array([k])
            self.run_block(block)

    def loop(self, op: scf.WhileOp) -> None:
        """A loop that ends by a condition, and carries nothing."""
        while True:
            test = self.run_block(op.before_region.block)
            assert isinstance(test, scf.ConditionOp)
            if not self.size(test, test.condition):
                return
            self.run_block(op.after_region.block)

    def branch(self, op: scf.IfOp) -> None:
        """Run one of two regions."""
        region = op.true_region if self.size(op, op.cond) else op.false_region
        for block in region.blocks:
            self.run_block(block)

    def launch(self, op: gpu.LaunchFuncOp) -> None:
        """A run of a kernel."""
        kernel = kernel_of(op, self.kernels)
        a, b, c = (self.size(op, v) for v in (op.gridSizeX, op.gridSizeY, op.gridSizeZ))
        x, y, z = (self.size(op, v) for v in (op.blockSizeX, op.blockSizeY, op.blockSizeZ))
        check_launch(op, kernel, (a, b, c), (x, y, z))
        given = [
            self.elements(op, v) if isinstance(v.type, MemRefType) else self.numbers[v]
            for v in op.kernelOperands
        ]
        launch = Launch((a, b, c), (x, y, z))
        if launch.items > MOST_ITEMS:
            reason = f"{launch.items} work-items are too many for the reference semantics"
            raise TileError.at(op, f"{reason}, which run them together")
        run_kernel(kernel, launch, given)


OPS: dict[type[Operation], Callable[[Host, Any], None]] = {
    arith.ConstantOp: Host.constant,
    gpu.AllocOp: Host.allocate,
    gpu.DeallocOp: Host.free,
    gpu.MemcpyOp: Host.copy,
    gpu.LaunchFuncOp: Host.launch,
    memref.ReinterpretCastOp: Host.view,
    memref.CastOp: Host.view,
    memref.CollapseShapeOp: Host.view,
    memref.ExpandShapeOp: Host.view,
    memref.ViewOp: Host.part,
    memref.GetGlobalOp: Host.constant_array,
    gpu.WaitOp: Host.nothing,
    memref.LoadOp: Host.read,
    scf.ForOp: Host.repeat,
    scf.WhileOp: Host.loop,
    scf.IfOp: Host.branch,
}


def run_host(module: ModuleOp, name: str | None, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """The results of a host function (``name`` None: the only one) of nests or kernels.

    Raises:
        TileError: there is no such function, or a kernel makes a forbidden access.
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
    names, types = result_names(function), function.function_type.outputs
    for number, (name, buffer, t) in enumerate(zip(names, found, types, strict=True)):
        assert isinstance(t, MemRefType)
        if not buffer.written.all():
            raise TileError(f"element {int(np.argmin(buffer.written))} of {name} is never written")
        attributes = function.res_attrs.data[number].data if function.res_attrs else {}
        element_type = attributes.get(ELEMENT_TYPE, t.element_type)
        results.append(buffer.data.view(NUMPY_TYPES[element_type]).reshape(t.get_shape()))
    return tuple(results)
