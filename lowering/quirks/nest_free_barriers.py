"""nest-free-barriers: for OpenCL implementations that need it, no barrier stands in a branch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from xdsl.context import Context
from xdsl.dialects import arith, gpu
from xdsl.dialects.builtin import IndexType, MemRefType, ModuleOp, VectorType
from xdsl.ir import Block, Operation, SSAValue, Use
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.dialects.nest.control import ForOp, IfOp
from tiledialect.dialects.nest.indexed import IndexOp
from tiledialect.dialects.nest.memory import BufferOp, LoadOp, StoreOp
from tiledialect.index.integer.expressions import Condition, Expr, negate
from tiledialect.ir.ancestors import ancestors
from tiledialect.lowering.nest.utils.builder import PRIVATE
from tiledialect.lowering.nest.utils.registers import lanes_of
from tiledialect.lowering.nest.utils.scope import NestScope

FREE = (arith.ConstantOp, BufferOp, gpu.GridDimOp, IndexOp)
"""Ops that may stand before a branch: they do nothing that its condition must allow."""


class NestFreeBarriersPass(ModulePass):
    """Moves barriers out of branches, which become several: one for each part between barriers.

    Loops in a branch that hold barriers stand around such branches. Values of a part that later
    parts use are kept in private memory. All work-items of a group take the same arm of a branch
    with barriers, and then wait a few times more.
    """

    name = "nest-free-barriers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the branches of every kernel, inner ones first."""
        for branch in [x for x in op.walk(region_first=True) if isinstance(x, IfOp)]:
            if _has_barrier(branch):
                _split(branch)


def _has_barrier(op: Operation) -> bool:
    return any(isinstance(x, gpu.BarrierOp) for x in op.walk())


def _split(branch: IfOp) -> None:
    """Put branches without barriers, and the barriers, in the place of a branch."""
    scope = NestScope()
    condition = scope.condition(branch)
    arms = [_Arm(scope, condition).split(branch.then.block)]
    if branch.otherwise is not None:
        arms.append(_Arm(scope, negate(condition)).split(branch.otherwise.block))
    Rewriter.insert_op([op for arm in arms for op in arm], InsertPoint.before(branch))
    Rewriter.erase_op(branch)


@dataclass(frozen=True)
class _Arm:
    """An arm of a branch with its condition."""

    scope: NestScope
    condition: Condition

    def split(self, block: Block) -> list[Operation]:
        """The ops of a block, which is left empty, with the condition around each part."""
        done: list[Operation] = []
        part: list[Operation] = []
        while (op := block.first_op) is not None:
            op.detach()
            waits = _has_barrier(op)
            if waits:
                done += self._guarded(part)
                part = []
                assert isinstance(op, ForOp | gpu.BarrierOp)
            if waits and isinstance(op, ForOp):
                op.block.add_ops(self.split(op.block))
            is_free = isinstance(op, FREE) and not any(v.owner in part for v in op.operands)
            (done if waits or is_free else part).append(op)
        return done + self._guarded(part)

    def _guarded(self, part: Sequence[Operation]) -> list[Operation]:
        """A part under the condition, after the memory for values that later parts use."""
        if not part:
            return []
        block, buffers = Block(part), list[Operation]()
        # The last ops first: operands of a copied op are used later, too.
        for op in reversed(part):
            for value in op.results:
                users = [x for x in _users(value) if block not in _blocks_around(x)]
                if users and isinstance(value.type, IndexType):
                    _recompute(op, users)
                elif users:
                    buffers.append(_keep_in_memory(value, users))
        return [*buffers, IfOp(self.scope.values, self.condition, block)]


def _is_by(user: Operation, use: Use) -> bool:
    return use.operation is user


def _users(value: SSAValue) -> list[Operation]:
    return list(dict.fromkeys(use.operation for use in value.uses))


def _blocks_around(op: Operation) -> list[Block]:
    return [x.parent for x in (op, *ancestors(op)) if x.parent is not None]


def _recompute(op: Operation, users: Sequence[Operation]) -> None:
    """Compute an index again where it is used, as there is no memory of indices."""
    for user in users:
        again = op.clone()
        Rewriter.insert_op(again, InsertPoint.before(user))
        op.results[0].replace_uses_with_if(again.results[0], partial(_is_by, user))


def _keep_in_memory(value: SSAValue, users: Sequence[Operation]) -> BufferOp:
    """Keep a value for its users in private memory."""
    lanes = lanes_of(value)
    t = value.type.element_type if isinstance(value.type, VectorType) else value.type
    buffer = BufferOp(MemRefType(t, [lanes], memory_space=PRIVATE))
    buffer.result.name_hint = value.name_hint
    for user in users:
        load = LoadOp({}, buffer.result, [Expr()], lanes=lanes)
        load.result.name_hint = value.name_hint
        Rewriter.insert_op(load, InsertPoint.before(user))
        value.replace_uses_with_if(load.result, partial(_is_by, user))
    assert isinstance(value.owner, Operation)
    store = StoreOp({}, value, buffer.result, [Expr()])
    Rewriter.insert_op(store, InsertPoint.after(value.owner))
    return buffer
