"""tile-defract: make every coefficient of a contraction's index expressions an integer."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.index.contraction import UnboundedIndexError
from tiledialect.index.defract import defract
from tiledialect.passes.change_indices import set_space, unbounded


class DefractContraction(RewritePattern):
    """Changes the variables of a static contraction by `defract`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ContractionOp, rewriter: PatternRewriter) -> None:
        """Change the variables, in place."""
        if isinstance(op.parent_op(), KernelOp):
            # A schedule may name its indices.
            return
        if op.no_defract is not None or not op.is_static:
            return
        try:
            change = defract(op.space())
        except UnboundedIndexError as e:
            raise unbounded(op, e) from None
        set_space(op, change.space)
        rewriter.notify_op_modified(op)


@dataclass(frozen=True)
class TileDefractPass(ModulePass):
    """Splits indices so that every coefficient is an integer and nothing is tested for that.

    Where an output index becomes a sum of several variables, constraints keep them digits of a
    mixed radix, so that each element still has one owner. A contraction marked `no_defract`
    stays as it is.
    """

    name = "tile-defract"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Defract every contraction."""
        PatternRewriteWalker(DefractContraction(), apply_recursively=False).rewrite_module(op)
