"""Plans: what a host function of level 4 makes the device do, resolved ahead of every call.

A plan is plain data, so that it can be kept on disk. Its buffers have numbers: first the inputs,
then the outputs, then the slots, which hold the intermediates. Intermediates that do not live at
the same time share a slot: the commands run in order.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects import arith, func, gpu, memref
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
)
from xdsl.dialects.dlti import DataLayoutSpecAttr
from xdsl.ir import Attribute, Operation, SSAValue

from tiledialect.dialects.tile.element_types import CONCRETE
from tiledialect.dialects.tile.numeric import NUMPY_TYPES
from tiledialect.errors import TileError


@dataclass(frozen=True)
class Tensor:
    """An input or output."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    """The NumPy name of the element type: ``float32``."""

    @property
    def nbytes(self) -> int:
        """The size in bytes."""
        return prod(self.shape) * np.dtype(self.dtype).itemsize

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}{list(self.shape)}"


@dataclass(frozen=True)
class Scalar:
    """A number given to a kernel."""

    dtype: str
    value: int | float


@dataclass(frozen=True)
class Launch:
    """A kernel over a range of work-items; an argument is a scalar or a buffer's number."""

    kernel: str
    global_size: tuple[int, int, int]
    local_size: tuple[int, int, int]
    args: tuple[int | Scalar, ...]


@dataclass(frozen=True)
class Copy:
    """The first ``nbytes`` bytes of one buffer to another."""

    target: int
    source: int
    nbytes: int


Step = Launch | Copy


