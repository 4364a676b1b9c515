"""The list of passes, stage by stage: tile-compile, tile-to-gpu, lift-to-gpu."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline
from xdsl.transforms.canonicalize import CanonicalizePass

from tiledialect.dialects.tile.schedule_text import read_schedules
from tiledialect.ir.common_subexpressions import NamingCsePass
from tiledialect.ir.target_spec import limit, platform
from tiledialect.lowering.given_passes import GivenPasses
from tiledialect.lowering.gpu.arith_share_reciprocals import ArithShareReciprocalsPass
from tiledialect.lowering.gpu.gpu_broadcast_halves import GpuBroadcastHalvesPass
from tiledialect.lowering.gpu.gpu_count_copies import GpuCountCopiesPass
from tiledialect.lowering.gpu.gpu_divide_groups import GpuDivideGroupsPass
from tiledialect.lowering.gpu.gpu_load_ahead import GpuLoadAheadPass
from tiledialect.lowering.gpu.gpu_share_rows import GpuShareRowsPass
from tiledialect.lowering.gpu.gpu_widen_bf16 import GpuWidenBf16Pass
from tiledialect.lowering.gpu.math_polynomial_approximation import (
    MathPolynomialApproximationPass,
)
from tiledialect.lowering.host.gpu_arena import GpuArenaPass
from tiledialect.lowering.lift_to_nest.lift_to_nest import LiftToNestPass
from tiledialect.lowering.nest.nest_barriers import NestBarriersPass
from tiledialect.lowering.nest.nest_bound_loops import NestBoundLoopsPass
from tiledialect.lowering.nest.nest_fuse_horizontally import (
    MOST_KERNELS,
    NestFuseHorizontallyPass,
)
from tiledialect.lowering.nest.nest_halve_vectors import NestHalveVectorsPass
from tiledialect.lowering.nest.nest_interleave_stores import NestInterleaveStoresPass
from tiledialect.lowering.nest.nest_join_kernels import NestJoinKernelsPass
from tiledialect.lowering.nest.nest_merge_loads import NestMergeLoadsPass
from tiledialect.lowering.nest.nest_pad_rows import NestPadRowsPass
from tiledialect.lowering.nest.nest_peel import NestPeelPass
from tiledialect.lowering.nest.nest_pipeline import NestPipelinePass
from tiledialect.lowering.nest.nest_prefetch import NestPrefetchPass
from tiledialect.lowering.nest.nest_prefetch_streams import NestPrefetchStreamsPass
from tiledialect.lowering.nest.nest_share_memory import NestShareMemoryPass
from tiledialect.lowering.nest.nest_split_tiles import NestSplitTilesPass
from tiledialect.lowering.nest.nest_stream_stores import NestStreamStoresPass
from tiledialect.lowering.nest.nest_vectorize import NestVectorizePass
from tiledialect.lowering.nest_to_gpu.nest_to_gpu import NestToGpuPass
from tiledialect.lowering.quirks.gpu_keep_loops import GpuKeepLoopsPass
from tiledialect.lowering.quirks.gpu_keep_sums import GpuKeepSumsPass
from tiledialect.lowering.quirks.gpu_split_sincos import GpuSplitSincosPass
from tiledialect.lowering.quirks.nest_free_barriers import NestFreeBarriersPass
from tiledialect.lowering.quirks.nest_peel_last import NestPeelLastPass
from tiledialect.lowering.quirks.table import passes_of
from tiledialect.lowering.tile_to_nest.tile_to_nest import TileToNestPass
from tiledialect.passes.algebra.tile_factor_sums import TileFactorSumsPass
from tiledialect.passes.algebra.tile_one_hot import TileOneHotPass
from tiledialect.passes.algebra.tile_scan import TileScanPass
from tiledialect.passes.algebra.tile_split_product import TileSplitProductPass
from tiledialect.passes.fuse.options import Fusion
from tiledialect.passes.fuse.tile_fuse import TileFusePass
from tiledialect.passes.lift.lift_lower import LiftLowerPass
from tiledialect.passes.lift.lift_numbers_to_tile import LiftNumbersToTilePass
from tiledialect.passes.normalize.tile_bounds import TileBoundsPass
from tiledialect.passes.normalize.tile_broadcast import TileBroadcastPass
from tiledialect.passes.normalize.tile_choose_layouts import TileChooseLayoutsPass
from tiledialect.passes.normalize.tile_compose_copies import TileComposeCopiesPass
from tiledialect.passes.normalize.tile_decompose import TileDecomposePass
from tiledialect.passes.normalize.tile_defract import TileDefractPass
from tiledialect.passes.normalize.tile_reduce import TileReducePass
from tiledialect.passes.schedule.tile_join_axes import TileJoinAxesPass
from tiledialect.passes.schedule.tile_loop_tiling import TileLoopTilingPass
from tiledialect.passes.specialize.tile_narrow_operands import TileNarrowOperandsPass
from tiledialect.passes.specialize.tile_widen import TileWidenPass
from tiledialect.passes.split.rewrites.piece_names import PIECES
from tiledialect.passes.split.tile_outline_parts import TileOutlinePartsPass
from tiledialect.passes.split.tile_split_rows import TileSplitRowsPass
from tiledialect.passes.split.tile_split_scan import TileSplitScanPass
from tiledialect.passes.split.tile_split_scatter import TileSplitScatterPass
from tiledialect.schedule.cost.traits import traits_of
from tiledialect.schedule.default_schedule import LOCAL_SIZE

MODELLED = Fusion()
"""Fusion decided by the cost model."""

NEST_PASSES = (
    *(NestFreeBarriersPass, NestStreamStoresPass, NestPrefetchPass, NestPrefetchStreamsPass),
    *(NestPeelLastPass,),
)
"""Passes over nests for single platforms, in their order."""
KERNEL_PASSES = (
    *(MathPolynomialApproximationPass, ArithShareReciprocalsPass),
    *(GpuKeepLoopsPass, GpuSplitSincosPass, GpuKeepSumsPass),
)
"""Passes over the kernel level for single platforms, in their order."""


def pipeline(
    local_size: int,
    schedules: tuple[str, ...] = (),
    fusion: Fusion = MODELLED,
    passes: tuple[str, ...] = (),
) -> tuple[ModulePass, ...]:
    """Passes from specialized functions to the kernel level; some may be given as texts."""
    whole, given = _whole(schedules), GivenPasses(passes)
    return (
        # specialize
        TileOutlinePartsPass(),
        TileWidenPass(),
        LiftNumbersToTilePass(),
        CanonicalizePass(),
        NamingCsePass(),
        # normalize, with the algebra of sums
        TileDecomposePass(),
        TileFactorSumsPass(),
        TileBroadcastPass(),
        TileBoundsPass(),
        TileOneHotPass(),
        TileScanPass(),
        TileSplitScanPass(),
        TileSplitScatterPass(keep=whole),
        TileReducePass(),
        TileDefractPass(),
        TileNarrowOperandsPass(),
        TileComposeCopiesPass(),
        TileChooseLayoutsPass(),
        TileSplitProductPass(keep=whole),
        *given.winograd(whole),
        # split
        TileSplitRowsPass(keep=whole),
        *given.splits(whole),
        # fuse
        TileFusePass(**vars(given.fusion(fusion))),
        # schedule
        TileJoinAxesPass(schedules),
        TileLoopTilingPass(local_size, schedules),
        LiftLowerPass(),
        # lower
        LiftToNestPass(local_size),
        TileToGpuPass(given.horizontal().most),
        GpuArenaPass(),
    )


def open_pipeline(local_size: int, index_width: int) -> tuple[ModulePass, ...]:
    """Passes from functions of patterns with open sizes to the kernel level."""
    return (
        CanonicalizePass(),
        NamingCsePass(),
        LiftLowerPass(),
        LiftToNestPass(local_size, index_width),
        TileToGpuPass(),
    )


def nest_passes(own: Collection[str] = (), *, edges: bool = False) -> tuple[ModulePass, ...]:
    """Passes from one nest to the kernel level, with the platform passes that ``own`` names."""
    return (
        # nest
        NestPipelinePass(),
        NestPeelPass(copies=False, branches=not edges, edges=edges),
        *((NestSplitTilesPass(),) if edges else (NestMergeLoadsPass(), NestPadRowsPass())),
        NestInterleaveStoresPass(),
        NestHalveVectorsPass(),
        NestVectorizePass(),
        NestBoundLoopsPass(),
        NestShareMemoryPass(),
        NestBarriersPass(),
        *(p() for p in NEST_PASSES if p.name in own),
        # kernel level
        NestToGpuPass(),
        *((GpuShareRowsPass(),) if edges else ()),
        GpuCountCopiesPass(),
        GpuLoadAheadPass(),
        GpuWidenBf16Pass(),
    )


def kernel_passes(module: ModuleOp) -> tuple[ModulePass, ...]:
    """Passes over the kernel level for the module's device."""
    own = passes_of(platform(module))
    return (
        *((GpuBroadcastHalvesPass(),) if traits_of(module).has_vectors else ()),
        *(p(**own[p.name]) for p in KERNEL_PASSES if p.name in own),
    )


