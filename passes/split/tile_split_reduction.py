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
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.pass_flags import PassWithFlags
from tiledialect.ir.target_spec import precision_of
from tiledialect.passes.diagnostics.value_names import told
from tiledialect.passes.split.rewrites.reduction_split import Split, why_not_split
from tiledialect.passes.split.rewrites.split_choice import (
    GAIN,
    Weighed,
    results_with,
    weighed_splits,
)
from tiledialect.passes.split.rewrites.split_row_reductions import group_of
from tiledialect.schedule.cost.device import Device, Kind, device_of


@dataclass(frozen=True)
class TileSplitReductionPass(PassWithFlags):
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
    explain: bool = False
    """Whether to say what the cost model weighed against what."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Split every contraction that is meant."""
        if self.index is None:
            for reason in self.choose(op):
                print(reason, file=sys.stderr)
            return
        if self.parts is None or self.parts < 2:
            raise TileError(f"{self.parts or 0} are too few parts to split a contraction into")
        for contraction in self._named(op, self.index):
            made = Split(contraction, self.index, self.parts).ops()
            Rewriter.replace_op(contraction, made, [made[-1].results[0]])

    def choose(self, module: ModuleOp) -> list[str]:
        """Split what the module's device computes faster so; with `explain`, why."""
        if self.parts is not None or self.contraction is not None:
            raise TileError("tile-split-reduction needs the index to split at")
        device = device_of(module)
        reasons: list[str] = []
        ops = ops_of(module, ContractionOp)
        rows = _in_kept_rows(ops, device) if device is not None else set[ContractionOp]()
        for op in ops:
            if op.aggregation.data is Aggregation.assign:
                continue
            if device is None:
                found = "no device is described"
            elif self.keep and not results_with(op).isdisjoint(self.keep):
                found = "its schedule is given"
            elif op in rows:
                found = "work-groups keep its rows for what is aggregated with it"
            else:
                found = weighed_splits(op, device, precision_of(module))
            if self.explain:
                reasons.append(f"{told(op.result)}: {_explained(found)}")
            if isinstance(found, Weighed) and found.ops:
                Rewriter.replace_op(op, found.ops, [found.ops[-1].results[0]])
        return reasons

    def _named(self, module: ModuleOp, index: str) -> list[ContractionOp]:
        """The contractions to split at an index."""
        ops = ops_of(module, ContractionOp)
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


def _in_kept_rows(ops: Sequence[ContractionOp], device: Device) -> set[ContractionOp]:
    """The aggregates of rows that work-groups of a GPU keep, as some of them need others."""
    if device.kind is not Kind.GPU:
        return set()
    groups = (group_of(op) for op in ops if not isinstance(op.parent_op(), KernelOp))
    return {
        op for group in groups if group is not None and group.is_kept(device) for op in group.ops
    }


def _explained(found: Weighed | str) -> str:
    """What was weighed for a contraction, for people to read."""
    if isinstance(found, str):
        return f"not split into partial results, as {found}"
    if found.why:
        return f"split into partial results, as {found.why}"
    done, which = ("split", "a") if found.ops else ("not split", "no")
    gain = f"takes less than {GAIN:.0%} of the time of the whole"
    return f"{done} into partial results, as {which} split {gain}\n{found}"
