"""gpu-balance-barriers: for OpenCL implementations that need it, each arm of a branch waits."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import gpu, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter


class GpuBalanceBarriersPass(ModulePass):
    """Puts a barrier into an arm of a branch that has none, if the other arm has one.

    All work-items of a group take the same arm there, so that the barrier is a legal one. PoCL 3.0
    loses values of work-items that come by an arm without a barrier.
    """

    name = "gpu-balance-barriers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Balance the branches of every kernel, inner ones first."""
        for branch in [x for x in op.walk(reverse=True) if isinstance(x, scf.IfOp)]:
            arms = branch.true_region, branch.false_region
            waiting = [_waits(arm) for arm in arms]
            if any(waiting):
                for arm, waits in zip(arms, waiting, strict=True):
                    if not waits:
                        _add_barrier(arm)


def _waits(arm: Region) -> bool:
    return any(isinstance(x, gpu.BarrierOp) for x in arm.walk())


def _add_barrier(arm: Region) -> None:
    if not arm.blocks:
        arm.add_block(Block([scf.YieldOp()]))
    Rewriter.insert_op(gpu.BarrierOp(), InsertPoint.at_start(arm.block))
