"""tile-compile: the whole way from tile to the kernel level."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, TensorType
from xdsl.ir import Attribute
from xdsl.passes import ModulePass, PassPipeline
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination

from tiledialect.choices import Fusion
from tiledialect.dialects.tile import Tile
from tiledialect.dialects.tile.schedule_text import read_schedules
from tiledialect.errors import TileError
from tiledialect.lowering.gpu_arena import GpuArenaPass
from tiledialect.lowering.host_closing import closed
from tiledialect.lowering.nest.lift_to_nest import LiftToNestPass
from tiledialect.lowering.tile_to_gpu import TileToGpuPass
from tiledialect.passes.lift_lower import LiftLowerPass
from tiledialect.passes.lift_to_tile import LiftNumbersToTilePass
from tiledialect.passes.surprises import WARNINGS, keep_warnings
from tiledialect.passes.tile_bounds import TileBoundsPass
from tiledialect.passes.tile_broadcast import TileBroadcastPass
from tiledialect.passes.tile_decompose import TileDecomposePass
from tiledialect.passes.tile_defract import TileDefractPass
from tiledialect.passes.tile_factor_sums import TileFactorSumsPass
from tiledialect.passes.tile_fuse import TileFusePass
from tiledialect.passes.tile_gradient import Gradient, specialize_gradient
from tiledialect.passes.tile_join_axes import TileJoinAxesPass
from tiledialect.passes.tile_loop_tiling import TileLoopTilingPass
from tiledialect.passes.tile_narrow_operands import TileNarrowOperandsPass
from tiledialect.passes.tile_one_hot import TileOneHotPass
from tiledialect.passes.tile_reduce import TileReducePass
from tiledialect.passes.tile_scan import TileScanPass
from tiledialect.passes.tile_split_product import TileSplitProductPass
from tiledialect.passes.tile_split_reduction import TileSplitReductionPass
from tiledialect.passes.tile_split_rows import TileSplitRowsPass
from tiledialect.passes.tile_split_scan import TileSplitScanPass
from tiledialect.passes.tile_split_scatter import TileSplitScatterPass
from tiledialect.passes.tile_widen import TileWidenPass
from tiledialect.passes.tile_winograd import TileWinogradPass
from tiledialect.schedule.default import LOCAL_SIZE
from tiledialect.signature import find_function
from tiledialect.target_spec import describe, limit

MODELLED = Fusion()
"""What is fused where the cost model decides."""


def pipeline(
    local_size: int, schedules: tuple[str, ...] = (), fusion: Fusion = MODELLED
) -> tuple[ModulePass, ...]:
    """The passes from specialized functions to the kernel level."""
    whole = _whole(schedules)
    return (
        TileWidenPass(),
        LiftNumbersToTilePass(),
        CanonicalizePass(),
        CommonSubexpressionElimination(),
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
        TileSplitProductPass(keep=whole),
        TileWinogradPass(keep=whole),
        TileSplitRowsPass(keep=whole),
        TileSplitReductionPass(keep=whole),
        TileFusePass(**vars(fusion)),
        TileJoinAxesPass(schedules),
        TileLoopTilingPass(local_size, schedules),
        LiftLowerPass(),
        LiftToNestPass(local_size),
        TileToGpuPass(),
        GpuArenaPass(),
    )


def _whole(schedules: tuple[str, ...]) -> tuple[str, ...]:
    """What is scheduled as a whole, and so not in parts."""
    names = {name for text in schedules for name in read_schedules(text)}
    return tuple(sorted(name for name in names if f"{name}_parts" not in names))


def open_pipeline(local_size: int, index_width: int) -> tuple[ModulePass, ...]:
    """The passes from functions of patterns whose sizes stay open to the kernel level."""
    return (
        CanonicalizePass(),
        CommonSubexpressionElimination(),
        LiftLowerPass(),
        LiftToNestPass(local_size, index_width),
        TileToGpuPass(),
    )


OPEN_PASSES = frozenset(p.name for p in open_pipeline(LOCAL_SIZE, 32))
"""The names of these passes."""


def compile_module(
    module: ModuleOp,
    name: str | None,
    types: Sequence[TensorType[Attribute]],
    target: Attribute | None = None,
    gradients: Sequence[Gradient] = (),
    after: str | None = None,
    schedules: tuple[str, ...] = (),
    fusion: Fusion = MODELLED,
) -> ModuleOp:
    """The kernel-level module of a function for inputs of these types; ``module`` stays as it is.

    ``target`` is the DLTI target spec of the device. With ``gradients`` the function is
    differentiated that often, and ``types`` includes those of the cotangents; with ``after`` the
    passes after the one of that name are not run. ``schedules`` are given to the kernels, see
    ``tile-loop-tiling``, and ``fusion`` to ``tile-fuse``. What to warn the user of is in the
    attribute ``tile.warnings``. Raises a TileError if the types do not fit.
    """
    module = only(module.clone(), name)
    function = find_function(module, name)
    describe(module, target)
    keep_warnings(module, specialize_gradient(function, types, gradients))
    context = Context()
    # Folding makes constants, for which it asks their dialects.
    for dialect in (Arith, Tile):
        context.load_dialect(dialect)
    PassPipeline(_until(_passes(module, schedules, fusion), after)).apply(context, module)
    return module


def compile_open(
    module: ModuleOp,
    name: str,
    index_width: int,
    target: Attribute | None = None,
    after: str | None = None,
) -> ModuleOp:
    """The kernel-level module of a function of patterns, for inputs of all sizes.

    Raises an ``OpenSizeError`` if a size must be a number.
    """
    module = only(module.clone(), name)
    describe(module, target)
    context = Context()
    for dialect in (Arith, Tile):
        context.load_dialect(dialect)
    passes = open_pipeline(local_size_of(module), index_width)
    PassPipeline(_until(passes, after)).apply(context, module)
    return module


def close(module: ModuleOp, name: str, types: Sequence[TensorType[Attribute]]) -> ModuleOp:
    """What ``compile_open`` made, for inputs of these types."""
    module = closed(module, name, [t.get_shape() for t in types])
    GpuArenaPass().apply(Context(), module)
    return module


def only(module: ModuleOp, name: str | None) -> ModuleOp:
    """The module without other functions."""
    function = find_function(module, name)
    for other in list(module.body.block.ops):
        if other is not function:
            other.detach()
            other.erase(safe_erase=False)
    return module


def warnings_of(module: ModuleOp) -> tuple[str, ...]:
    """What to warn the user of, in a module that was compiled."""
    texts = module.attributes.get(WARNINGS)
    given = texts if isinstance(texts, ArrayAttr) else ()
    return tuple(text.data for text in given if isinstance(text, StringAttr))


def _passes(
    module: ModuleOp, schedules: tuple[str, ...] = (), fusion: Fusion = MODELLED
) -> tuple[ModulePass, ...]:
    """The pipeline for the module's device."""
    return pipeline(local_size_of(module), schedules, fusion)


def local_size_of(module: ModuleOp) -> int:
    """How many work-items a work-group has at most, where a program leaves it open."""
    return min(LOCAL_SIZE, limit(module, "max_work_group_size", LOCAL_SIZE))


BEFORE = ("tile-specialize", "tile-gradient")
"""What is done before the pipeline."""


def _until(passes: tuple[ModulePass, ...], after: str | None) -> tuple[ModulePass, ...]:
    """The passes up to the one called ``after``."""
    if after is None:
        return passes
    names = [p.name for p in passes]
    if after in BEFORE:
        return ()
    if after not in names:
        raise TileError(f"there is no pass {after}; there is {', '.join((*BEFORE, *names))}")
    return passes[: names.index(after) + 1]


class TileCompilePass(ModulePass):
    """Runs all passes from specialized functions to the kernel level, for the module's device."""

    name = "tile-compile"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Compile every function."""
        PassPipeline(_passes(op)).apply(ctx, op)
