"""lift-to-tile: functions of patterns as contractions and elementwise ops."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tiledialect.dialects.lift.base import LiftOp
from tiledialect.ir.ops_in import has_one_block, ops_of
from tiledialect.passes.lift.lift_numbers_to_tile import numbers_as_tensors


class LiftToTilePass(ModulePass):
    """Rewrites patterns of functions whose sizes are known as tensor ops.

    Layout patterns become index expressions, maps become axes, reductions that add, multiply or
    take an extreme become contractions; other reductions, and iterations, are unrolled. Annotations
    of work-items and memories are dropped. `tile-gradient` does the same before it differentiates.
    """

    name = "lift-to-tile"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite every function that has patterns."""
        for function in ops_of(op, func.FuncOp):
            if has_one_block(function):
                without_patterns(function)


def has_lift_ops(function: func.FuncOp) -> bool:
    """Whether a function has ops of lift."""
    return bool(ops_of(function, LiftOp))


def without_patterns(function: func.FuncOp) -> None:
    """Rewrite a function's patterns, and its numbers, as tensor ops, in place."""
    if has_lift_ops(function):
        # The evaluation is imported where there are patterns: most programs have none.
        from tiledialect.passes.lift.to_tile.functions import to_tile

        to_tile(function)
    else:
        numbers_as_tensors(function)
