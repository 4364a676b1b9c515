"""Functions of StableHLO as functions of tile ops."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriteWalker,
    RewritePattern,
)
from xdsl.transforms.dead_code_elimination import dce

from tiledialect.ir.inlining import inline_calls
from tiledialect.passes.convert.stablehlo.base import ConvertOps
from tiledialect.passes.convert.stablehlo.contractions import CONTRACTIONS
from tiledialect.passes.convert.stablehlo.control import (
    DropTuple,
    call_decompositions,
    check_converted,
    drop_sharding,
    with_control_flow,
)
from tiledialect.passes.convert.stablehlo.elementwise import ELEMENTWISE
from tiledialect.passes.convert.stablehlo.indexing import INDEXING
from tiledialect.passes.convert.stablehlo.layout import LAYOUT
from tiledialect.passes.convert.stablehlo.normalization import NORMALIZATION
from tiledialect.passes.convert.stablehlo.reductions import REDUCTIONS
from tiledialect.passes.convert.stablehlo.scattering import SCATTERING
from tiledialect.passes.convert.stablehlo.sorting import SORTING

CONVERSIONS = with_control_flow(
    {
        **ELEMENTWISE,
        **LAYOUT,
        **CONTRACTIONS,
        **REDUCTIONS,
        **NORMALIZATION,
        **INDEXING,
        **SCATTERING,
        **SORTING,
    }
)


def convert(module: ModuleOp) -> None:
    """Convert a module in place."""
    drop_sharding(module)
    call_decompositions(module)
    inline_calls(module)
    patterns: list[RewritePattern] = [ConvertOps(CONVERSIONS), DropTuple()]
    PatternRewriteWalker(
        GreedyRewritePatternApplier(patterns), apply_recursively=False
    ).rewrite_module(module)
    dce(module)
    check_converted(module)
