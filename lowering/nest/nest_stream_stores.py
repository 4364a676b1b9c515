"""nest-stream-stores: non-temporal stores of large results that nothing in the program reads."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import func, gpu
from xdsl.dialects.builtin import (
    DenseArrayBase,
    MemRefType,
    ModuleOp,
    SymbolRefAttr,
    UnitAttr,
    i32,
)
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from tiledialect.dialects.discardable import NONTEMPORAL, UNREAD
from tiledialect.dialects.nest.call import calls_of
from tiledialect.dialects.nest.memory import LoadOp, StoreOp
from tiledialect.index.integer.simplify import is_multiple
from tiledialect.ir.host_memory import ALIASES, root
from tiledialect.ir.ops_in import has_one_block, ops_in, ops_of
from tiledialect.ir.signature import kernels_of
from tiledialect.lowering.nest.utils.access_strides import executions, loops_around, stride_over
from tiledialect.lowering.nest.utils.registers import lanes_of
from tiledialect.lowering.nest.utils.scope import NestScope, bytes_of, element_bytes
from tiledialect.schedule.cost.device import LINE, device_or_common
from tiledialect.schedule.loops import Role

MAX_LOADS = 32
"""Maximum loads for each store: with more, memory does not hold up the computation."""

MAX_OPEN_LINES = 4
"""Maximum number of cache lines that are begun before one is full: processors combine few."""


def unread_arguments(op: ModuleOp) -> dict[gpu.FuncOp, frozenset[int]]:
    """Arguments of kernels that no kernel reads, whoever launches it."""
    kernels = {SymbolRefAttr(m, [name]): k for (m, name), k in kernels_of(op).items()}
    loaded = {kernel: {x.memory for x in ops_of(kernel, LoadOp)} for kernel in kernels.values()}
    found: dict[gpu.FuncOp, frozenset[int]] = {}
    for host in (f for f in op.ops if isinstance(f, func.FuncOp) and has_one_block(f)):
        launches: list[tuple[gpu.FuncOp, list[SSAValue]]] = []
        read: set[SSAValue] = set()
        for x in ops_in(host.body.block):
            kernel = kernels.get(x.kernel) if isinstance(x, gpu.LaunchFuncOp) else None
            if isinstance(x, gpu.LaunchFuncOp) and kernel is not None:
                for own, values in _launched(kernel, [root(v) for v in x.kernelOperands]):
                    arguments = zip(values, own.body.block.args, strict=True)
                    read |= {v for v, argument in arguments if argument in loaded[own]}
                    launches.append((own, values))
            elif not isinstance(x, (*ALIASES, func.ReturnOp)):
                read |= {root(v) for v in x.operands}
        for kernel, values in launches:
            own = frozenset(
                k
                for k, v in enumerate(values)
                if isinstance(v.owner, gpu.AllocOp) and v not in read and values.count(v) == 1
            )
            found[kernel] = found.get(kernel, own) & own
    return found


def _launched(
    kernel: gpu.FuncOp, values: list[SSAValue]
) -> list[tuple[gpu.FuncOp, list[SSAValue]]]:
    """Kernels that a launch of a kernel with some values computes, with their own values."""
    given: dict[SSAValue, SSAValue] = dict(zip(kernel.body.block.args, values, strict=True))
    calls = [(op.kernel, [given[v] for v in op.arguments]) for op in calls_of(kernel)]
    return calls or [(kernel, values)]


def mark_unread(op: ModuleOp) -> None:
    """Note at each kernel which of its arguments no kernel reads."""
    for kernel, numbers in unread_arguments(op).items():
        if numbers:
            kernel.attributes[UNREAD] = DenseArrayBase.from_list(i32, sorted(numbers))


def marked_unread(op: ModuleOp) -> dict[gpu.FuncOp, frozenset[int]]:
    """Arguments that are noted as unread."""
    marks = ((kernel, kernel.attributes.get(UNREAD)) for kernel in ops_of(op, gpu.FuncOp))
    return {k: frozenset(m.get_values()) for k, m in marks if isinstance(m, DenseArrayBase)}


def _size(kernel: gpu.FuncOp) -> int:
    """Bytes of all arrays of a kernel, if these are known; else 0."""
    types = [a.type for a in kernel.body.block.args if isinstance(a.type, MemRefType)]
    if not all(t.has_static_shape() for t in types):
        return 0
    return sum(bytes_of(t) for t in types)


def _writes_lines(op: StoreOp, scope: NestScope) -> bool:
    """Whether vectors are aligned, and cache lines are filled one after another.

    A store to a part of a line must be followed soon by the rest, before many other lines are
    begun.
    """
    lanes, t = lanes_of(op.value), op.memory.type
    assert isinstance(t, MemRefType)
    run, begun = lanes, 1
    if lanes == 1 or not is_multiple(scope.address(op), lanes, scope.env):
        return False
    for loop in loops_around(op):
        if run * element_bytes(t) >= LINE:
            break
        if stride_over(loop, op, scope) == run:
            run *= loop.extent or 1
        elif loop.role.data.role is Role.UNROLL:
            begun *= loop.extent or 1
        else:
            break
    return run * element_bytes(t) >= LINE and begun <= MAX_OPEN_LINES


def stream_stores(kernel: gpu.FuncOp, numbers: frozenset[int]) -> None:
    """Mark the stores to some arguments, if memory bounds the kernel."""
    unread: set[SSAValue] = {kernel.body.block.args[k] for k in numbers}
    loads = ops_of(kernel, LoadOp)
    stores = [op for op in ops_of(kernel, StoreOp) if op.memory in unread]
    most = MAX_LOADS * sum(map(executions, stores))
    if any(executions(op) > most for op in loads):
        return
    scope = NestScope()
    for op in stores:
        if _writes_lines(op, scope):
            op.attributes[NONTEMPORAL] = UnitAttr()


class NestStreamStoresPass(ModulePass):
    """Marks stores of results that nothing in the program reads as `nontemporal`.

    Otherwise each line is read before it is written, and evicts lines that are still needed. It is
    done where a kernel's arrays do not fit the last cache, or the size that the device was seen to
    copy no slower through it (its description's `kept`, in MiB), where nothing else reads the
    results, and whole lines are written; not where so much is computed that memory can wait.
    """

    name = "nest-stream-stores"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Mark the stores of every kernel."""
        device = device_or_common(op)
        for kernel, numbers in (unread_arguments(op) | marked_unread(op)).items():
            if numbers and _size(kernel) > device.most_kept:
                stream_stores(kernel, numbers)
