"""Building of plans from host functions of the kernel level."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from typing import Any

from xdsl.dialects import arith, func, gpu, memref, scf
from xdsl.dialects.builtin import (
    ArrayAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    i1,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, Use

from tiledialect.analysis.memory_updates import updates
from tiledialect.dialects.discardable import ELEMENT_TYPE, NAME
from tiledialect.errors import TileError
from tiledialect.ir.host_functions import (
    Kernels,
    check_launch,
    kernel_of,
)
from tiledialect.ir.host_memory import ALIASES, constant_array, globals_of, root
from tiledialect.ir.launch_labels import layers_of, part_of
from tiledialect.ir.names import given_name, op_name
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.signature import kernels_of
from tiledialect.lowering.host.buffer_offsets import parts_of
from tiledialect.lowering.opencl.function import ArgumentAccess, access
from tiledialect.lowering.opencl.target import Program, index_bits, kernel_functions
from tiledialect.lowering.runtime.program.host_buffers import HostBuffers, dtype_of, memref_type
from tiledialect.lowering.runtime.program.plan import (
    Branch,
    Command,
    Copy,
    Launch,
    Plan,
    Repeat,
    Scalar,
    Tensor,
    While,
)

Accesses = Callable[[gpu.FuncOp], Sequence[ArgumentAccess]]
"""Accesses of a kernel to the memory of each argument."""
Sizes = Callable[[gpu.FuncOp], Sequence[int]]
"""Values of the arguments of a kernel after those of its launches."""


def accesses_of(kernel: gpu.FuncOp) -> Sequence[ArgumentAccess]:
    """Accesses to the memory of each argument, by the kernel's ops."""
    module = kernel.parent_op()
    assert isinstance(module, gpu.ModuleOp)
    functions = kernel_functions(module)
    return [access(parameter, functions) for parameter in kernel.body.block.args]


def make_plan(module: ModuleOp, name: str) -> Plan:
    """The plan of the host function ``name`` of a module of the kernel level.

    Raises a TileError for ops that the host cannot run, and the printer's errors for its kernels.
    """
    program = Program()
    for op in module.ops:
        if isinstance(op, gpu.ModuleOp):
            program.add(op)
    return plan_of(module, name, program, accesses_of)


def plan_of(
    module: ModuleOp,
    name: str,
    program: Program,
    accesses: Accesses,
    sizes: Sizes = lambda kernel: (),
) -> Plan:
    """The plan of the host function ``name``, whose kernels are printed in a program."""
    host = None
    for op in module.ops:
        if isinstance(op, func.FuncOp) and op.sym_name.data == name:
            host = op
    if host is None or not host.body.blocks:
        raise TileError(f"the module has no host function {name}")
    source = program.text if program.functions else ""
    found = _Host(host, kernels_of(module), globals_of(module), accesses, sizes)
    return found.plan(source)


