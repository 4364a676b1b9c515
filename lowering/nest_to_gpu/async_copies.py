"""nest-to-gpu: asynchronous copies to local memory."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation, SSAValue

from tiledialect.dialects.nest.asynchronous import CopyOp
from tiledialect.dialects.nest.memory import BufferOp, LoadOp, StoreOp
from tiledialect.index.integer.expressions import Expr, Truth
from tiledialect.index.integer.simplify import is_multiple
from tiledialect.lowering.nest.utils.builder import GLOBAL
from tiledialect.lowering.nest.utils.registers import lanes_of
from tiledialect.lowering.nest.utils.scope import element_bytes
from tiledialect.lowering.nest_to_gpu.kernel import GpuKernel
from tiledialect.lowering.nest_to_gpu.memory import or_zero, store, store_at
from tiledialect.schedule.loops import COPIED_BYTES


def store_or_copy(kernel: GpuKernel, op: Operation) -> None:
    """Lower a store, or its asynchronous copy with the load that feeds it alone."""
    assert isinstance(op, StoreOp)
    if op in kernel.copies:
        if _copy(kernel, kernel.copies[op][0], op):
            return
        for x in kernel.copies[op]:
            kernel.lower(x)
    store(kernel, op)


def _copy(kernel: GpuKernel, load: Operation, store: StoreOp) -> bool:
    """Start the copy of a load that feeds a store alone, if the device can move it at once."""
    assert isinstance(load, LoadOp)
    source, target, lanes = kernel.address(load), kernel.address(store), lanes_of(load.result)
    at_once = _at_once(kernel, store, (source, target), lanes)
    there = kernel.condition(store)
    if not at_once or there == Truth(False):
        return False
    kernel.versions[store.memory] += 1
    if there == Truth(True):
        _start(kernel, load, store, at_once)
        return True
    # Of fewer pieces than work-items some have none.
    with kernel.where(there):
        _start(kernel, load, store, at_once)
    return True


def _start(kernel: GpuKernel, load: LoadOp, store: StoreOp, at_once: int) -> None:
    """Emit the copies of neighbours, so many at a time, or the stores of their default."""
    source, target, lanes = kernel.address(load), kernel.address(store), lanes_of(load.result)
    inside = kernel.condition(load)

    def copy(test: SSAValue | None = None) -> None:
        for lane in range(0, lanes, at_once):
            (a, i), (b, j) = (
                (kernel.values[op.memory], kernel.indices.value(place + lane))
                for op, place in ((load, source), (store, target))
            )
            kernel.indices.here.block.add_op(CopyOp(at_once, a, i, b, j, test))

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
    elif load.default is None:
        copy(kernel.indices.test(inside))
    else:
        test, blocks = kernel.indices.test(inside), (Block(), Block())
        for block, act in zip(blocks, (copy, fill), strict=True):
            kernel.enter(block)
            act()
            block.add_op(scf.YieldOp())
            kernel.leave()
        kernel.indices.here.block.add_op(scf.IfOp(test, [], [blocks[0]], [blocks[1]]))


def _at_once(kernel: GpuKernel, store: StoreOp, places: Sequence[Expr], lanes: int) -> int:
    """Number of neighbours that one copy moves: 0 if no copy can move them as they lie."""
    t, env = store.memory.type, kernel.indices.here.env
    assert isinstance(t, MemRefType)
    counts = [size // element_bytes(t) for size in reversed(COPIED_BYTES)]
    divide = (n for n in counts if n and lanes % n == 0)
    return next((n for n in divide if all(is_multiple(x, n, env) for x in places)), 0)


def commit(kernel: GpuKernel, op: Operation) -> None:
    """Lower a commit, if the device copies asynchronously."""
    if kernel.asynchronous:
        kernel.keep(op)


def wait(kernel: GpuKernel, op: Operation) -> None:
    """Lower a wait, if the device copies asynchronously; after it the copies are complete."""
    if kernel.asynchronous:
        kernel.forget_all()
        kernel.keep(op)


def loaded_to_be_stored(op: StoreOp) -> list[Operation]:
    """Load from global memory for this store to an asynchronous buffer alone, and its casts."""
    buffer = op.memory.owner
    # Nobody waits for buffers that nest-pipeline has left with their copies.
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
