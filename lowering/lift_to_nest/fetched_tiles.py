"""Tiles in local memory that are fetched ahead: copies by one loop of unrolled steps each."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import gpu
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.nest.attributes import ExprsAttr, LoopRole, RoleAttr
from tiledialect.dialects.nest.control import ForOp, IfOp
from tiledialect.dialects.nest.indexed import IndexOp
from tiledialect.dialects.nest.memory import BufferOp, LoadOp, StoreOp
from tiledialect.errors import TileError
from tiledialect.index.integer.expressions import Expr
from tiledialect.ir.ops_in import ops_of, outer_operands
from tiledialect.lowering.lift_to_nest.register_tiles import moved
from tiledialect.lowering.nest.utils.scope import NestScope
from tiledialect.lowering.nest.utils.unrolled_accesses import stored_in
from tiledialect.schedule.loops import Role

UNROLL = LoopRole(Role.UNROLL)
MOST = 64
"""Most steps of a work-item that copy its part of a tile."""


def prepare_fetched_tiles(kernel: gpu.FuncOp) -> None:
    """Bring the copies of tiles with several copies into the form that `nest-pipeline` takes.

    Raises a TileError for a tile that cannot be fetched before its step.
    """
    for buffer in ops_of(kernel, BufferOp):
        if buffer.number_of_copies > 1:
            _prepare(buffer)


def _prepare(buffer: BufferOp) -> None:
    name, step = buffer.result.name_hint, buffer.parent_op()
    if not isinstance(step, ForOp) or step.is_parallel:
        # There is a single step, which has none before it.
        del buffer.properties["copies"]
        return
    if step.role.data.role is not Role.SERIAL:
        raise TileError.at(buffer, f"{name} is fetched ahead, but its steps are unrolled")
    copies = _copies(buffer, step)
    changing = stored_in(step.block)
    own = {buffer.result, step.index}
    if any(op.memory in changing for op in ops_of(copies, LoadOp)) or any(
        step.is_ancestor(value.owner) for value in outer_operands(copies) if value not in own
    ):
        raise TileError.at(buffer, f"{name} is fetched ahead, but needs results of its step")
    for loop in ops_of(copies, ForOp):
        _unroll(loop, f"{name} is fetched ahead, but")


def _copies(buffer: BufferOp, step: ForOp) -> ForOp:
    """The loop that fills a tile; one of a single step where a work-item copies an element, or some
    of the work-items do."""
    stores = [use.operation for use in buffer.result.uses if isinstance(use.operation, StoreOp)]
    tops = {top for store in stores if (top := _top(store, step)) is not None}
    if len(tops) != 1:
        raise TileError.at(buffer, "a tile that is fetched ahead is filled by one loop")
    (top,) = tops
    if isinstance(top, ForOp):
        return top
    loop = ForOp({}, UNROLL, 1)
    Rewriter.insert_op(loop, InsertPoint.before(top))
    if isinstance(top, IfOp):
        top.detach()
        loop.block.add_op(top)
        return loop
    copied: dict[SSAValue, SSAValue] = {}
    needed = [*_needed(top)]
    loop.block.add_ops(op.clone(copied) for op in needed)
    for op in reversed(needed):
        if not any(result.uses for result in op.results):
            Rewriter.erase_op(op)
    return loop


def _needed(store: StoreOp) -> Iterator[Operation]:
    """The ops of a store's block by which its value is computed, and the store, in order."""
    wanted: set[Operation] = {store}
    found: list[Operation] = []
    op: Operation | None = store
    while op is not None:
        if op in wanted:
            found.append(op)
            wanted |= {v.owner for v in op.operands if isinstance(v.owner, Operation)}
        op = op.prev_op
    yield from reversed([op for op in found if not isinstance(op, BufferOp)])


def _top(op: StoreOp, step: ForOp) -> StoreOp | ForOp | IfOp | None:
    """The op of a loop's block that an op is, or is in."""
    found = op
    while found is not None and found.parent_op() is not step:
        found = found.parent_op()
    return found if isinstance(found, StoreOp | ForOp | IfOp) else None


def _unroll(loop: ForOp, otherwise: str) -> None:
    """Unroll a loop, which counts from 0 by 1 then; ``otherwise`` begins the error."""
    if loop.role.data.role in (Role.UNROLL, Role.VECTOR):
        return
    lower, upper, step = (e.value for e in loop.bounds.data)
    if lower != 0 or upper is None or step is None or upper % step:
        raise TileError.at(loop, f"{otherwise} work-items do not share it out evenly")
    if upper // step > MOST:
        steps = f"{upper // step} steps of a work-item, more than {MOST}"
        raise TileError.at(loop, f"{otherwise} that takes {steps}")
    loop.role = RoleAttr(UNROLL)
    if step == 1:
        return
    loop.bounds = ExprsAttr([Expr(), Expr.const(upper // step), Expr.const(1)])
    scope = NestScope()
    index = scope.name(loop.index)
    for op in ops_of(loop, LoadOp, StoreOp, IndexOp):
        if loop.index in op.indices:
            Rewriter.replace_op(op, moved(op, scope, {str(index): index * step}))
