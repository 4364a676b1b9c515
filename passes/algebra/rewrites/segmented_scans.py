"""Contractions over elements equal to a running extreme, as segmented scans.

A running maximum never decreases, nor a running minimum increases. So the places where it equals a
given element are one run: none comes again once another extreme has begun, and an element outside
the run equals none of it. A count or sum over the places where a running extreme equals an element
is therefore a running sum in its run, and zero where the element is not the extreme at its own
place. In a gradient these are the ties and their shares.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from tiledialect.dialects.tile.attributes import EXTREMES, Aggregation, Combination
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import CmpEqOp, ConstantOp, SelectOp
from tiledialect.dialects.tile.scan import ScanOp
from tiledialect.index.contraction import IndexSpace
from tiledialect.index.prefix import Prefix
from tiledialect.ir.names import give_name, keep_origin
from tiledialect.passes.normalize.tile_bounds import needed_constraints


def segmented_scan(op: ContractionOp, found: Prefix) -> list[Operation]:
    """The ops that replace a cumulative contraction over equal elements, if it is one.

    The last one's result is its result.
    """
    if op.aggregation.data is not Aggregation.add or op.default is not None:
        return []
    if op.combination.data not in (Combination.eq, Combination.cond):
        return []
    pair = _element_and_extreme(op.inputs[0], op.inputs[1], found.axis)
    if pair is None or not (_is_plain(found.source) and _is_plain(found.result)):
        return []
    made = _EqualitySum(op, found, *pair).ops()
    if not made or made[-1].results[0].type != op.result.type:
        return []
    keep_origin(made, op)
    return made


@dataclass(frozen=True)
class _EqualitySum:
    """Contraction that adds up where elements of a tensor equal a running extreme of it."""

    op: ContractionOp
    found: Prefix
    element: int
    """Number of the input that is the tensor; the other of the first two is the extreme."""
    extreme: SSAValue
    is_reverse: bool
    """Whether the extreme runs over the later elements."""

    def ops(self) -> list[Operation]:
        """The scan, and ops that leave out the elements that are not the extreme at their place."""
        counts = self.op.combination.data is Combination.eq
        ties = CmpEqOp.make(self.op.inputs[0], self.op.inputs[1])
        give_name(ties.result, "ties")
        if self.found.factors == (1 - self.element,) and self.found.reverse == self.is_reverse:
            # The elements up to a place, compared with the extreme at that place.
            terms = [ties] if counts else [ties, *_selection(ties.result, self.op.inputs[2])]
            return [*terms, self._running(terms[-1].results[0])]
        if counts or self.found.factors != (self.element,) or self.found.reverse == self.is_reverse:
            return []
        running = self._running(self.op.inputs[2])
        give_name(running.result, "running")
        return [running, ties, *_selection(ties.result, running.result)]

    def _running(self, value: SSAValue) -> ScanOp:
        axis, reverse = self.found.axis, self.found.reverse
        return ScanOp(Aggregation.add, value, axis, reverse=reverse, keys=self.extreme)


def _selection(condition: SSAValue, value: SSAValue) -> list[Operation]:
    """Selection of a value where a condition holds, and 0 elsewhere."""
    zero = ConstantOp.of(0)
    give_name(zero.result, "zero")
    chosen = SelectOp.make(condition, value, zero.result)
    give_name(chosen.result, "chosen")
    return [zero, chosen]


def _element_and_extreme(
    first: SSAValue, second: SSAValue, axis: int
) -> tuple[int, SSAValue, bool] | None:
    """Number of the scanned tensor, its running extreme, and whether that runs in reverse."""
    for number, (value, extreme) in enumerate(((first, second), (second, first))):
        scan = extreme.owner
        if isinstance(scan, ScanOp) and scan.operand is value and scan.along == axis:
            is_whole = scan.every is None and scan.start is None and scan.keys is None
            if is_whole and scan.aggregation.data in EXTREMES:
                return number, extreme, scan.reverse is not None
    return None


def _is_plain(space: IndexSpace) -> bool:
    """Whether inputs and output are accessed at the same places, all of them."""
    same = all(access == space.output for access in space.inputs)
    shapes = all(shape == space.output_shape for shape in space.input_shapes)
    return same and shapes and not needed_constraints(space)
