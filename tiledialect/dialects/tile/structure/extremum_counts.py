"""Counts of the elements that equal a maximum or minimum, of which its gradient is made."""

from __future__ import annotations

from collections.abc import Sequence

from tiledialect.dialects.tile.attributes import EXTREMES, Aggregation, Combination
from tiledialect.dialects.tile.contraction import ContractionOp


def extreme_counted(contractions: Sequence[ContractionOp]) -> ContractionOp | None:
    """Maximum or minimum of two contractions, if the second counts the elements equal to the
    first."""
    if len(contractions) != 2:
        return None
    extreme, count = contractions
    return extreme if counts(count, extreme) else None


def counts(op: ContractionOp, extreme: ContractionOp) -> bool:
    """Whether a contraction counts, at each element, the points of an extreme that have its value.

    Both go over the same points, by indices of the same names.
    """
    if not may_count(op, extreme) or extreme.domain is None or op.domain is None:
        return False
    if any(x.default is not None or x.symbols for x in (op, extreme)):
        return False
    points = op.domain.ranges == extreme.domain.ranges and op.output == extreme.output
    if not points or {*op.constraints.data} != {*extreme.constraints.data}:
        return False
    read = [*zip(op.inputs, op.accesses.data, strict=True)]
    compared = (extreme.inputs[0], extreme.accesses.data[0]), (extreme.result, extreme.output)
    return len(read) == 2 and all(pair in read for pair in compared)


def may_count(op: ContractionOp, extreme: ContractionOp) -> bool:
    """Whether one contraction counts what equals something, and another one is an extreme."""
    kinds = (extreme.aggregation.data in EXTREMES, extreme.combination.data is Combination.none)
    own = (op.aggregation.data is Aggregation.add, op.combination.data is Combination.eq)
    return all((*kinds, *own))
