"""Registers of the work-items of a nest: private memory, and what is loaded to compute with it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import prod

from xdsl.dialects import gpu
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, SSAValue

from tiledialect.dialects.nest.control import ForOp
from tiledialect.dialects.nest.memory import BufferOp, LoadOp, StoreOp
from tiledialect.ir.ops_in import ops_of
from tiledialect.lowering.nest.utils.access_strides import loops_around, stride_over
from tiledialect.lowering.nest.utils.builder import PRIVATE, is_local
from tiledialect.lowering.nest.utils.registers import lanes_of
from tiledialect.lowering.nest.utils.scope import NestScope, bytes_of, element_bytes
from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.traits import TRAITS, Kind
from tiledialect.schedule.loops import Role

WORD = 4
"""Bytes of a lane of a register."""


def most_registers(device: Device, items: int) -> int:
    """Most registers of each of the work-items of a group, which share those of a unit."""
    if not device.registers_unit:
        return device.registers
    return min(device.registers, device.registers_unit // max(items, 1))


def registers_of(kernel: gpu.FuncOp, device: Device, items: int) -> int:
    """Registers of a work-item: private memory whose places are known, operands and addresses.

    A CPU's driver runs the work-items along x in the lanes of vectors, and so holds that of all.
    """
    registers = [op.result for op in ops_of(kernel, BufferOp) if is_register(op.result)]
    memories = [memory for memory in registers if not _continues(memory, registers)]
    private = sum(bytes_of(m.type) for m in memories if isinstance(m.type, MemRefType)) / WORD
    own = device.rates.nests.own_registers
    if not device.traits.has_vectors:
        return int(private + _operands(kernel, registers) + _fetched(kernel, device, items) + own)
    width = device.native_vector_width
    rows: dict[object, int] = {}
    for loop in ops_of(kernel, ForOp):
        if loop.role.data.role is Role.LOCAL and loop.role.data.axis == "x":
            rows.setdefault(loop.role.data, steps(loop))
    return int(private * min(width, prod(rows.values())) / width + own)


def is_register(memory: SSAValue) -> bool:
    """Whether a memory is private, and accessed at places that unrolled loops make numbers."""
    t = memory.type
    if not isinstance(t, MemRefType) or t.memory_space != PRIVATE:
        return False
    return all(
        loop.is_unrolled or loop.is_parallel
        for use in memory.uses
        if isinstance(use.operation, LoadOp | StoreOp)
        for loop in _loops_of_place(use.operation)
    )


def steps(loop: ForOp) -> int:
    """Number of steps of a loop; of a strided one the steps of its first work-item."""
    if loop.extent is not None:
        return loop.extent
    _, upper, step = (e.value for e in loop.bounds.data)
    return ceil_div(upper, step) if upper is not None and step is not None else 1


def operand_waits(
    kernel: gpu.FuncOp, device: Device, scope: NestScope, items: int, registers: int
) -> int:
    """Times that a work-item waits for what it loads from global memory to compute sums with.

    Of the steps of unrolled loops it loads as many ahead as there are registers for operands. What
    is in lines of earlier steps comes from the first cache, and is not waited for.
    """
    memories = [op.result for op in ops_of(kernel, BufferOp) if is_register(op.result)]
    sums = _indices_of_sums(memories)
    loads = (op for op in _operand_loads(kernel, memories) if not is_local(op.memory))
    found = [op for op in loads if not _is_copied(op)]
    words = sum(_words(op, sums) for op in found)
    ahead = max(1, (most_registers(device, items) - registers) // max(words, 1))
    waits = 0
    for op in found:
        around = [x for x in loops_around(op) if not x.is_parallel and x.index not in sums]
        unrolled = [x for x in around if x.is_unrolled and x.index in op.indices]
        lines, begun = (
            prod(_lines_begun(op, x, scope) for x in loops)
            for loops in (unrolled, (x for x in around if not x.is_unrolled))
        )
        turns = ceil_div(prod(map(steps, unrolled)), ahead)
        waits = max(waits, begun * (min(turns, lines) - 1))
    return waits


def _operands(kernel: gpu.FuncOp, registers: Sequence[SSAValue]) -> int:
    """Words that a block loads for one step of its sums: those of a row and a column of a tile."""
    sums = _indices_of_sums(registers)
    found: dict[Block, int] = {}
    for op in _operand_loads(kernel, registers):
        if op.parent is not None:
            found[op.parent] = found.get(op.parent, 0) + _words(op, sums)
    return max(found.values(), default=0)


def _indices_of_sums(registers: Sequence[SSAValue]) -> set[SSAValue]:
    """Indices of the loops over the places of sums in registers."""
    return {
        loop.index
        for memory in registers
        for use in memory.uses
        if isinstance(use.operation, StoreOp)
        for loop in _loops_of_place(use.operation)
    }


def _operand_loads(kernel: gpu.FuncOp, registers: Sequence[SSAValue]) -> Iterator[LoadOp]:
    """Loads of what is computed with, not only kept in registers."""
    for op in ops_of(kernel, LoadOp):
        users = [use.operation for use in op.result.uses]
        is_kept = all(isinstance(user, StoreOp) and user.memory in registers for user in users)
        if op.memory not in registers and not is_kept:
            yield op


def _lines_begun(op: LoadOp, loop: ForOp, scope: NestScope) -> int:
    """Steps of a loop in which a work-item loads from other lines than before."""
    count, stride, t = steps(loop), stride_over(loop, op, scope), op.memory.type
    if stride is None or not isinstance(t, MemRefType):
        return count
    nbytes = abs(stride) * element_bytes(t)
    return max(1, min(count, ceil_div(count * nbytes, TRAITS[Kind.GPU].line)))


def _is_copied(op: LoadOp) -> bool:
    return all(isinstance(use.operation, StoreOp) for use in op.result.uses)


def _words(op: LoadOp, sums: Collection[SSAValue]) -> int:
    """Words that a load takes for one step of sums."""
    moved = (x for x in _loops_of_place(op) if x.is_unrolled and x.index in sums)
    return lanes_of(op.result) * prod(map(steps, moved))


def _fetched(kernel: gpu.FuncOp, device: Device, items: int) -> float:
    """Registers of a work-item for its share of the tiles that are fetched ahead."""
    tiles = [op.result for op in ops_of(kernel, BufferOp) if op.number_of_copies > 1]
    words = sum(
        bytes_of(tile.type) / WORD
        for tile in tiles
        if is_local(tile) and isinstance(tile.type, MemRefType)
    )
    return device.rates.items.ahead_registers * words / max(items, 1)


def _continues(memory: SSAValue, registers: Sequence[SSAValue]) -> bool:
    """Whether a loop's memory begins as one from around the loop, whose registers it then has."""
    stores = [use.operation for use in memory.uses if isinstance(use.operation, StoreOp)]
    loads = [op.value.owner for op in stores if isinstance(op.value.owner, LoadOp)]
    sources = {op.memory for op in loads if op.memory in registers}
    return any(_depth(source) < _depth(memory) for source in sources)


def _depth(memory: SSAValue) -> int:
    """Number of loops around a buffer."""
    assert isinstance(memory.owner, BufferOp)
    return len([*loops_around(memory.owner)])


def _loops_of_place(op: LoadOp | StoreOp) -> list[ForOp]:
    """Loops whose indices are in the place of an access."""
    return [loop for loop in loops_around(op) if loop.index in op.indices]
