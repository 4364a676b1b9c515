"""tile-winograd: sums over windows of 3 x 3 with fewer products, where that is faster."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.rewriter import Rewriter

from tiledialect.analysis.kernel_facts import contraction_facts
from tiledialect.dialects.tile.attributes import Aggregation
from tiledialect.dialects.tile.base import name_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.errors import TileError
from tiledialect.ir.named_values import named_results
from tiledialect.ir.ops_in import ops_of
from tiledialect.ir.pass_flags import PassWithFlags
from tiledialect.ir.target_spec import precision_of
from tiledialect.passes.algebra.rewrites.winograd import SlidingSum, WinogradRewrite
from tiledialect.passes.split.rewrites.piece_names import is_kept
from tiledialect.passes.split.rewrites.split_choice import SplitChoice, Weighed
from tiledialect.schedule.cost.device import Device, device_of
from tiledialect.schedule.cost.estimate import in_sequence
from tiledialect.schedule.cost.traits import Kind
from tiledialect.schedule.search.choice import best_seconds

GAIN = 0.85
"""Maximum share of the direct time that the sums may take: both times are estimates."""
MIN_LAUNCHES_SAVED = 1.5
"""Minimum saving in launches: the host starts five kernels instead of one."""
PRODUCTS_SAVED = 1 - 16 / 36
"""Share of the products that is saved."""


@dataclass(frozen=True)
class TileWinogradPass(PassWithFlags):
    """Computes sums of products over windows of 3 x 3 with 2.25 times fewer products.

    Convolutions by 3 x 3 weights with stride 1, and both of their gradients, become sums of
    products of matrices by Winograd's minimal filtering: 16 sums of places, taps or pixels replace
    windows of 4 x 4 places, 3 x 3 weights and tiles of 2 x 2 pixels. All of them are contractions,
    which other passes split, fuse and tile. They are rewritten on GPUs, for f32 with the precision
    `f32`, where the cost model says that it is faster, for the device of the module's DLTI target
    spec. Results are as exact as the sums' but for about two bits; where a place is infinite or
    NaN, all four pixels of a tile may become NaN. With the precision `exact` sums stay as they are
    written.
    """

    name = "tile-winograd"

    contraction: str | None = None
    """The result of the contraction, without the `%`; by default the cost model chooses."""
    keep: tuple[str, ...] = ()
    """Results that the cost model leaves as they are, directly or as elementwise functions of them.
    """
    explain: bool = False
    """Whether to print the alternatives that the cost model weighed."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite every contraction that is named, or faster so."""
        if self.contraction is not None:
            found = self._named(op, self.contraction)
            made = WinogradRewrite(found).ops()
            Rewriter.replace_op(found.op, made, [made[-1].results[0]])
            return
        for reason in self.choose(op):
            print(reason, file=sys.stderr)

    def choose(self, module: ModuleOp) -> list[str]:
        """Rewrite contractions that the module's device computes faster so; with `explain`, the
        reasons.
        """
        device = device_of(module)
        if device is None or device.kind is not Kind.GPU or precision_of(module) != "f32":
            return []
        slidings = [SlidingSum.of(op) for op in ops_of(module, ContractionOp)]
        tried = [x for x in slidings if x is not None and not is_kept([x.op], self.keep)]
        splits = SplitChoice(device, "f32")
        _search_ahead([found for found in tried if _is_long(found, device)], splits)
        reasons = [_choose(found, splits) for found in tried]
        return reasons if self.explain else []

    def _named(self, module: ModuleOp, name: str) -> SlidingSum:
        """The contraction of this name."""
        results = [op.result for op in ops_of(module, ContractionOp)]
        op = named_results(results, name)[0].owner
        assert isinstance(op, ContractionOp)
        if (found := SlidingSum.of(op)) is not None:
            return found
        reason = "is not a sum of products of f32 over windows of 3 x 3 with stride 1"
        raise TileError.at(op, f"{name_of(op.result)} {reason}")


def _search_ahead(tried: Sequence[SlidingSum], splits: SplitChoice) -> None:
    """Search for the schedules of contractions and of their rewritten forms at once, if there is a
    way to."""
    made: list[Operation] = []

    def ops() -> Iterator[ContractionOp]:
        for found in tried:
            new = WinogradRewrite(found).ops()
            made.extend(new)
            yield from (op for op in (found.op, *new) if isinstance(op, ContractionOp))

    splits.search_ahead(ops(), every=True)
    for unused in reversed(made):
        unused.erase()


def _is_long(found: SlidingSum, device: Device) -> bool:
    """Whether the products that are saved take longer than the launches of several kernels."""
    saved = 2e-9 * contraction_facts(found.op).points * PRODUCTS_SAVED / device.arithmetic
    return saved >= MIN_LAUNCHES_SAVED * device.launch_seconds


def _choose(found: SlidingSum, splits: SplitChoice) -> str:
    """Rewrite a contraction if the device computes it faster so; the reason for either."""
    op, name, device = found.op, name_of(found.op.result), splits.device
    if not _is_long(found, device):
        return f"{name}: all products, as they are too few for several kernels"
    launches = MIN_LAUNCHES_SAVED * device.launch_seconds
    whole = _fastest([op], splits)
    made = WinogradRewrite(found).ops()
    seconds = _fastest(made, splits)
    is_faster = seconds < GAIN * whole and seconds + launches < whole
    if is_faster:
        Rewriter.replace_op(op, made, [made[-1].results[0]])
    else:
        for unused in reversed(made):
            unused.erase()
    which = "sums of places first" if is_faster else "all products"
    return f"{name}: {which}, {seconds * 1e6:.1f} us so and {whole * 1e6:.1f} us with all products"


def _fastest(ops: Sequence[Operation], splits: SplitChoice) -> float:
    """Seconds of contractions one after another, each split if that is better."""
    sums = [
        op
        for op in ops
        if isinstance(op, ContractionOp) and op.aggregation.data is not Aggregation.assign
    ]
    return in_sequence((_seconds(op, splits) for op in sums), splits.device)


def _seconds(op: ContractionOp, splits: SplitChoice) -> float:
    found = splits.weighed(op)
    if isinstance(found, Weighed):
        return found.seconds
    return best_seconds(contraction_facts(op), splits.device)
