"""convert-stablehlo-to-tile: programs of JAX and others as tile ops."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass


class ConvertStablehloToTilePass(ModulePass):
    """Converts functions of StableHLO, and of the ops of CHLO that JAX writes, to tile ops.

    Calls are inlined, and private functions left out. Shapes must be known; there are no complex
    and no quantized numbers. Needs xdsl-jax.
    """

    name = "convert-stablehlo-to-tile"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Convert every function."""
        # The dialect is of another package, which need not be installed.
        from tiledialect.passes.convert.stablehlo.functions import convert

        convert(op)
