"""tile-to-gpu, lift-to-gpu: from scheduled kernels and patterns to the kernel level."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline

from tiledialect.lowering.arith_share_reciprocals import SHARES, ArithShareReciprocalsPass
from tiledialect.lowering.gpu_broadcast_halves import GpuBroadcastHalvesPass
from tiledialect.lowering.gpu_count_copies import GpuCountCopiesPass
from tiledialect.lowering.gpu_load_ahead import GpuLoadAheadPass
from tiledialect.lowering.gpu_share_rows import GpuShareRowsPass
from tiledialect.lowering.gpu_widen_bf16 import GpuWidenBf16Pass
from tiledialect.lowering.math_polynomial_approximation import APPROXIMATES
from tiledialect.lowering.nest.lift_to_nest import LiftToNestPass
from tiledialect.lowering.nest.nest_barriers import NestBarriersPass
from tiledialect.lowering.nest.nest_bound_loops import NestBoundLoopsPass
from tiledialect.lowering.nest.nest_halve_vectors import NestHalveVectorsPass
from tiledialect.lowering.nest.nest_interleave_stores import NestInterleaveStoresPass
from tiledialect.lowering.nest.nest_join_kernels import NestJoinKernelsPass
from tiledialect.lowering.nest.nest_peel import NestPeelPass
from tiledialect.lowering.nest.nest_pipeline import NestPipelinePass
from tiledialect.lowering.nest.nest_prefetch import NestPrefetchPass
from tiledialect.lowering.nest.nest_prefetch_streams import NestPrefetchStreamsPass
from tiledialect.lowering.nest.nest_share_memory import NestShareMemoryPass
from tiledialect.lowering.nest.nest_split_tiles import NestSplitTilesPass
from tiledialect.lowering.nest.nest_stream_stores import NestStreamStoresPass
from tiledialect.lowering.nest.nest_to_gpu import NestToGpuPass
from tiledialect.lowering.nest.nest_vectorize import NestVectorizePass
from tiledialect.lowering.nest.tile_to_nest import TileToNestPass
from tiledialect.lowering.quirks.gpu_keep_loops import KEEPS_LOOPS, GpuKeepLoopsPass
from tiledialect.lowering.quirks.gpu_split_sincos import SPLITS_SINCOS, GpuSplitSincosPass
from tiledialect.lowering.quirks.nest_free_barriers import FREES_BARRIERS, NestFreeBarriersPass
from tiledialect.schedule.default import LOCAL_SIZE
from tiledialect.target_spec import is_gpu, platform

TAKES_HINTS = ("Intel(R) OpenCL", "Portable Computing Language")
"""Platforms whose kernels are faster with hints: those for CPUs that are built with Clang."""

HINTS = (NestStreamStoresPass(), NestPrefetchPass(), NestPrefetchStreamsPass())
"""The passes that say what goes past the caches, and what is asked for ahead."""


def nest_passes(
    *, hints: bool = False, edges: bool = False, free: bool = False
) -> tuple[ModulePass, ...]:
    """The passes from nests to the kernel level.

    With ``hints``, those about caches too; with ``free``, no barrier is left in a branch.
    """
    return (
        NestBoundLoopsPass(numbers=True),
        *((NestJoinKernelsPass(),) if edges else ()),
        NestPipelinePass(),
        NestPeelPass(copies=False, branches=not edges, edges=edges),
        *((NestSplitTilesPass(),) if edges else ()),
        NestInterleaveStoresPass(),
        NestHalveVectorsPass(),
        NestVectorizePass(),
        NestBoundLoopsPass(),
        NestShareMemoryPass(),
        NestBarriersPass(),
        *((NestFreeBarriersPass(),) if free else ()),
        *(HINTS if hints else ()),
        NestToGpuPass(),
        *((GpuShareRowsPass(),) if edges else ()),
        GpuCountCopiesPass(),
        GpuLoadAheadPass(),
        GpuWidenBf16Pass(),
    )


class TileToGpuPass(ModulePass):
    """Lowers functions of scheduled kernels to `gpu.module`s and host functions.

    It runs `tile-to-nest`, the passes over nests, `nest-to-gpu`, `gpu-share-rows`,
    `gpu-count-copies`, `gpu-load-ahead`, `gpu-widen-bf16`, and what the device needs.
    """

    name = "tile-to-gpu"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Lower every function that has tile ops."""
        TileToNestPass().apply(ctx, op)
        lower_nests(ctx, op)


@dataclass(frozen=True)
class LiftToGpuPass(ModulePass):
    """Lowers functions of low-level patterns to `gpu.module`s and host functions.

    It runs `lift-to-nest`, the passes over nests, `nest-to-gpu`, `gpu-share-rows`,
    `gpu-count-copies`, `gpu-load-ahead`, `gpu-widen-bf16`, and what the device needs.
    """

    name = "lift-to-gpu"

    local_size: int = LOCAL_SIZE
    """How many work-items a work-group has at most, where the program leaves it open."""

    index_width: int | None = None
    """The bits of the index arithmetic; by default 64 if a size is open."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Lower every function that has patterns."""
        LiftToNestPass(self.local_size, self.index_width).apply(ctx, op)
        lower_nests(ctx, op)


def lower_nests(ctx: Context, op: ModuleOp) -> None:
    """Lower all nests to the kernel level."""
    hints, free = platform(op) in TAKES_HINTS, platform(op) in FREES_BARRIERS
    PassPipeline(nest_passes(hints=hints, edges=not is_gpu(op), free=free)).apply(ctx, op)
    if not is_gpu(op):
        GpuBroadcastHalvesPass().apply(ctx, op)
    if (polynomials := APPROXIMATES.get(platform(op) or "")) is not None:
        polynomials.apply(ctx, op)
    if platform(op) in SHARES:
        ArithShareReciprocalsPass().apply(ctx, op)
    if platform(op) in KEEPS_LOOPS:
        GpuKeepLoopsPass().apply(ctx, op)
    if platform(op) in SPLITS_SINCOS:
        GpuSplitSincosPass().apply(ctx, op)
