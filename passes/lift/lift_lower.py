"""lift-lower: mapping of open patterns to work-items, by rewrite rules."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tiledialect.dialects.lift.base import LiftOp
from tiledialect.ir.ops_in import has_one_block, ops_of


class LiftLowerPass(ModulePass):
    """Maps patterns without a mapping to work-items, by rewrite rules.

    A map that computes becomes a kernel: up to three maps, each the function of the one around it,
    are divided among all work-items by `map_glb`, and further ones are `map_seq`. Reductions are
    done by one work-item, by `reduce_seq`; a map whose result another pattern goes through once
    becomes part of that one. In a function that has some maps to work-groups or work-items, the
    maps around these become `map_seq`. The steps are recorded as those of `lift-rewrite` are.
    """

    name = "lift-lower"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Lower every function."""
        functions = [f for f in ops_of(op, func.FuncOp) if has_one_block(f) and ops_of(f, LiftOp)]
        if functions:
            # The rules are imported where there are patterns: most programs have none.
            from tiledialect.passes.lift.strategies.mapping import lower

            for function in functions:
                lower(function)
