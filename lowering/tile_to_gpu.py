"""tile-to-gpu: the whole way from scheduled kernels to the kernel level."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline

from tiledialect.lowering.gpu_wait_before_branches import (
    WAITS_BEFORE_BRANCHES,
    GpuWaitBeforeBranchesPass,
)
from tiledialect.lowering.nest.nest_barriers import NestBarriersPass
from tiledialect.lowering.nest.nest_peel import NestPeelPass
from tiledialect.lowering.nest.nest_pipeline import NestPipelinePass
from tiledialect.lowering.nest.nest_to_gpu import NestToGpuPass
from tiledialect.lowering.nest.nest_vectorize import NestVectorizePass
from tiledialect.lowering.nest.tile_to_nest import TileToNestPass
from tiledialect.target_spec import platform


def nest_passes() -> tuple[ModulePass, ...]:
    """The passes from scheduled kernels to the kernel level."""
    return (
        TileToNestPass(),
        NestPipelinePass(),
        NestPeelPass(copies=False),
        NestVectorizePass(),
        NestBarriersPass(),
        NestToGpuPass(),
    )


@dataclass(frozen=True)
class TileToGpuPass(ModulePass):
    """Lowers functions of scheduled kernels to `gpu.module`s and host functions.

    It runs `tile-to-nest`, the passes over nests, `nest-to-gpu`, and what the device needs.
    """

    name = "tile-to-gpu"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Lower every function that has tile ops."""
        PassPipeline(nest_passes()).apply(ctx, op)
        if platform(op) in WAITS_BEFORE_BRANCHES:
            GpuWaitBeforeBranchesPass().apply(ctx, op)
