"""lift-numbers-to-tile: arithmetic on numbers outside of patterns as elementwise ops."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects import func, tensor
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tiledialect.ir.ops_in import has_one_block, ops_of


class LiftNumbersToTilePass(ModulePass):
    """Rewrites arithmetic on numbers outside of patterns as tensor ops.

    So `x * 2.0` is one op, and a function of numbers has a kernel.
    """

    name = "lift-numbers-to-tile"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite every function."""
        for function in ops_of(op, func.FuncOp):
            if has_one_block(function):
                numbers_as_tensors(function)


def numbers_as_tensors(function: func.FuncOp) -> None:
    """Rewrite a function's numbers outside of patterns as tensor ops, in place."""
    if any(isinstance(op, tensor.FromElementsOp) for op in function.body.block.ops):
        from tiledialect.passes.lift.to_tile.functions import numbers_to_tile

        numbers_to_tile(function)
