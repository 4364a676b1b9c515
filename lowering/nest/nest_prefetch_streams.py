"""nest-prefetch-streams: prefetches of arrays that are read once, from end to end."""

from __future__ import annotations

from itertools import takewhile

from xdsl.context import Context
from xdsl.dialects import gpu
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.nest.memory import LoadOp, StoreOp
from tiledialect.dialects.nest.prefetch import PrefetchOp
from tiledialect.ir.ops_in import ops_in, ops_of
from tiledialect.lowering.nest.utils.access_strides import (
    executions,
    is_vector_access,
    loops_around,
    stride_over,
)
from tiledialect.lowering.nest.utils.registers import lanes_of
from tiledialect.lowering.nest.utils.scope import NestScope, bytes_of, element_bytes
from tiledialect.schedule.cost.cpu_caches import PREFETCH_DISTANCE
from tiledialect.schedule.cost.device import device_or_common
from tiledialect.schedule.loops import Role

MAX_USES = 4
"""Maximum number of uses of each load: with more, memory does not hold up the computation."""


def is_stream(op: LoadOp, scope: NestScope) -> bool:
    """Whether a load's innermost loop reads an array without gaps, and each element once."""
    loops = list(loops_around(op))
    inner = list(takewhile(lambda loop: loop.is_unrolled, loops))
    if len(inner) == len(loops):
        return False
    host, *outer = loops[len(inner) :]
    moves = sorted((abs(stride_over(x, op, scope) or 0), x.extent or 1) for x in inner)
    run, apart = lanes_of(op.result), list[int]()
    for moved, extent in moves:
        if moved == run:
            run *= extent
        else:
            apart.append(moved)
    if host.role.data.role is not Role.SERIAL or stride_over(host, op, scope) != run:
        return False
    # Unrolled steps read other streams, or the same elements.
    is_alone = all(moved >= run * (host.extent or 1) for moved in apart)
    return is_alone and all(stride_over(x, op, scope) != 0 for x in outer if x.extent != 1)


def prefetch_streams(kernel: gpu.FuncOp, cache: int) -> None:
    """Prefetch for the first load of each large array."""
    ops = ops_in(kernel)
    seen: set[SSAValue] = {op.memory for op in ops if isinstance(op, StoreOp)}
    often = max((executions(op) for op in ops if isinstance(op, LoadOp | StoreOp)), default=0)
    scope = NestScope()
    for op in ops:
        if not isinstance(op, LoadOp) or op.memory in seen or not is_vector_access(op):
            continue
        # The first guess of a mean is one of the numbers: a loop begins with them.
        if not any(loop.role.data.role is Role.SERIAL for loop in loops_around(op)):
            continue
        t = op.memory.type
        assert isinstance(t, MemRefType)
        if not t.has_static_shape():
            continue
        seen.add(op.memory)
        is_large = bytes_of(t) > cache
        if is_large and often <= MAX_USES * executions(op) and is_stream(op, scope):
            *outer, last = scope.access(op)
            place = [*outer, last + PREFETCH_DISTANCE // element_bytes(t)]
            new = PrefetchOp(scope.values, op.memory, place)
            Rewriter.insert_op(new, InsertPoint.after(op))


class NestPrefetchStreamsPass(ModulePass):
    """Prefetches arrays that a loop reads from end to end.

    The processor does that by itself up to the end of each page. It is done for arrays that the
    second cache does not hold and that are read once; not in kernels that prefetch rows already,
    nor where elements are used again and again, as in products of matrices.
    """

    name = "nest-prefetch-streams"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Insert the prefetches of every kernel."""
        device = device_or_common(op)
        for kernel in ops_of(op, gpu.FuncOp):
            if not ops_of(kernel, PrefetchOp):
                prefetch_streams(kernel, device.second_cache)
