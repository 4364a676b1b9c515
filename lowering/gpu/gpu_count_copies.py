"""gpu-count-copies: counters say which copy of a tile a step uses, not remainders."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tiledialect.dialects.nest.asynchronous import WaitOp
from tiledialect.dialects.tile.constants import constant_integer
from tiledialect.ir.ops_in import ops_of
from tiledialect.lowering.gpu.utils.loops import carry


class GpuCountCopiesPass(ModulePass):
    """Carries `(k + c) mod n` from step to step of a loop that waits for asynchronous copies.

    There the addresses of the next tiles depend on the remainder, and nothing else can be done
    until they are known. A remainder by a number that is no power of two takes several
    instructions.
    """

    name = "gpu-count-copies"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the loops of every kernel that wait."""
        for loop in ops_of(op, scf.ForOp):
            waits = any(type(x) is WaitOp for x in loop.body.block.ops)
            if waits and (constant_integer(loop.lb), constant_integer(loop.step)) == (0, 1):
                _count(loop)


def _count(loop: scf.ForOp) -> None:
    """Put counters in the place of the remainders of a loop's index."""
    block = loop.body.block
    counted: dict[tuple[int, int], list[arith.RemUIOp]] = {}
    for op in block.ops:
        if isinstance(op, arith.RemUIOp) and (found := _remainder(op, block.args[0])):
            counted.setdefault(found, []).append(op)
    if not counted:
        return
    starts: list[arith.ConstantOp] = []
    last = block.last_op
    assert isinstance(last, scf.YieldOp)
    values = list(last.operands)
    Rewriter.erase_op(last)
    for (offset, modulus), remainders in counted.items():
        start = arith.ConstantOp(IntegerAttr(offset % modulus, IndexType()))
        starts.append(start)
        counter = block.insert_arg(IndexType(), len(block.args))
        counter.name_hint = start.result.name_hint = "copy"
        values.append(_next(block, counter, modulus))
        for op in remainders:
            Rewriter.replace_op(op, [], [counter])
    block.add_op(scf.YieldOp(*values))
    carry(loop, [op.result for op in starts], starts)


def _next(block: Block, counter: SSAValue, modulus: int) -> SSAValue:
    """The counter of the next step, at the end of this one."""
    one, end, zero = (arith.ConstantOp(IntegerAttr(n, IndexType())) for n in (1, modulus - 1, 0))
    more = arith.AddiOp(counter, one)
    is_last = arith.CmpiOp(counter, end, "eq")
    following = arith.SelectOp(is_last, zero, more)
    block.add_ops([one, end, zero, more, is_last, following])
    return following.result


def _remainder(op: arith.RemUIOp, index: SSAValue) -> tuple[int, int] | None:
    """``c`` and ``n`` where an op is ``(index + c) mod n`` and ``n`` no power of two."""
    modulus, offset = constant_integer(op.rhs), 0
    if op.lhs is not index:
        add = op.lhs.owner
        if not isinstance(add, arith.AddiOp) or add.lhs is not index:
            return None
        offset = constant_integer(add.rhs)
    if modulus is None or offset is None or offset < 0 or not modulus & (modulus - 1):
        return None
    return offset, modulus
