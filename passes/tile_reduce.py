"""tile-reduce: make every output index of a contraction a single variable."""

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
from tiledialect.index.reduce import reduce
from tiledialect.passes.change_indices import set_space, unbounded


class ReduceContraction(RewritePattern):
    """Changes the variables of a static contraction by `reduce`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ContractionOp, rewriter: PatternRewriter) -> None:
        """Change the variables, in place."""
        if isinstance(op.parent_op(), KernelOp):
            # A schedule may name its indices.
            return
        if not op.is_static:
            return
        try:
            change = reduce(op.space())
        except UnboundedIndexError as e:
            raise unbounded(op, e) from None
        set_space(op, change.space)
        rewriter.notify_op_modified(op)


@dataclass(frozen=True)
class TileReducePass(ModulePass):
    """Takes the output's index expressions as new variables, as far as they are independent.

    Every output index that can be is a single variable afterwards; the inputs' index expressions
    may have fractional coefficients, which `tile-defract` removes.
    """

    name = "tile-reduce"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Reduce every contraction."""
        PatternRewriteWalker(ReduceContraction(), apply_recursively=False).rewrite_module(op)
