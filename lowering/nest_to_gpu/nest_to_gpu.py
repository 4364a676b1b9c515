"""nest-to-gpu: nests to the upstream dialects of the kernel level."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import arith, gpu, scf
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tiledialect.dialects.nest import Nest
from tiledialect.dialects.nest.asynchronous import CommitOp, WaitOp
from tiledialect.dialects.nest.control import ForOp, IfOp
from tiledialect.dialects.nest.indexed import IndexOp
from tiledialect.dialects.nest.instruction import FragmentOp
from tiledialect.dialects.nest.memory import BufferOp, LoadOp, StoreOp
from tiledialect.dialects.nest.prefetch import PrefetchOp
from tiledialect.dialects.tile.constants import constant_integer
from tiledialect.index.integer.expressions import Expr
from tiledialect.ir.disposal import dispose
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.target_spec import limit
from tiledialect.lowering.nest_to_gpu import async_copies as copies
from tiledialect.lowering.nest_to_gpu import control as control
from tiledialect.lowering.nest_to_gpu import memory as memory
from tiledialect.lowering.nest_to_gpu.kernel import GpuKernel, Lowering
from tiledialect.schedule.cost.traits import traits_of

ALIGNMENT = 16
"""Alignment of buffers in bytes where vectors must be aligned; a user's arrays need not be."""

ASYNC_COPY_CAPABILITY = 80
"""Minimum compute capability of NVIDIA's GPUs that copy to local memory asynchronously."""


def _grid_size(kernel: GpuKernel, op: Operation) -> None:
    """Number of work-groups: at least one."""
    assert isinstance(op, gpu.GridDimOp)
    value = kernel.values[op.result] = kernel.emit(op.clone())
    value.name_hint = op.result.name_hint
    expr = kernel.exprs[op.result] = kernel.indices.variable(value, value.name_hint or "groups")
    here = kernel.indices.here
    here.env = here.env.with_range(str(expr), 1, None)


def _index(kernel: GpuKernel, op: Operation) -> None:
    """Lower an index expression to its value."""
    assert isinstance(op, IndexOp)
    (expr,) = op.exprs_of(kernel.numbered(op), op.expr)
    kernel.exprs[op.result] = expr = kernel.indices.simplify(expr)
    kernel.values[op.result] = kernel.indices.value(expr)


def _constant(kernel: GpuKernel, op: Operation) -> None:
    """Lower a constant, which is a number in expressions if it is an index."""
    assert isinstance(op, arith.ConstantOp)
    number = constant_integer(op.result)
    if number is not None and isinstance(op.result.type, IndexType):
        kernel.exprs[op.result] = Expr.const(number)
    kernel.keep(op)


def _barrier(kernel: GpuKernel, op: Operation) -> None:
    """Lower a barrier, after which other work-items have written."""
    kernel.forget_all()
    kernel.keep(op)


def _nothing(kernel: GpuKernel, op: Operation) -> None:
    """Lower an op that goes with the op around it: to nothing."""


LOWERINGS: dict[type[Operation], Lowering] = {
    ForOp: control.loop,
    IfOp: control.branch,
    scf.IfOp: control.where,
    scf.YieldOp: _nothing,
    BufferOp: memory.buffer,
    LoadOp: memory.load,
    StoreOp: copies.store_or_copy,
    FragmentOp: memory.fragment,
    PrefetchOp: memory.prefetch,
    CommitOp: copies.commit,
    WaitOp: copies.wait,
    gpu.BarrierOp: _barrier,
    gpu.GridDimOp: _grid_size,
    arith.ConstantOp: _constant,
    IndexOp: _index,
}
"""Lowerings by type of op; other ops stay as they are."""

NEST_OPS = tuple(kind for kind in LOWERINGS if kind.dialect_name() == Nest.name)
"""Ops at least one of which a function to be lowered has."""


def lower_function(kernel: GpuKernel) -> None:
    """Replace a function's body by its lowered nest."""
    old = kernel.function.body.block
    for op in ops_of(old, StoreOp):
        kernel.versions[op.memory] = 0
        if kernel.asynchronous and (chain := copies.loaded_to_be_stored(op)):
            kernel.copies[op] = chain
    kernel.later = {x for chain in kernel.copies.values() for x in chain}
    memory.flatten_arguments(kernel)
    kernel.walk(old)
    kernel.function.body.detach_block(old)
    dispose(old)
    kernel.function.body.add_block(kernel.block)


class NestToGpuPass(ModulePass):
    """Lowers nests in `gpu.func`s to `gpu`, `scf`, `memref`, `vector` and `arith`.

    Parallel loops become the numbers of work-groups and work-items, serial ones `scf.for`;
    remaining unrolled and vector loops are unrolled. A private buffer that is accessed at unrolled
    places alone becomes values, and two loads from the same address become one. Index expressions
    are computed in the outermost block where they can be. Loads that feed stores to an `async`
    buffer are asynchronous copies on NVIDIA's GPUs of compute capability 8.0; elsewhere they are
    loads and stores.
    """

    name = "nest-to-gpu"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Lower every kernel."""
        alignment = 0 if traits_of(op).unaligned_vectors else ALIGNMENT
        asynchronous = limit(op, "compute_capability", 0) >= ASYNC_COPY_CAPABILITY
        for function in ops_of(op, gpu.FuncOp):
            if ops_of(function, *NEST_OPS):
                kernel = GpuKernel(function, LOWERINGS, alignment, asynchronous=asynchronous)
                lower_function(kernel)
