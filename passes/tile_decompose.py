"""tile-decompose: ops that are contractions in disguise become contractions."""

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

from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise import IndexOp
from tiledialect.dialects.tile.special import ScatterOp
from tiledialect.index.expr import IndexExpr


class DecomposeScatter(RewritePattern):
    """Scatter as a sum: each element of the result adds up the updates whose index names it.

    So that every element has one owner, and no atomics are needed.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ScatterOp, rewriter: PatternRewriter) -> None:
        """Replace a scatter of known rank."""
        updates, indices, like = (shape_of(tensor_type(v)) for v in op.operands)
        shape = shape_of(tensor_type(op.result))
        if updates is None or indices is None or like is None or shape is None:
            return
        points = [IndexExpr.of(f"i{k}") for k in range(len(indices))]
        rest = [IndexExpr.of(f"r{k}") for k in range(len(shape) - 1)]
        place = IndexExpr.of("v")
        rows = IndexOp.along(op.like, 0)
        contraction = ContractionOp(
            Aggregation.add,
            Combination.cond,
            [place, *rest],
            [
                (rows.result, [place, *(IndexExpr() for _ in like[1:])]),
                (op.indices, points),
                (op.updates, [*points, *rest]),
            ],
            shape=shape,
        )
        contraction.location = rows.location = op.location
        rows.result.name_hint = "rows"
        contraction.result.name_hint = op.result.name_hint
        rewriter.replace(op, [rows, contraction])


@dataclass(frozen=True)
class TileDecomposePass(ModulePass):
    """Replaces ops that are contractions in disguise (`tile.scatter`) by contractions."""

    name = "tile-decompose"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Decompose every such op."""
        PatternRewriteWalker(DecomposeScatter(), apply_recursively=False).rewrite_module(op)
