"""gpu-wait-before-branches: for OpenCL implementations that need it, a barrier before branches."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import gpu, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

LOSES_VALUES_IN_BRANCHES = ("Portable Computing Language",)
"""Platforms that need the pass: PoCL 3.0 loses values that are computed between the last barrier
and a branch with barriers in it. It still loses some where both sides of a branch hold barriers:
kernels whose work-items share memory are not peeled there."""


@dataclass(frozen=True)
class GpuWaitBeforeBranchesPass(ModulePass):
    """Puts a barrier right before every branch that has barriers in it.

    Meaning and races stay as they are: all work-items of a group come by such a branch together.
    Some implementations compile the branch wrongly otherwise.
    """

    name = "gpu-wait-before-branches"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Add the barriers to every kernel."""
        for branch in [x for x in op.walk() if isinstance(x, scf.IfOp)]:
            if any(isinstance(x, gpu.BarrierOp) for x in branch.walk()):
                Rewriter.insert_op(gpu.BarrierOp(), InsertPoint.before(branch))
