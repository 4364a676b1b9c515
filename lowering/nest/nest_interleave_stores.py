"""nest-interleave-stores: strided stores of several steps, interleaved into whole vectors."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tiledialect.dialects.nest.control import ForOp, IfOp
from tiledialect.dialects.nest.indexed import IndexOp
from tiledialect.dialects.nest.memory import LoadOp, StoreOp
from tiledialect.index.integer.expressions import Expr
from tiledialect.index.integer.ranges import Env
from tiledialect.ir.ops_in import ops_in, ops_of
from tiledialect.lowering.nest.utils.access_strides import stride_over
from tiledialect.lowering.nest.utils.builder import GLOBAL
from tiledialect.lowering.nest.utils.conditions import Guarded, set_condition
from tiledialect.lowering.nest.utils.scope import NestScope
from tiledialect.lowering.nest.utils.shuffles import INTERLEAVED
from tiledialect.schedule.cost.traits import traits_of
from tiledialect.schedule.loops import Role


def interleave(unrolled: ForOp, env: Env) -> None:
    """Move an unrolled loop around a vector loop, if it fills the gaps of that, into its lanes."""
    lanes = _only_vector(unrolled)
    if unrolled.extent not in INTERLEAVED or lanes is None:
        return
    body, inside = _only_block(lanes, unrolled), unrolled.block.first_op
    if inside is None or not _fills_gaps(unrolled, lanes, body, env):
        return
    _unroll(unrolled, body, env)
    inside.detach()
    Rewriter.replace_op(unrolled, inside)


def _only_vector(loop: ForOp) -> ForOp | None:
    """Vector loop that is the whole body of a loop, in loops and branches independent of it."""
    op: Operation | None = loop
    while op is not None:
        if isinstance(op, ForOp) and op.role.data.role is Role.VECTOR:
            return op
        block = op.block if isinstance(op, ForOp) else _branch(op)
        op = _only_op(block, loop)
    return None


def _only_block(lanes: ForOp, unrolled: ForOp) -> Block:
    """Body of each lane, in branches that do not depend on the unrolled index."""
    block = lanes.block
    while isinstance(op := _only_op(block, unrolled), IfOp) and (inside := _branch(op)) is not None:
        block = inside
    return block


def _only_op(block: Block | None, unrolled: ForOp) -> Operation | None:
    """Only op of a block, unless it depends on the unrolled index."""
    if block is None or block.first_op is None or block.first_op is not block.last_op:
        return None
    return None if unrolled.index in block.first_op.operands else block.first_op


def _branch(op: Operation) -> Block | None:
    """Body of a branch without an else part."""
    return op.then.block if isinstance(op, IfOp) and op.otherwise is None else None


def _fills_gaps(unrolled: ForOp, lanes: ForOp, body: Block, env: Env) -> bool:
    """Whether the lanes write with a stride as long as there are steps, which fill the gaps.

    Their reads must not be written here. Or whether they read so, if they only set registers; the
    last lane may be the first there.
    """
    ops, scope = list(ops_in(body)), NestScope(env=env)
    stores = [op for op in ops if isinstance(op, StoreOp)]
    loads = [op for op in ops if isinstance(op, LoadOp) and op.result.uses]
    is_plain = all(_is_plain(op, lanes) for op in ops)
    if not is_plain or not {x.memory for x in loads}.isdisjoint(x.memory for x in stores):
        return False
    moves = stores if all(map(_is_global, stores)) else loads
    if not all(map(_is_global, moves)) or any(_is_global(x) for x in stores if moves is loads):
        return False
    if moves is loads and any(isinstance(op, IfOp) for op in ops):
        return False
    steps = {(stride_over(lanes, op, scope), stride_over(unrolled, op, scope)) for op in moves}
    apart = {(unrolled.extent, 1)}
    return steps == apart or (moves is loads and steps == {(-(unrolled.extent or 0), 1)})


def _is_global(op: LoadOp | StoreOp) -> bool:
    t = op.memory.type
    return isinstance(t, MemRefType) and t.memory_space == GLOBAL


def _is_plain(op: Operation, lanes: ForOp) -> bool:
    """Whether an op is done for all lanes, or its branch for some, as halves decide."""
    if isinstance(op, IfOp):
        return op.otherwise is None and lanes.index in op.operands
    return not op.regions and not op.properties.get("condition")


def _unroll(unrolled: ForOp, block: Block, env: Env) -> None:
    """Make each lane do all unrolled steps, one after the other."""
    ops = list(block.ops)
    for step in range(unrolled.extent or 0):
        index = IndexOp({}, Expr.const(step))
        values: dict[SSAValue, SSAValue] = {unrolled.index: index.result}
        block.add_ops([index, *(op.clone(values) for op in ops)])
        _substitute(index, env)
    for op in reversed(ops):
        Rewriter.erase_op(op)


def _substitute(index: IndexOp, env: Env) -> None:
    """Substitute the number of an index in the expressions of the ops that use it."""
    scope = NestScope(env=env)
    for use in list(index.result.uses):
        op = use.operation
        if isinstance(op, Guarded):
            set_condition(scope, op, scope.condition(op))
        elif isinstance(op, IndexOp):
            Rewriter.replace_op(op, IndexOp(scope.values, scope.name(op.result)))
    if not index.result.uses:
        Rewriter.erase_op(index)


class NestInterleaveStoresPass(ModulePass):
    """Interleaves vectors that write every second, third or fourth element, to store them whole.

    Where the lanes of a vector loop write with a stride of the number of steps of the unrolled loop
    around it, and those fill the gaps, that loop goes into the lanes: `nest-vectorize` makes whole
    vectors of their stores. So residue classes of strided convolutions' gradients are stored, if a
    work-item has all of them. The same is done where the steps read so into registers: copied
    elements are loaded together, too. GPUs write such lanes one by one.
    """

    name = "nest-interleave-stores"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Interleave the stores of all kernels."""
        if not traits_of(op).has_vectors:
            return
        env = Env()
        for loop in ops_of(op, ForOp):
            if loop.role.data.role is Role.UNROLL:
                interleave(loop, env)
