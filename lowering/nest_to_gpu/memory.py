"""nest-to-gpu: buffers, as registers or arrays, and their loads and stores."""

from __future__ import annotations

from math import prod

from xdsl.dialects import arith, memref, scf, vector
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, MemRefType, NoneAttr, i64
from xdsl.ir import Block, Operation, SSAValue

from tiledialect.dialects.discardable import NONTEMPORAL
from tiledialect.dialects.nest import memref as upstream
from tiledialect.dialects.nest.control import ForOp
from tiledialect.dialects.nest.indexed import ALWAYS
from tiledialect.dialects.nest.instruction import FragmentOp
from tiledialect.dialects.nest.memory import BufferOp, LoadOp, StoreOp
from tiledialect.dialects.nest.prefetch import PrefetchOp
from tiledialect.index.integer.expressions import Condition, Expr, Truth
from tiledialect.index.integer.simplify import is_multiple
from tiledialect.lowering.nest.utils.builder import GLOBAL, LOCAL, PRIVATE
from tiledialect.lowering.nest.utils.constants import constant
from tiledialect.lowering.nest.utils.registers import Registers
from tiledialect.lowering.nest.utils.scope import element_bytes, extent_of
from tiledialect.lowering.nest_to_gpu.kernel import GpuKernel

LOCAL_ALIGNMENT = 16
"""Minimum alignment of arrays in a kernel in bytes."""


def _are_registers(buffer: BufferOp) -> bool:
    """Whether a private buffer is accessed at unrolled places alone."""
    t = buffer.result.type
    if not isinstance(t, MemRefType) or t.memory_space != PRIVATE:
        return False
    for use in buffer.result.uses:
        op = use.operation
        if not isinstance(op, LoadOp | StoreOp):
            return False
        names = {name for e in op.access.data for name in e.names}
        if not all(_is_number(v) for k, v in enumerate(op.indices) if f"d{k}" in names):
            return False
    return True


def _is_number(index: SSAValue) -> bool:
    """Whether an index is a constant in each copy of its loop's body."""
    loop = index.owner.parent_op() if isinstance(index.owner, Block) else None
    return isinstance(loop, ForOp) and loop.is_unrolled


def flatten_arguments(kernel: GpuKernel) -> None:
    """Access every array by one index, so that addresses are computed as expressions."""
    for old, new in zip(kernel.function.body.block.args, kernel.block.args, strict=True):
        t = new.type
        if isinstance(t, MemRefType) and len(t.get_shape()) != 1:
            flat = MemRefType(t.element_type, [prod(t.get_shape())], NoneAttr(), t.memory_space)
            cast = memref.ReinterpretCastOp.from_dynamic(new, [0], [prod(t.get_shape())], [1], flat)
            kernel.values[old] = kernel.emit(cast)
            cast.results[0].name_hint = new.name_hint


def buffer(kernel: GpuKernel, op: Operation) -> None:
    """Lower a buffer to registers, or an array."""
    assert isinstance(op, BufferOp) and isinstance(op.result.type, MemRefType)
    t = op.result.type
    if _are_registers(op):
        kernel.registers[op.result] = Registers(t.element_type)
        return
    if op.result in kernel.values and t.memory_space == LOCAL:
        # An unrolled loop has one array for all its steps.
        return
    size = extent_of(t)
    array = memref.AllocaOp.get(t.element_type, shape=[size], memory_space=t.memory_space)
    array.memref.name_hint = op.result.name_hint
    kernel.values[op.result] = array.memref
    # Local memory is declared outside all loops, so that every copy of a body sees it.
    place = kernel.block if t.memory_space == LOCAL else kernel.indices.here.block
    place.add_op(array)


def load(kernel: GpuKernel, op: Operation) -> None:
    """Lower a load, unless its value is known."""
    assert isinstance(op, LoadOp)
    access = kernel.access(op)
    condition, place, lanes = kernel.condition(op), kernel.address(op), access.lanes
    default = None if access.value is None else kernel.values[access.value]
    if (registers := kernel.registers.get(access.memory)) is not None:
        assert place.value is not None
        found = registers.read(place.value, lanes, kernel.emit)
        if condition != ALWAYS:
            found = _choose(kernel, condition, found, or_zero(kernel, op, default))
        _name(found, op)
        kernel.values[op.result] = found
        return
    version = kernel.versions.get(access.memory)
    key = (access.memory, version, place.moving, place.constant, lanes, condition, default)
    found = kernel.known.get(key)
    if found is None:
        if condition == ALWAYS:
            found = _load(kernel, op, place)
        else:
            found = _load_if(kernel, op, place, condition, or_zero(kernel, op, default))
        _name(found, op)
        kernel.note(key, found)
    kernel.values[op.result] = found


def _name(value: SSAValue, op: LoadOp) -> None:
    if value.name_hint is None:
        value.name_hint = op.result.name_hint