@dataclass(frozen=True)
class Plan:
    """What a call does on the device."""

    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    slots: tuple[int, ...]
    """The sizes in bytes of the buffers for intermediates."""
    steps: tuple[Step, ...]
    source: str
    """The OpenCL C text of the kernels."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """The size in bytes of every buffer."""
        return (*(t.nbytes for t in self.inputs), *(t.nbytes for t in self.outputs), *self.slots)

    @property
    def peak_memory(self) -> int:
        """The bytes of device memory that a call holds: inputs, outputs and intermediates."""
        return sum(self.sizes)

    def to_json(self) -> str:
        """The plan as JSON text."""
        kinds = [type(step).__name__ for step in self.steps]
        return json.dumps({**asdict(self), "kinds": kinds})

    @staticmethod
    def from_json(text: str) -> Plan:
        """The plan that ``to_json`` wrote; ValueError, KeyError or TypeError if it did not."""
        data = json.loads(text)
        return Plan(
            inputs=tuple(_tensor(t) for t in data["inputs"]),
            outputs=tuple(_tensor(t) for t in data["outputs"]),
            slots=tuple(int(size) for size in data["slots"]),
            steps=tuple(
                STEP_READERS[kind](step)
                for kind, step in zip(data["kinds"], data["steps"], strict=True)
            ),
            source=str(data["source"]),
        )


def _tensor(data: dict[str, Any]) -> Tensor:
    return Tensor(data["name"], tuple(data["shape"]), data["dtype"])


def _launch(data: dict[str, Any]) -> Launch:
    args = (Scalar(**arg) if isinstance(arg, dict) else int(arg) for arg in data["args"])
    x, y, z = data["global_size"]
    i, j, k = data["local_size"]
    return Launch(data["kernel"], (x, y, z), (i, j, k), tuple(args))


STEP_READERS: dict[str, Callable[[dict[str, Any]], Step]] = {
    "Launch": _launch,
    "Copy": lambda data: Copy(**data),
}


# -- from level 4 ----------------------------------------------------------------------------


def make_plan(module: ModuleOp, name: str, share: bool = True) -> Plan:
    """The plan of the host function ``name`` of a module of level 4.

    Without ``share`` each intermediate has a slot of its own.
    Raises a TileError for what the host cannot do, and the printer's for its kernels.
    """
    from tiledialect.lowering.opencl.target import Program

    program = Program()
    bits: dict[str, int] = {}
    host = None
    for op in module.ops:
        if isinstance(op, gpu.ModuleOp):
            program.add(op)
            bits[op.sym_name.data] = _index_bits(op)
        elif isinstance(op, func.FuncOp) and op.sym_name.data == name:
            host = op
    if host is None or not host.body.blocks:
        raise TileError(f"there is no host function {name} here")
    source = program.text if program.functions else ""
    return _Host(host, bits, share).plan(source)


def _index_bits(module: gpu.ModuleOp) -> int:
    spec = module.attributes.get("dlti.dl_spec")
    for entry in spec.entries if isinstance(spec, DataLayoutSpecAttr) else ():
        if isinstance(entry.key, IndexType) and isinstance(entry.value, IntegerAttr):
            return entry.value.value.data
    return 64


class _Slots:
    """Slots for intermediates: a free one that fits best, else the largest free one grows."""

    def __init__(self):
        self.sizes: list[int] = []
        self.free: set[int] = set()

    def take(self, size: int) -> int:
        fitting = [k for k in self.free if self.sizes[k] >= size]
        if fitting:
            slot = min(fitting, key=lambda k: (self.sizes[k], k))
        elif self.free:
            slot = max(self.free, key=lambda k: (self.sizes[k], k))
            self.sizes[slot] = size
        else:
            slot = len(self.sizes)
            self.sizes.append(size)
        self.free.discard(slot)
        return slot


class _Host:
    """Goes through a host function's ops in order."""

    def __init__(self, host: func.FuncOp, index_bits: dict[str, int], share: bool):
        block, returned = host.body.block, host.body.block.last_op
        if not isinstance(returned, func.ReturnOp):
            raise _unsupported(host, "the host function does not return")
        self.host = host
        self.share = share
        self.index_bits = index_bits
        self.returned = returned.operands
        self.inputs = self._tensors(host.arg_attrs, block.args, "arg")
        self.outputs = self._tensors(host.res_attrs, returned.operands, "res")
        self.first_output = len(self.inputs)
        self.first_slot = len(self.inputs) + len(self.outputs)
        self.owned = self._owned()
        self.numbers: dict[SSAValue, int] = {arg: k for k, arg in enumerate(block.args)}
        """The buffer that holds each memref."""
        self.constants: dict[SSAValue, int | float] = {}
        self.slots = _Slots()
        self.steps: list[Step] = []

    def plan(self, source: str) -> Plan:
        for op in self.host.body.block.ops:
            self._visit(op)
        for k, (value, tensor) in enumerate(zip(self.returned, self.outputs, strict=True)):
            number = self.first_output + k
            if self.numbers[value] != number and tensor.nbytes:
                # What is an input, or returned twice, is copied, so that no output is an alias.
                self.steps.append(Copy(number, self.numbers[value], tensor.nbytes))
        slots, steps = tuple(self.slots.sizes), tuple(self.steps)
        return Plan(self.inputs, self.outputs, slots, steps, source)

    def _owned(self) -> dict[SSAValue, int]:
        """The allocations that are outputs, with the numbers of these."""
        owned: dict[SSAValue, int] = {}
        for k, value in enumerate(self.returned):
            root = _root(value)
            if isinstance(root.owner, gpu.AllocOp):
                owned.setdefault(root, self.first_output + k)
        return owned

    def _tensors(
        self, attrs: ArrayAttr[Attribute] | None, values: Any, kind: str
    ) -> tuple[Tensor, ...]:
        entries = list(attrs) if attrs is not None else []
        found: list[Tensor] = []
        for k, value in enumerate(values):
            data: dict[str, Attribute] = getattr(entries[k], "data", {}) if entries else {}
            name = data.get("tile.name")
            if not isinstance(name, StringAttr):
                name = StringAttr(value.name_hint or f"{kind}{k}")
            t = _memref(self.host, value.type)
            dtype = _dtype(self.host, data.get("tile.element_type", t.element_type))
            found.append(Tensor(name.data, t.get_shape(), dtype))
        return tuple(found)

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

    def alloc(self, op: gpu.AllocOp) -> None:
        if op.result in self.owned:
            self.numbers[op.result] = self.owned[op.result]
            return
        t = _memref(op, op.result.type)
        size = prod(t.get_shape()) * np.dtype(_dtype(op, t.element_type)).itemsize
        self.numbers[op.result] = self.first_slot + self.slots.take(size)

    def dealloc(self, op: gpu.DeallocOp) -> None:
        number = self.numbers[op.buffer]
        if number >= self.first_slot and self.share:
            self.slots.free.add(number - self.first_slot)

    def alias(self, op: Operation) -> None:
        self.numbers[op.results[0]] = self.numbers[op.operands[0]]

    def memcpy(self, op: gpu.MemcpyOp) -> None:
        t = _memref(op, op.src.type)
        nbytes = prod(t.get_shape()) * np.dtype(_dtype(op, t.element_type)).itemsize
        target, source = self.numbers[op.dst], self.numbers[op.src]
        if nbytes and target != source:
            self.steps.append(Copy(target, source, nbytes))

    def launch(self, op: gpu.LaunchFuncOp) -> None:
        if op.dynamicSharedMemorySize is not None:
            raise _unsupported(op, "the host has no dynamic workgroup memory")
        groups = [self._size(v) for v in (op.gridSizeX, op.gridSizeY, op.gridSizeZ)]
        x, y, z = (self._size(v) for v in (op.blockSizeX, op.blockSizeY, op.blockSizeZ))
        if 0 in (*groups, x, y, z):
            return
        path = [s.data for s in (op.kernel.root_reference, *op.kernel.nested_references)]
        args = tuple(self._argument(op, v, self.index_bits[path[0]]) for v in op.kernelOperands)
        global_size = (groups[0] * x, groups[1] * y, groups[2] * z)
        self.steps.append(Launch(path[-1], global_size, (x, y, z), args))

    def _size(self, value: SSAValue) -> int:
        size = self.constants.get(value)
        if not isinstance(size, int) or size < 0:
            raise _unsupported(self.host, "a launch needs constant sizes")
        return size

    def _argument(self, op: Operation, value: SSAValue, index_bits: int) -> int | Scalar:
        if value in self.numbers:
            return self.numbers[value]
        if value not in self.constants:
            raise _unsupported(op, "a kernel's argument is neither a buffer nor a constant")
        integer = isinstance(value.type, IndexType)
        dtype = f"int{index_bits}" if integer else _dtype(op, value.type)
        return Scalar(dtype, self.constants[value])

    def nothing(self, op: Operation) -> None:
        pass


