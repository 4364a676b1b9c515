"""nest-to-gpu: copies to local memory that a device makes by itself."""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation

from tiledialect.dialects.nest.asynchronous import COPIED_BYTES, CopyOp
from tiledialect.dialects.nest.memory import BufferOp, LoadOp, StoreOp
from tiledialect.index.integer import Truth
from tiledialect.index.simplify import is_multiple
from tiledialect.lowering.nest.builder import GLOBAL
from tiledialect.lowering.nest.gpu_kernel import GpuKernel
from tiledialect.lowering.nest.gpu_memory import or_zero, store, store_at
from tiledialect.lowering.nest.registers import lanes_of
from tiledialect.lowering.nest.scope import element_bytes


def store_or_copy(kernel: GpuKernel, op: Operation) -> None:
    """A store, or the copy of what is loaded only for it."""
    assert isinstance(op, StoreOp)
    if op in kernel.copies:
        if _copy(kernel, kernel.copies[op][0], op):
            return
        for x in kernel.copies[op]:
            kernel.lower(x)
    store(kernel, op)


def _copy(kernel: GpuKernel, load: Operation, store: StoreOp) -> bool:
    """Start to copy what is loaded only to be stored, if the device can move it at once."""
    assert isinstance(load, LoadOp)
    source, target, lanes = kernel.address(load), kernel.address(store), lanes_of(load.result)
    inside, env = kernel.condition(load), kernel.indices.here.env
    t = store.memory.type
    assert isinstance(t, MemRefType)
    width = element_bytes(t)
    most = COPIED_BYTES[-1] // width
    at_once = most if lanes % most == 0 else lanes
    aligned = all(is_multiple(place, at_once, env) for place in (source, target))
    copied = at_once * width in COPIED_BYTES and kernel.condition(store) == Truth(True)
    if not aligned or not copied:
        return False
    kernel.versions[store.memory] += 1

    def copy() -> None:
        for lane in range(0, lanes, at_once):
            places = [
                part
                for op, place in ((load, source), (store, target))
                for part in (kernel.values[op.memory], kernel.indices.value(place + lane))
            ]
            kernel.indices.here.block.add_op(CopyOp(at_once, *places))

    def fill() -> None:
        value = None if load.default is None else kernel.values[load.default]
        value = or_zero(kernel, load, value)
        if value.type != store.value.type:
            value = kernel.emit(arith.BitcastOp(value, store.value.type))
        store_at(kernel, store, value, target)

    if inside == Truth(True):
        copy()
    elif inside == Truth(False):
        fill()
    else:
        test, blocks = kernel.indices.test(inside), (Block(), Block())
        for block, act in zip(blocks, (copy, fill), strict=True):
            kernel.enter(block)
            act()
            block.add_op(scf.YieldOp())
            kernel.leave()
        kernel.indices.here.block.add_op(scf.IfOp(test, [], [blocks[0]], [blocks[1]]))
    return True


def commit(kernel: GpuKernel, op: Operation) -> None:
    """What only devices need that copy to local memory by themselves."""
    if kernel.asynchronous:
        kernel.keep(op)


def wait(kernel: GpuKernel, op: Operation) -> None:
    """The same; after it there is what was copied."""
    if kernel.asynchronous:
        kernel.forget_all()
        kernel.keep(op)


def loaded_to_be_stored(op: StoreOp) -> list[Operation]:
    """A load from global memory for this store to an asynchronous buffer alone, and its casts."""
    buffer = op.memory.owner
    # Nobody waits for what nest-pipeline has left with its copies.
    if not isinstance(buffer, BufferOp) or buffer.asynchronous is None or buffer.copies is not None:
        return []
    chain: list[Operation] = []
    value = op.value
    while value.has_one_use() and isinstance(value.owner, arith.BitcastOp | LoadOp):
        chain.insert(0, value.owner)
        if isinstance(value.owner, LoadOp):
            t = value.owner.memory.type
            is_global = isinstance(t, MemRefType) and t.memory_space == GLOBAL
            return chain if is_global and value.owner.parent is op.parent else []
        value = value.owner.input
    return []
