"""What tiledialect adds to xDSL: dialects, passes and targets, each loaded when used."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from xdsl.universe import Universe


def _load(module: str, name: str) -> Callable[[], Any]:
    """A function that imports ``name`` from a module of this package."""
    return lambda: getattr(import_module(f"tiledialect.{module}"), name)


TILE_UNIVERSE = Universe(
    all_dialects={
        "lift": _load("dialects.lift", "Lift"),
        "tile": _load("dialects.tile", "Tile"),
        "nest": _load("dialects.nest", "Nest"),
    },
    all_passes={
        "tile-gradient": _load("passes.tile_gradient", "TileGradientPass"),
        "tile-specialize": _load("passes.tile_specialize", "TileSpecializePass"),
        "tile-widen": _load("passes.tile_widen", "TileWidenPass"),
        "tile-bounds": _load("passes.tile_bounds", "TileBoundsPass"),
        "tile-decompose": _load("passes.tile_decompose", "TileDecomposePass"),
        "tile-factor-sums": _load("passes.tile_factor_sums", "TileFactorSumsPass"),
        "tile-broadcast": _load("passes.tile_broadcast", "TileBroadcastPass"),
        "tile-one-hot": _load("passes.tile_one_hot", "TileOneHotPass"),
        "tile-scan": _load("passes.tile_scan", "TileScanPass"),
        "tile-split-scan": _load("passes.tile_split_scan", "TileSplitScanPass"),
        "tile-split-scatter": _load("passes.tile_split_scatter", "TileSplitScatterPass"),
        "tile-reduce": _load("passes.tile_reduce", "TileReducePass"),
        "tile-defract": _load("passes.tile_defract", "TileDefractPass"),
        "tile-split-product": _load("passes.tile_split_product", "TileSplitProductPass"),
        "tile-winograd": _load("passes.tile_winograd", "TileWinogradPass"),
        "tile-split-rows": _load("passes.tile_split_rows", "TileSplitRowsPass"),
        "tile-split-reduction": _load("passes.tile_split_reduction", "TileSplitReductionPass"),
        "tile-narrow-operands": _load("passes.tile_narrow_operands", "TileNarrowOperandsPass"),
        "tile-fuse": _load("passes.tile_fuse", "TileFusePass"),
        "tile-join-axes": _load("passes.tile_join_axes", "TileJoinAxesPass"),
        "tile-loop-tiling": _load("passes.tile_loop_tiling", "TileLoopTilingPass"),
        "tile-to-lift": _load("passes.tile_to_lift", "TileToLiftPass"),
        "lift-to-tile": _load("passes.lift_to_tile", "LiftToTilePass"),
        "lift-numbers-to-tile": _load("passes.lift_to_tile", "LiftNumbersToTilePass"),
        "lift-rewrite": _load("passes.lift_rewrite", "LiftRewritePass"),
        "lift-bind": _load("passes.lift_bind", "LiftBindPass"),
        "tile-to-nest": _load("lowering.nest.tile_to_nest", "TileToNestPass"),
        "lift-lower": _load("passes.lift_lower", "LiftLowerPass"),
        "lift-to-nest": _load("lowering.nest.lift_to_nest", "LiftToNestPass"),
        "lift-to-gpu": _load("lowering.tile_to_gpu", "LiftToGpuPass"),
        "nest-pipeline": _load("lowering.nest.nest_pipeline", "NestPipelinePass"),
        "nest-bound-loops": _load("lowering.nest.nest_bound_loops", "NestBoundLoopsPass"),
        "nest-peel": _load("lowering.nest.nest_peel", "NestPeelPass"),
        "nest-join-kernels": _load("lowering.nest.nest_join_kernels", "NestJoinKernelsPass"),
        "nest-split-tiles": _load("lowering.nest.nest_split_tiles", "NestSplitTilesPass"),
        "nest-halve-vectors": _load("lowering.nest.nest_halve_vectors", "NestHalveVectorsPass"),
        "nest-interleave-stores": _load(
            "lowering.nest.nest_interleave_stores", "NestInterleaveStoresPass"
        ),
        "nest-vectorize": _load("lowering.nest.nest_vectorize", "NestVectorizePass"),
        "arith-share-reciprocals": _load(
            "lowering.arith_share_reciprocals", "ArithShareReciprocalsPass"
        ),
        "math-polynomial-approximation": _load(
            "lowering.math_polynomial_approximation", "MathPolynomialApproximationPass"
        ),
        "nest-stream-stores": _load("lowering.nest.nest_stream_stores", "NestStreamStoresPass"),
        "nest-prefetch": _load("lowering.nest.nest_prefetch", "NestPrefetchPass"),
        "nest-prefetch-streams": _load(
            "lowering.nest.nest_prefetch_streams", "NestPrefetchStreamsPass"
        ),
        "nest-share-memory": _load("lowering.nest.nest_share_memory", "NestShareMemoryPass"),
        "nest-barriers": _load("lowering.nest.nest_barriers", "NestBarriersPass"),
        "nest-free-barriers": _load("lowering.quirks.nest_free_barriers", "NestFreeBarriersPass"),
        "simplify-index-arithmetic": _load(
            "lowering.nest.simplify_index_arithmetic", "SimplifyIndexArithmeticPass"
        ),
        "nest-to-gpu": _load("lowering.nest.nest_to_gpu", "NestToGpuPass"),
        "gpu-broadcast-halves": _load("lowering.gpu_broadcast_halves", "GpuBroadcastHalvesPass"),
        "gpu-count-copies": _load("lowering.gpu_count_copies", "GpuCountCopiesPass"),
        "gpu-load-ahead": _load("lowering.gpu_load_ahead", "GpuLoadAheadPass"),
        "tile-to-gpu": _load("lowering.tile_to_gpu", "TileToGpuPass"),
        "gpu-keep-loops": _load("lowering.quirks.gpu_keep_loops", "GpuKeepLoopsPass"),
        "gpu-split-sincos": _load("lowering.quirks.gpu_split_sincos", "GpuSplitSincosPass"),
        "gpu-share-rows": _load("lowering.gpu_share_rows", "GpuShareRowsPass"),
        "gpu-widen-bf16": _load("lowering.gpu_widen_bf16", "GpuWidenBf16Pass"),
        "gpu-arena": _load("lowering.gpu_arena", "GpuArenaPass"),
        "tile-compile": _load("lowering.tile_compile", "TileCompilePass"),
    },
    all_targets={
        "opencl": _load("lowering.opencl.target", "OpenCLTarget"),
        "tile": _load("language.target", "TileTarget"),
        "lift-derivation": _load("passes.lift.targets", "LiftDerivationTarget"),
        "lift-graph": _load("passes.lift.targets", "LiftGraphTarget"),
        "lift-views": _load("lowering.nest.view_drawing", "LiftViewsTarget"),
        "lift-rules": _load("passes.lift.targets", "LiftRulesTarget"),
        "lift-steps": _load("passes.lift.targets", "LiftStepsTarget"),
    },
)


def everything() -> Universe:
    """What xDSL finds, and what is here where the package is not installed."""
    own, found = TILE_UNIVERSE, Universe.get_multiverse()
    return Universe(
        all_dialects=own.all_dialects | found.all_dialects,
        all_passes=own.all_passes | found.all_passes,
        all_targets=own.all_targets | found.all_targets,
    )
