"""tile-split-reduction: one contraction into partial results and their aggregate."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import Rewriter

from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.base import name_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.kernel import KernelOp
from tiledialect.errors import TileError
from tiledialect.ir.named_values import named_results
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.pass_flags import PassWithFlags
from tiledialect.ir.target_spec import precision_of
from tiledialect.passes.diagnostics.value_text import described
from tiledialect.passes.split.rewrites.piece_names import is_kept
from tiledialect.passes.split.rewrites.reduction_split import ReductionSplit, split_obstacle
from tiledialect.passes.split.rewrites.split_choice import SettledSplit, SplitChoice, Weighed
from tiledialect.passes.split.rewrites.split_row_reductions import group_of
from tiledialect.schedule.cost.device import Device, device_of
from tiledialect.schedule.search.tensor_cores import SPLIT_GAIN


@dataclass(frozen=True)
class TileSplitReductionPass(PassWithFlags):
    """Splits a contraction into partial results and their aggregate.

    The values of an index that is summed over (or aggregated otherwise) are divided among parts of
    equal size, but for the last. Each part has a result of its own, along a new first axis; a
    second contraction aggregates those. So several work-groups can compute one element. Elements on
    which nothing lands keep their value; where that cannot be, the split is refused. Sums and
    products of types f16 and bf16 have partial results of type f32.

    Without `index` the cost model chooses contractions, indices and parts, for the device of the
    module's DLTI target spec: contractions are split whose results alone would leave units of the
    device idle.
    """

    name = "tile-split-reduction"

    index: str | None = None
    """Name of the index in the contraction."""
    parts: int | None = None
    """Maximum number of parts that its values are divided into."""
    contraction: str | None = None
    """The result of the contraction, without the `%`; by default, all that sum over the index."""
    keep: tuple[str, ...] = ()
    """Results that the cost model leaves whole, directly or as elementwise functions of them."""
    explain: bool = False
    """Whether to print the alternatives that the cost model weighed."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Split every contraction that is named, or faster when split."""
        if self.index is None:
            for reason in self.choose(op):
                print(reason, file=sys.stderr)
            return
        if self.parts is None or self.parts < 2:
            raise TileError(f"`parts` must be at least 2, got {self.parts or 0}")
        for contraction in self._named(op, self.index):
            _replace(contraction, ReductionSplit(contraction, self.index, self.parts))

    def choose(self, module: ModuleOp) -> list[str]:
        """Split contractions that the module's device computes faster so; with `explain`, the
        reasons.
        """
        if self.parts is not None or self.contraction is not None:
            raise TileError("tile-split-reduction needs the index to split at")
        device = device_of(module)
        reasons: list[str] = []
        every = ops_of(module, ContractionOp)
        ops = [op for op in every if op.aggregation.data is not Aggregation.assign]
        choice = None if device is None else SplitChoice(device, precision_of(module))
        closed = self._left_whole(ops, device)
        if choice is not None:
            choice.search_ahead(op for op in ops if op not in closed)
        for op in ops:
            if choice is None:
                found = "no device is described"
            else:
                found = closed.get(op) or choice.weighed(op)
            if self.explain:
                reasons.append(f"{described(op.result)}: {_explained(found)}")
            if not isinstance(found, str) and found.split is not None:
                _replace(op, found.split)
        return reasons

    def _left_whole(
        self, ops: Sequence[ContractionOp], device: Device | None
    ) -> dict[ContractionOp, str]:
        """Contractions of which no split is weighed, with the reasons."""
        rows = "work-groups keep its rows for other aggregates of them"
        found = dict.fromkeys(_in_kept_rows(ops, device) if device is not None else (), rows)
        given = (op for op in ops if is_kept([op], self.keep))
        return found | dict.fromkeys(given, "its schedule is given")

    def _named(self, module: ModuleOp, index: str) -> list[ContractionOp]:
        """Contractions to split at an index."""
        ops = ops_of(module, ContractionOp)
        if self.contraction is None:
            found = [op for op in ops if split_obstacle(op, index) is None]
            if not found:
                raise TileError(f"no contraction that can be split sums over {index}")
            return found
        values = named_results([op.result for op in ops], self.contraction)
        found = [op for op in ops if op.result in values]
        for op in found:
            if (reason := split_obstacle(op, index)) is not None:
                raise TileError.at(op, f"{name_of(op.result)} cannot be split: {reason}")
        return found


def _replace(op: ContractionOp, split: ReductionSplit) -> None:
    """Replace a contraction by the ops of a split."""
    made = split.ops()
    Rewriter.replace_op(op, made, [made[-1].results[0]])


def _in_kept_rows(ops: Sequence[ContractionOp], device: Device) -> set[ContractionOp]:
    """Aggregates of rows that work-groups keep in registers, as some of them need others."""
    if not device.registers_unit:
        return set()
    groups = (group_of(op) for op in ops if not isinstance(op.parent_op(), KernelOp))
    return {
        op for group in groups if group is not None and group.is_kept(device) for op in group.ops
    }


def _explained(found: Weighed | SettledSplit | str) -> str:
    """Explanation of the alternatives weighed for a contraction, for the user."""
    if isinstance(found, str):
        return f"not split into partial results, as {found}"
    if isinstance(found, SettledSplit):
        return f"split into partial results, as {found.reason}"
    done, which = ("split", "a") if found.split is not None else ("not split", "no")
    gain = f"takes less than {SPLIT_GAIN:.0%} of the time of the whole, besides a launch"
    return f"{done} into partial results, as {which} split {gain}\n{found}"
