"""Buffers of a host function: where each of its memrefs is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects import func, gpu, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from tiledialect.dialects.tile.element_types import CONCRETE
from tiledialect.dialects.tile.elementwise.numeric import NUMPY_TYPES
from tiledialect.errors import TileError
from tiledialect.ir.host_functions import is_dense, reach
from tiledialect.ir.host_memory import nbytes, root, whole
from tiledialect.lowering.runtime.program.plan import Slot

WITHIN = (memref.ViewOp, gpu.DeallocOp)
"""Ops on an allocation of which parts alone are used."""


class HostBuffers:
    """Buffers of the arguments and results of a host function, and parts of its allocations."""

    def __init__(
        self,
        host: func.FuncOp,
        returned_by: func.ReturnOp,
        returned: Sequence[SSAValue],
        first_output: int,
        first_slot: int,
    ):
        self.host = host
        self.returned_by = returned_by
        self.first_output = first_output
        self.first_slot = first_slot
        self.owned = self._owned(returned)
        self.numbers: dict[SSAValue, int] = {a: k for k, a in enumerate(host.body.block.args)}
        """The buffer that holds each memref."""
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

    def _owned(self, returned: Sequence[SSAValue]) -> dict[SSAValue, int]:
        """The allocations that are outputs as they are, with the numbers of these."""
        owned: dict[SSAValue, int] = {}
        for k, value in enumerate(returned):
            source = whole(root(value))
            if source is not None and isinstance(source.owner, gpu.AllocOp):
                all_bytes = 0, _nbytes(source.owner, source)
                if self.span(self.returned_by, value) == all_bytes:
                    owned.setdefault(source, self.first_output + k)
        return owned

    def alloc(self, op: gpu.AllocOp) -> None:
        """Give an allocation, unless only its parts are used, a buffer."""
        if op.result in self.owned:
            self.numbers[op.result] = self.owned[op.result]
            return
        number, size = len(self.sizes), _nbytes(op, op.result)
        self.allocations[op.result] = number
        self.sizes.append(size)
        if not all(isinstance(use.operation, WITHIN) for use in op.result.uses):
            self.numbers[op.result] = self._slot(number, 0, size, op.result)

    def part(self, op: memref.ViewOp, offset: object) -> None:
        """Give a part of an allocation, from a byte on, a buffer."""
        allocation, output = self.allocations.get(op.source), self.owned.get(op.source)
        if output is not None:
            allocation = -1 - (output - self.first_output)
        size = _nbytes(op, op.result)
        if allocation is None or not isinstance(offset, int):
            raise TileError.at(op, "the host needs views of allocations at known places")
        if offset < 0 or offset + size > _nbytes(op, op.source):
            t = op.result.type
            raise TileError.at(op, f"the view {t} reaches beyond its buffer, {op.source.type}")
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

    def alias(self, op: Operation) -> None:
        """Give a memref the buffer of another one with the same memory."""
        if isinstance(op, memref.ReinterpretCastOp):
            t = memref_type(op, op.result.type)
            strides, offset = t.get_strides(), t.get_offset()
            written = list(op.static_strides.get_values()), list(op.static_offsets.get_values())
            if written != (list(strides or ()), [offset]):
                raise TileError.at(op, f"offset and strides differ from the type, {t}")
        self.numbers[op.results[0]] = self.numbers[op.operands[0]]

    def span(self, op: Operation, value: SSAValue) -> tuple[int, int]:
        """First and last byte of a memref in its buffer; the memref must have no gaps."""
        t = memref_type(op, value.type)
        offset = t.get_offset()
        if offset is None or not is_dense(t):
            raise TileError.at(op, f"the host needs memrefs without gaps at known places, not {t}")
        start = offset * np.dtype(dtype_of(op, t.element_type)).itemsize
        end = start + _nbytes(op, value)
        source = root(value)
        if start < 0 or end > _nbytes(op, source):
            raise TileError.at(op, f"the view {t} reaches beyond its buffer, {source.type}")
        return start, end

    def check_reach(self, op: Operation, value: SSAValue) -> None:
        """Refuse a memref that is not within its buffer; a cast may leave sizes open."""
        t = value.type
        assert isinstance(t, MemRefType)
        if not t.has_static_shape():
            return
        found, size = reach(t), _nbytes(op, root(value))
        itemsize = np.dtype(dtype_of(op, t.element_type)).itemsize
        if found is None:
            raise TileError.at(op, f"the host needs memrefs at known places, not {t}")
        if found[0] < 0 or found[1] * itemsize > size:
            raise TileError.at(op, f"{t} reaches beyond its buffer, {root(value).type}")

    def overlap(self, a: int, b: int) -> bool:
        """Whether the buffers of these numbers have memory in common."""
        one, other = self.slots.get(a), self.slots.get(b)
        if one and other:
            return one.overlaps(other)
        # A part of an output is in all of it.
        parts = ((one, b), (other, a))
        return a == b or any(s and s.output == k - self.first_output for s, k in parts)

    def start(self, value: SSAValue) -> int:
        """Offset of a buffer in its allocation, in elements."""
        slot = self.slots.get(self.numbers.get(value, 0))
        if slot is None:
            return 0
        t = value.type
        assert isinstance(t, MemRefType)
        start, rest = divmod(slot.offset, np.dtype(dtype_of(self.host, t.element_type)).itemsize)
        if rest:
            reason = f"byte {slot.offset} is not the start of an element of {t}"
            raise TileError.at(self.host, reason)
        return start


def memref_type(op: Operation, t: Attribute) -> MemRefType[Attribute]:
    """A type of memrefs of known sizes; a TileError of an op with another one."""
    if not isinstance(t, MemRefType) or DYNAMIC_INDEX in t.get_shape():
        raise TileError.at(op, f"the host needs memrefs of static shape, not {t}")
    return t


def _nbytes(op: Operation, value: SSAValue) -> int:
    t = memref_type(op, value.type)
    dtype_of(op, t.element_type)
    if not is_dense(t):
        raise TileError.at(op, f"the host has no arrays with gaps, as {t}")
    return nbytes(t)


def dtype_of(op: Operation, t: Attribute) -> str:
    """NumPy's name of an element type; a TileError of an op with one of no arrays."""
    if t not in CONCRETE.values():
        raise TileError.at(op, f"the host has no arrays of {t}")
    return NUMPY_TYPES[t].name
