"""Functions of StableHLO as functions of tile ops."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriteWalker
from xdsl.transforms.dead_code_elimination import dce

from tiledialect.ir.inlining import inline_calls
from tiledialect.passes.convert.stablehlo_base import ConvertOps
from tiledialect.passes.convert.stablehlo_contractions import CONTRACTIONS
from tiledialect.passes.convert.stablehlo_control import (
    DropBarrier,
    DropTuple,
    check_converted,
)
from tiledialect.passes.convert.stablehlo_elementwise import ELEMENTWISE
from tiledialect.passes.convert.stablehlo_indexing import INDEXING
from tiledialect.passes.convert.stablehlo_layout import LAYOUT
from tiledialect.passes.convert.stablehlo_reductions import REDUCTIONS

CONVERSIONS = {**ELEMENTWISE, **LAYOUT, **CONTRACTIONS, **REDUCTIONS, **INDEXING}


def convert(module: ModuleOp) -> None:
    """Convert a module in place."""
    inline_calls(module)
    patterns = [ConvertOps(CONVERSIONS), DropTuple(), DropBarrier()]
    PatternRewriteWalker(
        GreedyRewritePatternApplier(patterns), apply_recursively=False
    ).rewrite_module(module)
    dce(module)
    check_converted(module)
