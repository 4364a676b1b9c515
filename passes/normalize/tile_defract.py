"""tile-defract: make every coefficient of a contraction's index expressions an integer."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tiledialect.index.defract import defract
from tiledialect.passes.normalize.rewrites.change_indices import change_indices, contractions_of


class TileDefractPass(ModulePass):
    """Splits indices so that every coefficient is an integer and needs no test.

    Where an output index becomes a sum of several variables, constraints keep them digits of a
    mixed radix, so that each element still has one owner. A contraction marked `no_defract` is no
    exception: kernels have no fractions.
    """

    name = "tile-defract"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Defract every contraction."""
        for contraction in contractions_of(op):
            change_indices(contraction, defract)
