"""tile-reduce: make every output index of a contraction a single variable."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tiledialect.index.reduce import reduce
from tiledialect.passes.change_indices import change_indices, contractions_of


@dataclass(frozen=True)
class TileReducePass(ModulePass):
    """Takes the output's index expressions as new variables, as far as they are independent.

    Every output index that can be is a single variable afterwards; the inputs' index expressions
    may have fractional coefficients, which `tile-defract` removes.
    """

    name = "tile-reduce"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Reduce every contraction."""
        for contraction in contractions_of(op):
            change_indices(contraction, reduce)