def or_zero(kernel: GpuKernel, op: LoadOp, default: SSAValue | None) -> SSAValue:
    """Value of a load where its condition does not hold."""
    return default if default is not None else kernel.emit(constant(0, op.result.type))


def _load(kernel: GpuKernel, op: LoadOp, place: Expr) -> SSAValue:
    access = kernel.access(op)
    operands = kernel.values[access.memory], kernel.indices.value(place)
    cls = memref.LoadOp if access.lanes == 1 else vector.LoadOp
    load = cls.create(operands=operands, result_types=[op.result.type])
    if access.lanes > 1:
        _align(kernel, load, access.memory, place, access.lanes)
    return kernel.emit(load)


def _align(kernel: GpuKernel, op: Operation, memory: SSAValue, place: Expr, lanes: int) -> None:
    """Mark an access to a vector as aligned, if that can be proved."""
    t = memory.type
    assert isinstance(t, MemRefType)
    size = lanes * element_bytes(t)
    if size > max(kernel.global_alignment, LOCAL_ALIGNMENT):
        return
    known = kernel.global_alignment if t.memory_space == GLOBAL else LOCAL_ALIGNMENT
    if size <= known and is_multiple(place, lanes, kernel.indices.here.env):
        op.attributes["alignment"] = IntegerAttr(size, i64)


def _load_if(
    kernel: GpuKernel, op: LoadOp, place: Expr, condition: Condition, default: SSAValue
) -> SSAValue:
    if condition == Truth(False):
        return default
    test = kernel.indices.test(condition)
    then, otherwise = Block(), Block([scf.YieldOp(default)])
    kernel.enter(then)
    then.add_op(scf.YieldOp(_load(kernel, op, place)))
    kernel.leave()
    return kernel.emit(scf.IfOp(test, [op.result.type], [then], [otherwise]))


def _choose(kernel: GpuKernel, condition: Condition, yes: SSAValue, no: SSAValue) -> SSAValue:
    """Select one of two values."""
    if isinstance(condition, Truth):
        return yes if condition.value else no
    return kernel.emit(arith.SelectOp(kernel.indices.test(condition), yes, no))


def store(kernel: GpuKernel, op: Operation) -> None:
    """Lower a store."""
    assert isinstance(op, StoreOp)
    access = kernel.access(op)
    assert access.value is not None
    condition, place = kernel.condition(op), kernel.address(op)
    value = kernel.values[access.value]
    if (registers := kernel.registers.get(access.memory)) is not None:
        assert place.value is not None
        if condition != ALWAYS:
            old = registers.read(place.value, access.lanes, kernel.emit)
            value = _choose(kernel, condition, value, old)
        value.name_hint = access.memory.name_hint
        registers.write(place.value, value)
        return
    kernel.versions[access.memory] += 1
    if condition == Truth(False):
        return
    if condition == ALWAYS:
        store_at(kernel, op, value, place)
        return
    with kernel.where(condition):
        store_at(kernel, op, value, place)


def store_at(kernel: GpuKernel, op: StoreOp, value: SSAValue, place: Expr) -> None:
    """Store a value at an address, whatever the condition."""
    access = kernel.access(op)
    operands = value, kernel.values[access.memory], kernel.indices.value(place)
    cls = memref.StoreOp if access.lanes == 1 else vector.StoreOp
    new = cls.create(operands=operands)
    if access.lanes > 1:
        _align(kernel, new, access.memory, place, access.lanes)
    if isinstance(new, vector.StoreOp) and NONTEMPORAL in op.attributes:
        new.nontemporal = BoolAttr.from_bool(True)
    kernel.indices.here.block.add_op(new)


def prefetch(kernel: GpuKernel, op: Operation) -> None:
    """Lower a prefetch."""
    assert isinstance(op, PrefetchOp)
    memory, index = kernel.values[op.memory], kernel.indices.value(kernel.address(op))
    new = upstream.PrefetchOp(memory, [index], to_write=op.to_write is not None)
    kernel.indices.here.block.add_op(new)


def fragment(kernel: GpuKernel, op: Operation) -> None:
    """Lower the load of an instruction's operand, unless its registers are known."""
    assert isinstance(op, FragmentOp)
    place = kernel.address(op)
    key = (
        op.entry.name,
        op.number,
        op.rows.axis,
        op.memory,
        kernel.versions.get(op.memory),
        place,
    )
    keys = [(FragmentOp, *key, k) for k in range(len(op.registers))]
    found = [kernel.known.get(key) for key in keys]
    if None in found:
        memory, index = kernel.values[op.memory], kernel.indices.value(place)
        names, number, axis = {"index": index}, op.number, op.rows.axis
        new = FragmentOp(names, op.entry.name, number, axis, memory, [Expr.var("index")])
        kernel.indices.here.block.add_op(new)
        found = list(new.registers)
        for key, value in zip(keys, new.registers, strict=True):
            kernel.note(key, value)
    for old, value in zip(op.registers, found, strict=True):
        assert value is not None
        kernel.values[old] = value
