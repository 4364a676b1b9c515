"""gpu-split-sincos: for OpenCL implementations that need it, cosines of sines stand alone."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import arith, math, memref, vector
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tiledialect.ir.ops_in import ops_of

LOADS = (memref.LoadOp, vector.LoadOp)
COMPUTED = (f"{arith.Arith.name}.", f"{math.Math.name}.")
"""Prefixes of the names of ops whose results no compiler takes for results of others."""


class GpuSplitSincosPass(ModulePass):
    """Computes cosines of the absolute value where the angle may be a sine or a cosine.

    The cosine is the same. An angle may be a sine if it is one, or the result of a loop, a branch,
    or a load from memory that the kernel writes: compilers see through these. A cosine of a result
    of arithmetic, or of memory that is only read, stays beside the sine of the same angle.
    """

    name = "gpu-split-sincos"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Change the cosines of every kernel."""
        for cosine in ops_of(op, math.CosOp):
            if _may_be_sine(cosine.operand):
                absolute = math.AbsFOp(cosine.operand)
                Rewriter.insert_op(absolute, InsertPoint.before(cosine))
                cosine.operands[0] = absolute.result


def _may_be_sine(angle: SSAValue) -> bool:
    op = angle.owner
    if isinstance(op, Block | math.SinOp | math.CosOp):
        return True
    if isinstance(op, LOADS):
        return not _is_only_read(op.operands[0])
    return not op.name.startswith(COMPUTED)


def _is_only_read(memory: SSAValue) -> bool:
    uses = (use.operation for use in memory.uses)
    return isinstance(memory, BlockArgument) and all(isinstance(use, LOADS) for use in uses)