ALIASES = (memref.ReinterpretCastOp, memref.CastOp, memref.CollapseShapeOp, memref.ExpandShapeOp)

VISITS: dict[type[Operation], Callable[[_Host, Any], None]] = {
    arith.ConstantOp: _Host.constant,
    gpu.AllocOp: _Host.alloc,
    gpu.DeallocOp: _Host.dealloc,
    gpu.LaunchFuncOp: _Host.launch,
    gpu.MemcpyOp: _Host.memcpy,
    gpu.WaitOp: _Host.nothing,
    func.ReturnOp: _Host.nothing,
    **dict.fromkeys(ALIASES, _Host.alias),
}


def _root(value: SSAValue) -> SSAValue:
    """The argument or allocation behind reshapes."""
    while isinstance(value.owner, ALIASES):
        value = value.owner.operands[0]
    return value


def _memref(op: Operation, t: Attribute) -> MemRefType[Attribute]:
    if not isinstance(t, MemRefType) or DYNAMIC_INDEX in t.get_shape():
        raise _unsupported(op, f"the host needs memrefs of static shape, not {t}")
    return t


def _dtype(op: Operation, t: Attribute) -> str:
    if t not in CONCRETE.values():
        raise _unsupported(op, f"the host has no arrays of {t}")
    return NUMPY_TYPES[t].name


def _unsupported(op: Operation, reason: str) -> TileError:
    return TileError.at(op, reason)
