"""tile-bounds: the range of each index of a contraction."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from tiledialect.dialects.tile.attributes import Aggregation, ConstraintAttr
from tiledialect.dialects.tile.base import name_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.errors import TileError
from tiledialect.index import sets
from tiledialect.index.contraction import IndexSpace, UnboundedIndexError
from tiledialect.index.parallel import implied
from tiledialect.passes.normalize.rewrites.change_indices import set_domain, unbounded


class BoundContraction(RewritePattern):
    """Give a static contraction its domain, and drop the constraints that are implied."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ContractionOp, rewriter: PatternRewriter) -> None:
        """Add the domain, unless the contraction has one."""
        if op.domain is not None or not op.is_static:
            return
        space = op.space()
        try:
            sets.ranges(space)
        except UnboundedIndexError as e:
            raise unbounded(op, e) from None
        if op.aggregation.data == Aggregation.assign:
            check_single_valued(op, space)
        kept = needed_constraints(space)
        op.constraints = ArrayAttr([ConstraintAttr(space.constraints[k]) for k in kept])
        set_domain(op, op.space())
        rewriter.notify_op_modified(op)


def check_single_valued(op: ContractionOp, space: IndexSpace) -> None:
    """Refuse an `assign` under which two points land on one element."""
    collision = sets.collision(space)
    if collision is None:
        return
    element = ", ".join(map(str, collision.output))
    first, second = (
        ", ".join(f"{name} = {value}" for name, value in point.items())
        for point in (collision.first, collision.second)
    )
    raise TileError.at(
        op, f"{name_of(op.result)}[{element}] is assigned twice: where {first}, and where {second}"
    )


def needed_constraints(space: IndexSpace) -> list[int]:
    """Numbers of the user's constraints that do not follow from the tensors and from one
    another.
    """
    first = len(space.accesses)
    numbers = range(len(space.constraints))
    dropped = implied(space, range(first, first + len(numbers)))
    return [k for k in numbers if first + k not in dropped]


class TileBoundsPass(ModulePass):
    """Finds the range of each index of every static contraction, and refuses invalid ones.

    Adds the `domain`, drops constraints that are implied, and ends in an error where nothing bounds
    an index or `assign` would write an element twice.
    """

    name = "tile-bounds"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Bound every contraction."""
        PatternRewriteWalker(BoundContraction(), apply_recursively=False).rewrite_module(op)