def join_nests(ctx: Context, op: ModuleOp) -> None:
    """Run the passes over nests that compare kernels with one another."""
    joining = () if traits_of(op).interleaves_groups else (NestJoinKernelsPass(),)
    PassPipeline((NestBoundLoopsPass(numbers=True), *joining)).apply(ctx, op)


def lower_nests(ctx: Context, op: ModuleOp, most: int = MOST_KERNELS) -> None:
    """Lower all nests to the kernel level, as many in a launch at most."""
    join_nests(ctx, op)
    NestFuseHorizontallyPass(most).apply(ctx, op)
    lower_joined_nests(ctx, op)


def lower_joined_nests(ctx: Context, op: ModuleOp) -> None:
    """Lower all nests to the kernel level, each for itself."""
    passes = nest_passes(passes_of(platform(op)), edges=traits_of(op).has_vectors)
    PassPipeline((*passes, *kernel_passes(op), GpuDivideGroupsPass())).apply(ctx, op)


def local_size_of(module: ModuleOp) -> int:
    """Most work-items of a work-group, where a program leaves it open."""
    return min(LOCAL_SIZE, limit(module, "max_work_group_size", LOCAL_SIZE))


def _whole(schedules: tuple[str, ...]) -> tuple[str, ...]:
    """Names of contractions that are scheduled as a whole, and so not split."""
    names = {name for text in schedules for name in read_schedules(text)}
    return tuple(sorted(n for n in names if not any(f"{n}_{p}" in names for p in PIECES)))


