"""Building of plans from host functions of the kernel level."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
from xdsl.dialects import arith, func, gpu, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnregisteredOp,
    i1,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, Use

from tiledialect.analysis.memory_updates import updates
from tiledialect.dialects.discardable import ELEMENT_TYPE, NAME
from tiledialect.dialects.tile.element_types import CONCRETE
from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES
from tiledialect.errors import TileError
from tiledialect.ir.host_functions import (
    Kernels,
    check_launch,
    is_dense,
    kernel_of,
    reach,
)
from tiledialect.ir.host_memory import ALIASES, constant_array, globals_of, nbytes, root, whole
from tiledialect.ir.launch_labels import layers_of, part_of
from tiledialect.ir.names import given_name
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.signature import kernels_of
from tiledialect.lowering.host.buffer_offsets import parts_of
from tiledialect.lowering.opencl.function import ArgumentAccess, access
from tiledialect.lowering.opencl.target import Program, index_bits, kernel_functions
from tiledialect.lowering.runtime.program.plan import (
    Branch,
    Command,
    Copy,
    Launch,
    Plan,
    Repeat,
    Scalar,
    Slot,
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
            raise _unsupported(host, "the host function does not return")
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
        self.first_slot = self.first_constant + len(self.arrays)
        self.owned = self._owned()
        self.numbers: dict[SSAValue, int] = {arg: k for k, arg in enumerate(block.args)}
        """The buffer that holds each memref."""
        self.constants: dict[SSAValue, int | float] = {}
        self.allocations: dict[SSAValue, int] = {}
        """The number of each allocation that is no output."""
        self.sizes: list[int] = []
        """The sizes in bytes of these."""
        self.largest: dict[int, tuple[int, str]] = {}
        """The size and name of the largest intermediate in each."""
        self.slots: dict[int, Slot] = {}
        """The parts of allocations, by number."""
        self.slot_numbers: dict[Slot, int] = {}
        """Numbers of the slots."""
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
        sizes, slots, steps = tuple(self.sizes), tuple(self.slots.values()), tuple(self.steps)
        names = tuple(self.largest.get(k, (0, ""))[1] for k in range(len(sizes)))
        kept = tuple(array.tobytes() for array in self.arrays.values())
        given = self.inputs, self.outputs, sizes, slots, steps, source
        updated = tuple(self.updated)
        return Plan(*given, largest=names, constants=kept, updated=updated)

    def _copy_result(self, number: int, value: SSAValue) -> None:
        """Copy a result to its buffer, unless it is there."""
        start, end = self._span(self.returned_by, value)
        if self.numbers[value] != number and start != end:
            self.steps.append(Copy(number, self.numbers[value], end - start, source_offset=start))

    def _owned(self) -> dict[SSAValue, int]:
        """The allocations that are outputs as they are, with the numbers of these."""
        owned: dict[SSAValue, int] = {}
        for k, value in enumerate(self.returned):
            source = whole(root(value))
            if source is not None and isinstance(source.owner, gpu.AllocOp):
                all_bytes = 0, _nbytes(source.owner, source)
                if self._span(self.returned_by, value) == all_bytes:
                    owned.setdefault(source, self.first_output + k)
        return owned

    def _span(self, op: Operation, value: SSAValue) -> tuple[int, int]:
        """First and last byte of a memref in its buffer; the memref must have no gaps."""
        t = _memref(op, value.type)
        offset = t.get_offset()
        if offset is None or not is_dense(t):
            raise _unsupported(op, f"the host needs memrefs without gaps at known places, not {t}")
        start = offset * np.dtype(_dtype(op, t.element_type)).itemsize
        end = start + _nbytes(op, value)
        source = root(value)
        if start < 0 or end > _nbytes(op, source):
            raise _unsupported(op, f"the view {t} reaches beyond its buffer, {source.type}")
        return start, end

    def _check_reach(self, op: Operation, value: SSAValue) -> None:
        """Refuse a memref that is not within its buffer; a cast may leave sizes open."""
        t = value.type
        assert isinstance(t, MemRefType)
        if not t.has_static_shape():
            return
        found, size = reach(t), _nbytes(op, root(value))
        itemsize = np.dtype(_dtype(op, t.element_type)).itemsize
        if found is None:
            raise _unsupported(op, f"the host needs memrefs at known places, not {t}")
        if found[0] < 0 or found[1] * itemsize > size:
            raise _unsupported(op, f"{t} reaches beyond its buffer, {root(value).type}")

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
            t = _memref(self.host, value.type)
            dtype = _dtype(self.host, data.get(ELEMENT_TYPE, t.element_type))
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
            name = op.op_name.data if isinstance(op, UnregisteredOp) else op.name
            raise _unsupported(op, f"the host cannot execute {name}")
        visit(self, op)

    def constant(self, op: arith.ConstantOp) -> None:
        if isinstance(op.value, IntegerAttr | FloatAttr):
            self.constants[op.result] = op.value.value.data
        else:
            raise _unsupported(op, "a constant of the host must be a number")

    def array(self, op: memref.GetGlobalOp) -> None:
        place = [*self.arrays].index(op.name_.root_reference.data)
        self.numbers[op.memref] = self.first_constant + place

    def alloc(self, op: gpu.AllocOp) -> None:
        if op.result in self.owned:
            self.numbers[op.result] = self.owned[op.result]
            return
        number, size = len(self.sizes), _nbytes(op, op.result)
        self.allocations[op.result] = number
        self.sizes.append(size)
        if not all(isinstance(use.operation, WITHIN) for use in op.result.uses):
            self.numbers[op.result] = self._slot(number, 0, size, op.result)

    def part(self, op: memref.ViewOp) -> None:
        allocation, output = self.allocations.get(op.source), self.owned.get(op.source)
        if output is not None:
            allocation = -1 - (output - self.first_output)
        offset, size = self.constants.get(op.byte_shift), _nbytes(op, op.result)
        if allocation is None or not isinstance(offset, int):
            raise _unsupported(op, "the host needs views of allocations at known places")
        if offset < 0 or offset + size > _nbytes(op, op.source):
            t = op.result.type
            raise _unsupported(op, f"the view {t} reaches beyond its buffer, {op.source.type}")
        if output is not None and size == _nbytes(op, op.source):
            self.numbers[op.result] = output
            return
        self.numbers[op.result] = self._slot(allocation, offset, size, op.result)

    def _slot(self, allocation: int, offset: int, size: int, value: SSAValue) -> int:
        if size > self.largest.get(allocation, (0, ""))[0]:
            self.largest[allocation] = size, value.name_hint or ""
        slot = Slot(allocation, offset, size)
        number = self.slot_numbers.setdefault(slot, self.first_slot + len(self.slots))
        self.slots[number] = slot
        return number

    def _overlap(self, a: int, b: int) -> bool:
        """Whether the buffers of these numbers have memory in common."""
        one, other = self.slots.get(a), self.slots.get(b)
        if one and other:
            return one.overlaps(other)
        # A part of an output is in all of it.
        parts = ((one, b), (other, a))
        return a == b or any(s and s.output == k - self.first_output for s, k in parts)

    def alias(self, op: Operation) -> None:
        if isinstance(op, memref.ReinterpretCastOp):
            t = _memref(op, op.result.type)
            strides, offset = t.get_strides(), t.get_offset()
            written = list(op.static_strides.get_values()), list(op.static_offsets.get_values())
            if written != (list(strides or ()), [offset]):
                raise _unsupported(op, f"offset and strides differ from the type, {t}")
        self.numbers[op.results[0]] = self.numbers[op.operands[0]]

    def memcpy(self, op: gpu.MemcpyOp) -> None:
        target, source = self.numbers[op.dst], self.numbers[op.src]
        if isinstance(root(op.dst).owner, memref.GetGlobalOp):
            raise _unsupported(op, "a constant is copied to")
        to, end = self._span(op, op.dst)
        start, stop = self._span(op, op.src)
        if to == end or (target, to) == (source, start):
            return
        inside = to < stop and start < end
        if inside if target == source else self._overlap(target, source):
            raise _unsupported(op, "source and target of the copy overlap")
        self.steps.append(Copy(target, source, stop - start, to, start))

    def launch(self, op: gpu.LaunchFuncOp) -> None:
        if op.dynamicSharedMemorySize is not None:
            raise _unsupported(op, "the host has no dynamic workgroup memory")
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
            start = self._start(value)
            if k in parts:
                args.append(Scalar("int64", start))
            elif start:
                raise _unsupported(op, f"{op.kernel} takes a whole buffer, not {value.type} in one")
        args += [Scalar(f"int{index_bits(module)}", n) for n in self.size_arguments(kernel)]
        sizes = (groups[0] * x, groups[1] * y, groups[2] * z), (x, y, z)
        labels = part_of(op), _shares(layers_of(op))
        self.steps.append(Launch(kernel.sym_name.data, *sizes, tuple(args), *labels))

    def _check_apart(self, op: gpu.LaunchFuncOp, accesses: Sequence[ArgumentAccess]) -> None:
        """Refuse a buffer given twice that the kernel writes."""
        written = [v for v, a in zip(op.kernelOperands, accesses, strict=True) if a.writes]
        if any(isinstance(root(value).owner, memref.GetGlobalOp) for value in written):
            raise _unsupported(op, f"{op.kernel} writes a constant")
        buffers = [
            (self.numbers[value], a.writes)
            for value, a in zip(op.kernelOperands, accesses, strict=True)
            if value in self.numbers
        ]
        pairs = permutations(buffers, 2)
        if any(writes and self._overlap(number, other) for (number, writes), (other, _) in pairs):
            # The kernels' parameters are restrict.
            raise _unsupported(op, f"{op.kernel} writes a buffer that is given to it twice")

    def _start(self, value: SSAValue) -> int:
        """Offset of a buffer in its allocation, in elements."""
        slot = self.slots.get(self.numbers.get(value, 0))
        if slot is None:
            return 0
        t = value.type
        assert isinstance(t, MemRefType)
        start, rest = divmod(slot.offset, np.dtype(_dtype(self.host, t.element_type)).itemsize)
        if rest:
            reason = f"byte {slot.offset} is not the start of an element of {t}"
            raise _unsupported(self.host, reason)
        return start

    def _size(self, op: Operation, value: SSAValue) -> int:
        size = self.constants.get(value)
        if not isinstance(size, int):
            raise _unsupported(op, "a launch needs constant sizes")
        return size

    def _argument(self, op: Operation, value: SSAValue, index_bits: int) -> int | Scalar:
        if value in self.numbers:
            self._check_reach(op, value)
            return self.numbers[value]
        if value not in self.constants:
            raise _unsupported(op, "a kernel's argument is neither a buffer nor a constant")
        integer = isinstance(value.type, IndexType)
        dtype = f"int{index_bits}" if integer else _dtype(op, value.type)
        return Scalar(dtype, self.constants[value])

    def nothing(self, op: Operation) -> None:
        pass

    # -- loops and branches ----------------------------------------------------------------

    def read(self, op: memref.LoadOp) -> None:
        if op.indices or op.res.type != i1 or not all(map(_is_condition, op.res.uses)):
            raise _unsupported(op, "the host reads conditions of loops and branches alone")

    def _condition(self, value: SSAValue) -> int:
        """The buffer of a condition, which must be read where it is needed."""
        op = value.owner
        if not isinstance(op, memref.LoadOp):
            raise _unsupported(self.host, "a condition of the host must be read from memory")
        self._check_reach(op, op.memref)
        if self._span(op, op.memref)[0]:
            raise _unsupported(op, "a condition must be at the start of its buffer")
        return self.numbers[op.memref]

    def repeat(self, op: scf.ForOp) -> None:
        if op.iter_args:
            raise _unsupported(op, "loops of the host carry nothing but memory")
        lower, upper, step = (self._size(op, v) for v in (op.lb, op.ub, op.step))
        if op.body.block.args[0].uses or step < 1:
            raise _unsupported(op, "loops of the host count up, and their index has no use")
        steps, count = self._inner(op.body), len(range(lower, upper, step))
        if steps and count:
            self.steps.append(Repeat(count, steps))

    def loop(self, op: scf.WhileOp) -> None:
        test = op.before_region.block.last_op
        if op.arguments or op.res or not isinstance(test, scf.ConditionOp):
            raise _unsupported(op, "loops of the host carry nothing but memory")
        before = self._inner(op.before_region)
        condition = self._condition(test.condition)
        self.steps.append(While(before, condition, self._inner(op.after_region)))

    def branch(self, op: scf.IfOp) -> None:
        if op.output:
            raise _unsupported(op, "branches of the host give nothing but memory")
        condition = self._condition(op.cond)
        regions = self._inner(op.true_region), self._inner(op.false_region)
        self.steps.append(Branch(condition, *regions))


WITHIN = (memref.ViewOp, gpu.DeallocOp)
"""Ops on an allocation of which parts alone are used."""

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


def _memref(op: Operation, t: Attribute) -> MemRefType[Attribute]:
    if not isinstance(t, MemRefType) or DYNAMIC_INDEX in t.get_shape():
        raise _unsupported(op, f"the host needs memrefs of static shape, not {t}")
    return t


def _nbytes(op: Operation, value: SSAValue) -> int:
    t = _memref(op, value.type)
    _dtype(op, t.element_type)
    if not is_dense(t):
        raise _unsupported(op, f"the host has no arrays with gaps, as {t}")
    return nbytes(t)


def _dtype(op: Operation, t: Attribute) -> str:
    if t not in CONCRETE.values():
        raise _unsupported(op, f"the host has no arrays of {t}")
    return NUMPY_TYPES[t].name


def _unsupported(op: Operation, reason: str) -> TileError:
    return TileError.at(op, reason)