def _shares(numbers: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """Layers with their shares of a kernel's operations."""
    total = sum(numbers.values())
    return tuple((name, n / total) for name, n in numbers.items())


class _Host:
    """Builder of a plan from a host function's ops, in order."""

    def __init__(
        self,
        host: func.FuncOp,
        kernels: Kernels,
        arrays: Mapping[str, memref.GlobalOp],
        accesses: Accesses,
        size_arguments: Sizes,
    ):
        block, returned = host.body.block, host.body.block.last_op
        if not isinstance(returned, func.ReturnOp):
            raise TileError.at(host, "the host function does not return")
        self.host = host
        self.kernels = kernels
        self.accesses = accesses
        self.size_arguments = size_arguments
        self.returned_by = returned
        updated = updates(host)
        self.updated = {number: returned.operands[k] for k, number in updated.items()}
        """Values that inputs, by their numbers, have after a call."""
        self.inputs = self._tensors(host.arg_attrs, block.args, "arg")
        results = self._tensors(host.res_attrs, returned.operands, "res")
        kept = [k for k in range(len(results)) if k not in updated]
        self.returned = [returned.operands[k] for k in kept]
        self.outputs = tuple(results[k] for k in kept)
        self.first_output = len(self.inputs)
        uses = ops_of(block, memref.GetGlobalOp)
        self.arrays = {op.name_.root_reference.data: constant_array(op, arrays) for op in uses}
        """The constants of the module that are used, by name."""
        self.first_constant = len(self.inputs) + len(self.outputs)
        self.buffers = HostBuffers(
            host, returned, self.returned, self.first_output, self.first_constant + len(self.arrays)
        )
        self.numbers = self.buffers.numbers
        """The buffer that holds each memref."""
        self.constants: dict[SSAValue, int | float] = {}
        self.steps: list[Command] = []

    def plan(self, source: str) -> Plan:
        self._visit_all(self.host.body.block)
        for k, value in enumerate(self.returned):
            # What is an input, or returned twice, is copied, so that no output is an alias;
            # so is a part of a buffer.
            self._copy_result(self.first_output + k, value)
        for number, value in self.updated.items():
            # Outputs may be copies of inputs before.
            self._copy_result(number, value)
        buffers, steps = self.buffers, tuple(self.steps)
        sizes, slots = tuple(buffers.sizes), tuple(buffers.slots.values())
        names = tuple(buffers.largest.get(k, (0, ""))[1] for k in range(len(sizes)))
        kept = tuple(array.tobytes() for array in self.arrays.values())
        given = self.inputs, self.outputs, sizes, slots, steps, source
        updated = tuple(self.updated)
        return Plan(*given, largest=names, constants=kept, updated=updated)

    def _copy_result(self, number: int, value: SSAValue) -> None:
        """Copy a result to its buffer, unless it is there."""
        start, end = self.buffers.span(self.returned_by, value)
        if self.numbers[value] != number and start != end:
            self.steps.append(Copy(number, self.numbers[value], end - start, source_offset=start))

    def _tensors(
        self, attrs: ArrayAttr[Attribute] | None, values: Any, kind: str
    ) -> tuple[Tensor, ...]:
        entries = list(attrs) if attrs is not None else []
        found: list[Tensor] = []
        for k, value in enumerate(values):
            data: dict[str, Attribute] = getattr(entries[k], "data", {}) if entries else {}
            name = data.get(NAME)
            if not isinstance(name, StringAttr):
                name = StringAttr(given_name(value) or f"{kind}{k}")
            t = memref_type(self.host, value.type)
            dtype = dtype_of(self.host, data.get(ELEMENT_TYPE, t.element_type))
            found.append(Tensor(name.data, t.get_shape(), dtype))
        return tuple(found)

    def _visit_all(self, block: Block) -> None:
        for op in block.ops:
            self._visit(op)

    def _inner(self, region: Region) -> tuple[Command, ...]:
        """Commands of a region of a loop or branch."""
        outer, self.steps = self.steps, []
        for block in region.blocks:
            self._visit_all(block)
        steps, self.steps = tuple(self.steps), outer
        return steps

    def _visit(self, op: Operation) -> None:
        visit = VISITS.get(type(op))
        if visit is None:
            raise TileError.at(op, f"the host cannot execute {op_name(op)}")
        visit(self, op)

    def constant(self, op: arith.ConstantOp) -> None:
        if isinstance(op.value, IntegerAttr | FloatAttr):
            self.constants[op.result] = op.value.value.data
        else:
            raise TileError.at(op, "a constant of the host must be a number")

    def array(self, op: memref.GetGlobalOp) -> None:
        place = [*self.arrays].index(op.name_.root_reference.data)
        self.numbers[op.memref] = self.first_constant + place

    def alloc(self, op: gpu.AllocOp) -> None:
        self.buffers.alloc(op)

    def part(self, op: memref.ViewOp) -> None:
        self.buffers.part(op, self.constants.get(op.byte_shift))

    def alias(self, op: Operation) -> None:
        self.buffers.alias(op)

    def memcpy(self, op: gpu.MemcpyOp) -> None:
        target, source = self.numbers[op.dst], self.numbers[op.src]
        if isinstance(root(op.dst).owner, memref.GetGlobalOp):
            raise TileError.at(op, "a constant is copied to")
        to, end = self.buffers.span(op, op.dst)
        start, stop = self.buffers.span(op, op.src)
        if to == end or (target, to) == (source, start):
            return
        inside = to < stop and start < end
        if inside if target == source else self.buffers.overlap(target, source):
            raise TileError.at(op, "source and target of the copy overlap")
        self.steps.append(Copy(target, source, stop - start, to, start))

    def launch(self, op: gpu.LaunchFuncOp) -> None:
        if op.dynamicSharedMemorySize is not None:
            raise TileError.at(op, "the host has no dynamic workgroup memory")
        groups = [self._size(op, v) for v in (op.gridSizeX, op.gridSizeY, op.gridSizeZ)]
        x, y, z = (self._size(op, v) for v in (op.blockSizeX, op.blockSizeY, op.blockSizeZ))
        kernel = kernel_of(op, self.kernels)
        module = kernel.parent_op()
        assert isinstance(module, gpu.ModuleOp)
        check_launch(op, kernel, groups, (x, y, z))
        accesses = self.accesses(kernel)
        self._check_apart(op, accesses)
        # What writes no elements may have as many work-items as these would have rows.
        writes = any(a.writes for a in accesses)
        if 0 in (*groups, x, y, z) or not writes:
            return
        parts = parts_of(kernel)
        args: list[int | Scalar] = []
        for k, value in enumerate(op.kernelOperands):
            args.append(self._argument(op, value, index_bits(module)))
            start = self.buffers.start(value)
            if k in parts:
                args.append(Scalar("int64", start))
            elif start:
                raise TileError.at(op, f"{op.kernel} takes a whole buffer, not {value.type} in one")
        args += [Scalar(f"int{index_bits(module)}", n) for n in self.size_arguments(kernel)]
        sizes = (groups[0] * x, groups[1] * y, groups[2] * z), (x, y, z)
        labels = part_of(op), _shares(layers_of(op))
        self.steps.append(Launch(kernel.sym_name.data, *sizes, tuple(args), *labels))

    def _check_apart(self, op: gpu.LaunchFuncOp, accesses: Sequence[ArgumentAccess]) -> None:
        """Refuse a buffer given twice that the kernel writes."""
        written = [v for v, a in zip(op.kernelOperands, accesses, strict=True) if a.writes]
        if any(isinstance(root(value).owner, memref.GetGlobalOp) for value in written):
            raise TileError.at(op, f"{op.kernel} writes a constant")
        buffers = [
            (self.numbers[value], a.writes)
            for value, a in zip(op.kernelOperands, accesses, strict=True)
            if value in self.numbers
        ]
        pairs = permutations(buffers, 2)
        if any(
            writes and self.buffers.overlap(number, other) for (number, writes), (other, _) in pairs
        ):
            # The kernels' parameters are restrict.
            raise TileError.at(op, f"{op.kernel} writes a buffer that is given to it twice")

    def _size(self, op: Operation, value: SSAValue) -> int:
        size = self.constants.get(value)
        if not isinstance(size, int):
            raise TileError.at(op, "a launch needs constant sizes")
        return size

    def _argument(self, op: Operation, value: SSAValue, index_bits: int) -> int | Scalar:
        if value in self.numbers:
            self.buffers.check_reach(op, value)
            return self.numbers[value]
        if value not in self.constants:
            raise TileError.at(op, "a kernel's argument is neither a buffer nor a constant")
        integer = isinstance(value.type, IndexType)
        dtype = f"int{index_bits}" if integer else dtype_of(op, value.type)
        return Scalar(dtype, self.constants[value])

    def nothing(self, op: Operation) -> None:
        pass

    # -- loops and branches ----------------------------------------------------------------

    def read(self, op: memref.LoadOp) -> None:
        if op.indices or op.res.type != i1 or not all(map(_is_condition, op.res.uses)):
            raise TileError.at(op, "the host reads conditions of loops and branches alone")

    def _condition(self, value: SSAValue) -> int:
        """The buffer of a condition, which must be read where it is needed."""
        op = value.owner
        if not isinstance(op, memref.LoadOp):
            raise TileError.at(self.host, "a condition of the host must be read from memory")
        self.buffers.check_reach(op, op.memref)
        if self.buffers.span(op, op.memref)[0]:
            raise TileError.at(op, "a condition must be at the start of its buffer")
        return self.numbers[op.memref]

    def repeat(self, op: scf.ForOp) -> None:
        if op.iter_args:
            raise TileError.at(op, "loops of the host carry nothing but memory")
        lower, upper, step = (self._size(op, v) for v in (op.lb, op.ub, op.step))
        if op.body.block.args[0].uses or step < 1:
            raise TileError.at(op, "loops of the host count up, and their index has no use")
        steps, count = self._inner(op.body), len(range(lower, upper, step))
        if steps and count:
            self.steps.append(Repeat(count, steps))

    def loop(self, op: scf.WhileOp) -> None:
        test = op.before_region.block.last_op
        if op.arguments or op.res or not isinstance(test, scf.ConditionOp):
            raise TileError.at(op, "loops of the host carry nothing but memory")
        before = self._inner(op.before_region)
        condition = self._condition(test.condition)
        self.steps.append(While(before, condition, self._inner(op.after_region)))

    def branch(self, op: scf.IfOp) -> None:
        if op.output:
            raise TileError.at(op, "branches of the host give nothing but memory")
        condition = self._condition(op.cond)
        regions = self._inner(op.true_region), self._inner(op.false_region)
        self.steps.append(Branch(condition, *regions))


VISITS: dict[type[Operation], Callable[[_Host, Any], None]] = {
    arith.ConstantOp: _Host.constant,
    gpu.AllocOp: _Host.alloc,
    gpu.DeallocOp: _Host.nothing,
    gpu.LaunchFuncOp: _Host.launch,
    gpu.MemcpyOp: _Host.memcpy,
    memref.ViewOp: _Host.part,
    gpu.WaitOp: _Host.nothing,
    memref.GetGlobalOp: _Host.array,
    memref.LoadOp: _Host.read,
    scf.ForOp: _Host.repeat,
    scf.WhileOp: _Host.loop,
    scf.IfOp: _Host.branch,
    scf.YieldOp: _Host.nothing,
    scf.ConditionOp: _Host.nothing,
    func.ReturnOp: _Host.nothing,
    **dict.fromkeys(ALIASES, _Host.alias),
}


def _is_condition(use: Use) -> bool:
    """Whether a use decides about a loop or branch that follows at once."""
    op, read = use.operation, use.operation.operands[use.index].owner
    return isinstance(op, scf.ConditionOp | scf.IfOp) and op.prev_op is read
