"""tile-split-reduction: one contraction into partial results and their aggregate."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tiledialect.dialects.tile.base import name_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.errors import TileError
from tiledialect.passes.reduction_split import Split, why_not_split
from tiledialect.passes.split_choice import best_split, results_with
from tiledialect.schedule.device import device_of
from tiledialect.target_spec import precision_of


@dataclass(frozen=True)
class TileSplitReductionPass(ModulePass):
    """Splits a contraction into partial results and their aggregate.

    The values of an index that is summed over (or whatever the aggregation is) are divided among
    parts of equal size, but for the last. Each part has a result of its own, along a new first
    axis; a second contraction aggregates those. So work-groups can share what is one element.
    Elements on which nothing lands stay what they are; where that cannot be, the split is refused.
    Sums and products of types f16 and bf16 have partial results of type f32.

    Without `index` the cost model chooses contractions, indices and parts, for the device of the
    module's DLTI target spec: those are split of which the results alone would leave units of the
    device idle.
    """

    name = "tile-split-reduction"

    index: str | None = None
    """The index, as the contraction calls it."""
    parts: int | None = None
    """Into how many parts its values are divided, at most."""
    contraction: str | None = None
    """The result of the contraction, without the `%`; by default, all that sum over the index."""
    keep: tuple[str, ...] = ()
    """Results that the cost model leaves whole, and what they are computed from elementwise."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Split every contraction that is meant."""
        if self.index is None:
            self._split_by_cost(op)
            return
        if self.parts is None or self.parts < 2:
            raise TileError(f"{self.parts or 0} are too few parts to split a contraction into")
        for contraction in self._named(op, self.index):
            made = Split(contraction, self.index, self.parts).ops()
            Rewriter.replace_op(contraction, made, [made[-1].results[0]])

    def _split_by_cost(self, module: ModuleOp) -> None:
        """Split what the module's device computes faster so."""
        if self.parts is not None or self.contraction is not None:
            raise TileError("tile-split-reduction needs the index to split at")
        device = device_of(module)
        for op in [op for op in module.walk() if isinstance(op, ContractionOp)]:
            if device is None or not results_with(op).isdisjoint(self.keep):
                continue
            if made := best_split(op, device, precision_of(module)):
                Rewriter.replace_op(op, made, [made[-1].results[0]])

    def _named(self, module: ModuleOp, index: str) -> list[ContractionOp]:
        """The contractions to split at an index."""
        ops = [op for op in module.walk() if isinstance(op, ContractionOp)]
        if self.contraction is None:
            found = [op for op in ops if why_not_split(op, index) is None]
            if not found:
                raise TileError(f"no contraction that can be split sums over {index}")
            return found
        name = self.contraction.removeprefix("%")
        found = [op for op in ops if op.result.name_hint == name]
        if not found:
            known = ", ".join(dict.fromkeys(name_of(op.result) for op in ops)) or "none"
            raise TileError(f"there is no contraction {name}; there is {known}")
        for op in found:
            if (reason := why_not_split(op, index)) is not None:
                raise TileError.at(op, f"{name_of(op.result)} cannot be split: {reason}")
        return found
