"""Counts of a nest for the cost service: operations and accesses.

Work-groups run on the units of
the device at the same time; the work-items of a group along x, or the lanes of a vector loop, are
the lanes of its vectors. An access to neighbours is one instruction for all lanes, any other is one
for each.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects import arith, gpu
from xdsl.dialects.builtin import MemRefType, VectorType
from xdsl.ir import Operation, SSAValue

from tiledialect.dialects.nest.control import ForOp
from tiledialect.dialects.nest.memory import BufferOp, LoadOp, StoreOp
from tiledialect.ir.ops_in import ops_of
from tiledialect.lowering.nest.cost.core_accesses import (
    Lanes,
    begun_share,
    line_cycles,
    moves_of,
    operations_of,
)
from tiledialect.lowering.nest.cost.register_counts import (
    is_register,
    most_registers,
    operand_waits,
    registers_of,
    steps,
)
from tiledialect.lowering.nest.cost.warp_accesses import vector_loops, warp_access
from tiledialect.lowering.nest.utils.access_strides import loops_around, stride_over, value_of
from tiledialect.lowering.nest.utils.builder import GLOBAL, PRIVATE, is_local
from tiledialect.lowering.nest.utils.registers import lanes_of
from tiledialect.lowering.nest.utils.scope import NestScope, bytes_of, element_bytes
from tiledialect.lowering.nest.utils.unrolled_accesses import stored_in
from tiledialect.rounding import ceil_div
from tiledialect.schedule.cost.cpu_estimate import FLOPS
from tiledialect.schedule.cost.device import Device
from tiledialect.schedule.cost.estimate import estimate
from tiledialect.schedule.cost.nests import NestWork
from tiledialect.schedule.loops import UNROLLED, Role

MOST_PLACES = 1 << 12
"""Most places of unrolled loads that are looked at one by one."""
_FREE = (arith.ConstantOp, arith.IndexCastOp, arith.TruncIOp, arith.ExtSIOp)
_SLOW = (arith.DivfOp, arith.DivSIOp, arith.RemSIOp)


@dataclass
class _Counts:
    """Counts of a kernel, for all work-items together."""

    flops: float = 0.0
    """Time of instructions, in flops of full vectors."""
    rows: float = 0.0
    """Time of accesses of a GPU, which has units of their own for them, in the same."""
    lines: dict[object, float] = field(default_factory=dict[object, float])
    """Cycles of a CPU's cores for lines that come to their caches, of each memory and pattern of
    accesses: those at constant distances bring the same."""
    traffic: float = 0.0
    """Bytes that pass the caches."""
    touched: dict[SSAValue, float] = field(default_factory=dict[SSAValue, float])
    """Bytes of each global memory that are read or written."""
    held: bool = True
    """Whether private memory fits into registers."""


def estimate_nest(op: Operation, device: Device) -> float:
    """Seconds of the kernels in an op at the nest level, one after the other."""
    kernels = ops_of(op, gpu.FuncOp)
    return sum(estimate(nest_work(kernel, device), device).seconds for kernel in kernels)


def nest_work(kernel: gpu.FuncOp, device: Device) -> NestWork:
    """Counts of a kernel for the vectors of a device."""
    loops = ops_of(kernel, ForOp)
    groups, items = (_shared_out(loops, role) for role in (Role.GROUP, Role.LOCAL))
    scope = NestScope()
    registers = registers_of(kernel, device, items)
    counts = _Counts(held=registers <= most_registers(device, items))
    for op in kernel.walk():
        _count(op, counts, scope, device)
    touched = sum(counts.touched.values())
    fetches, ahead = _fetches(kernel)
    rows = counts.rows + sum(counts.lines.values()) * FLOPS * device.item_lanes
    return NestWork(
        *(counts.flops, rows, counts.traffic, touched, groups, items),
        *(_serial_steps(loops), fetches, ahead, registers, local_bytes(kernel)),
        operand_waits(kernel, device, scope, items, registers),
    )


def _fetches(kernel: gpu.FuncOp) -> tuple[int, bool]:
    """Steps that begin with a tile in local memory, and whether all tiles are fetched before."""
    tiles = [op for op in ops_of(kernel, BufferOp) if is_local(op.result)]
    serial = [
        [x for x in loops_around(op) if x.role.data.role is Role.SERIAL and not x.is_parallel]
        for op in tiles
    ]
    count = max((prod(map(steps, around)) for around in serial if around), default=0)
    return count, all(op.number_of_copies > 1 for op in tiles)


def local_bytes(kernel: gpu.FuncOp, alignment: int = 1) -> int:
    """Bytes of local memory of a group, where each array takes a multiple of some."""
    tiles = (op for op in ops_of(kernel, BufferOp) if is_local(op.result))
    return sum(
        ceil_div(op.number_of_copies * bytes_of(op.result.type), alignment) * alignment
        for op in tiles
        if isinstance(op.result.type, MemRefType)
    )


def _serial_steps(loops: list[ForOp]) -> int:
    """Steps that a work-item makes one after the other in the innermost loops."""
    serial = [x for x in loops if not x.is_parallel and not x.is_unrolled]
    serial = [x for x in serial if x.role.data.role is not Role.VECTOR]
    outer = {around for x in serial for around in loops_around(x)}
    return sum(
        prod(steps(x) for x in (loop, *loops_around(loop)) if x in serial)
        for loop in serial
        if loop not in outer
    )


def _shared_out(loops: list[ForOp], role: Role) -> int:
    """Work-groups, or work-items of a group: the loops of an axis around one another share it."""
    found: dict[object, int] = {}
    for loop in loops:
        if loop.role.data.role is role:
            around = [x for x in loops_around(loop) if x.role == loop.role]
            count = prod(map(steps, (loop, *around)))
            found[loop.role.data] = max(count, found.get(loop.role.data, 1))
    return prod(found.values())


def _count(op: Operation, counts: _Counts, scope: NestScope, device: Device) -> None:
    if isinstance(op, LoadOp | StoreOp):
        _count_access(op, counts, scope, device)
    elif isinstance(op, ForOp):
        counts.flops += _flops_of_loop(op, device)
    elif op.dialect_name() in ("arith", "math") and not isinstance(op, _FREE) and op.results:
        counts.flops += _flops_of_number(op, device)


def _flops_of_loop(loop: ForOp, device: Device) -> float:
    """Time of the steps of a loop that is not unrolled, in flops of full vectors."""
    if loop.is_parallel or loop.is_unrolled:
        return 0.0
    count = _executions(loop) * steps(loop)
    each = device.rates.nests.loop_step
    return each * count * device.item_lanes / _lanes(loop, device)[1]


def _flops_of_number(op: Operation, device: Device) -> float:
    """Time of an operation on numbers, in flops of full vectors."""
    wide = op.results[0].type
    own = wide.get_shape()[0] if isinstance(wide, VectorType) else 1
    is_slow = isinstance(op, _SLOW) or op.dialect_name() == "math"
    weight = device.rates.nests.slow if is_slow else 1.0
    return weight * own * _executions(op) * _waste(op, device, own)


def _executions(op: Operation) -> int:
    return prod(steps(loop) for loop in loops_around(op))


def accesses(op: LoadOp | StoreOp, scope: NestScope, apart: Collection[ForOp] = ()) -> int:
    """Number of times an access is made: the copies of an unrolled loop share what they load from
    one place, and so do lanes of a vector that are loaded apart."""
    if isinstance(op, StoreOp):
        return _executions(op)
    count, places = 1, {0}
    for loop in loops_around(op):
        if loop.role.data.role is Role.UNROLL or loop in apart:
            if loop.index not in op.indices:
                continue
            stride = stride_over(loop, op, scope)
            if stride is not None and len(places) * steps(loop) <= MOST_PLACES:
                places = {place + k * stride for place in places for k in range(steps(loop))}
                continue
        count *= steps(loop)
    return count * len(places)


def _repeats(op: LoadOp | StoreOp, scope: NestScope) -> int:
    """Steps of the innermost loops of a work-item that load the same, once before them."""
    count = 1
    for loop in loops_around(op) if isinstance(op, LoadOp) else ():
        if loop.role.data.role in UNROLLED:
            continue
        moved = loop.is_parallel or stride_over(loop, op, scope) != 0
        if moved or op.memory in stored_in(loop.block):
            break
        count *= steps(loop)
    return count


def _lanes(op: Operation, device: Device) -> tuple[ForOp | None, int]:
    """The loop around an op whose steps are the lanes of vectors, and their number."""
    around = [*loops_around(op)]
    wide = max(device.simd_lanes, 1)
    for role in (Role.VECTOR, Role.LOCAL):
        for loop in around:
            if loop.role.data.role is not role or steps(loop) == 1:
                continue
            # The lanes of a loop around other loops are computed one after the other.
            if role is Role.VECTOR and not any(x.regions for x in loop.block.ops):
                return loop, min(wide, steps(loop))
            if role is Role.LOCAL and loop.role.data.axis == "x":
                return loop, min(wide, steps(loop))
    return None, 1


def _waste(op: Operation, device: Device, own: int) -> float:
    """Lanes of a CPU's vectors for each that an op uses; a GPU's idle lanes count elsewhere."""
    if not device.traits.has_vectors:
        return 1.0
    used = max(_lanes(op, device)[1], min(own, device.native_vector_width))
    return device.native_vector_width / used


def _count_access(op: LoadOp | StoreOp, counts: _Counts, scope: NestScope, device: Device) -> None:
    t = op.memory.type
    assert isinstance(t, MemRefType)
    value = value_of(op).type
    own = value.get_shape()[0] if isinstance(value, VectorType) else 1
    nbytes, access = element_bytes(t), device.rates.nests.access
    if t.memory_space == PRIVATE and isinstance(op.memory.owner, BufferOp):
        count, is_held = accesses(op, scope), counts.held and is_register(op.memory)
        counts.flops += (0.0 if is_held else access) * own * count * _waste(op, device, own)
        return
    if not device.traits.has_vectors:
        _count_warp_access(op, counts, scope, device)
        return
    count = accesses(op, scope)
    at_once = Lanes(*_lanes(op, device)) if own == 1 else Lanes(None, 1)
    counts.flops += count * operations_of(op, at_once, device, scope)
    moves = moves_of(op, at_once, scope)
    key = op.memory, moves
    if key not in counts.lines:
        counts.lines[key] = line_cycles(moves, own * nbytes, device)
    if t.memory_space == GLOBAL:
        _touch(op, own * count * nbytes, counts, begun_share(moves, own * nbytes))


def _count_warp_access(
    op: LoadOp | StoreOp, counts: _Counts, scope: NestScope, device: Device
) -> None:
    """Count an access to global or local memory by the instructions of sub-groups."""
    found, t = warp_access(op, device, scope), op.memory.type
    assert isinstance(t, MemRefType)
    own, at_once = lanes_of(value_of(op)), vector_loops(op, scope)
    lanes = (x for x in loops_around(op) if x.role.data.role is Role.VECTOR)
    count = accesses(op, scope, [loop for loop in lanes if loop not in at_once])
    count /= _repeats(op, scope)
    instructions = count * own / found.width
    counts.rows += device.rates.nests.access * found.rows * instructions
    if t.memory_space == GLOBAL:
        counts.traffic += found.nbytes * instructions
        _touch(op, count * own * element_bytes(t), counts)


def _touch(op: LoadOp | StoreOp, nbytes: float, counts: _Counts, slower: float = 1.0) -> None:
    """Count memory that is read or written, at most all that there is."""
    t = op.memory.type
    assert isinstance(t, MemRefType)
    known = min(bytes_of(t), nbytes) * slower
    counts.touched[op.memory] = max(counts.touched.get(op.memory, 0.0), known)
