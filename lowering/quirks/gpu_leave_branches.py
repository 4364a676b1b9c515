"""gpu-leave-branches: for OpenCL implementations that need it, some kernels are not optimized."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import gpu, scf
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.passes import ModulePass

from tiledialect.ops_in import ops_in, ops_of

NOT_OPTIMIZED = "tile.not_optimized"
"""The attribute of a kernel that is to be compiled as it stands."""


class GpuLeaveBranchesPass(ModulePass):
    """Marks kernels with both barriers and branches: they are not to be optimized.

    PoCL 3.0 crashes, hangs or loses values where it optimizes them, also where
    `gpu-balance-barriers` ran. Chosen schedules lose nothing by it: on CPUs work-items of a group
    share neither tiles nor sums, and need no barriers.
    """

    name = "gpu-leave-branches"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Mark the kernels."""
        for kernel in ops_of(op, gpu.FuncOp):
            kinds = {type(x) for x in ops_in(kernel)}
            if {gpu.BarrierOp, scf.IfOp} <= kinds:
                kernel.attributes[NOT_OPTIMIZED] = UnitAttr()