class TileCompilePass(ModulePass):
    """Runs all passes from specialized functions to the kernel level, for the module's device."""

    name = "tile-compile"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Compile every function."""
        PassPipeline(pipeline(local_size_of(op))).apply(ctx, op)


@dataclass(frozen=True)
class TileToGpuPass(ModulePass):
    """Lowers functions of scheduled kernels to `gpu.module`s and host functions.

    Runs `tile-to-nest`, the passes over nests, `nest-to-gpu`, `gpu-share-rows`,
    `gpu-count-copies`, `gpu-load-ahead`, `gpu-widen-bf16`, the device's own passes, and
    `gpu-divide-groups`.
    """

    name = "tile-to-gpu"

    most: int = MOST_KERNELS
    """Most kernels of a launch; with 1 each has its own."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Lower every function that has tile ops."""
        TileToNestPass().apply(ctx, op)
        lower_nests(ctx, op, self.most)


@dataclass(frozen=True)
class LiftToGpuPass(ModulePass):
    """Lowers functions of low-level patterns to `gpu.module`s and host functions.

    Runs `lift-to-nest`, the passes over nests, `nest-to-gpu`, `gpu-share-rows`,
    `gpu-count-copies`, `gpu-load-ahead`, `gpu-widen-bf16`, the device's own passes, and
    `gpu-divide-groups`.
    """

    name = "lift-to-gpu"

    local_size: int = LOCAL_SIZE
    """Most work-items of a work-group, where the program leaves it open."""

    index_width: int | None = None
    """The bits of the index arithmetic; by default 64 if a size is open."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Lower every function that has patterns."""
        LiftToNestPass(self.local_size, self.index_width).apply(ctx, op)
        lower_nests(ctx, op)
