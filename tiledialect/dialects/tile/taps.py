"""Contractions of few points an element, as differences and averages of neighbours are."""

from __future__ import annotations

from math import prod

from xdsl.ir import BlockArgument

from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp

MOST_TAPS = 16
"""How many points an element may have that is computed wherever it is needed."""
PLAIN = Combination.none, Combination.mul


def taps_of(op: ContractionOp) -> int:
    """How many points aggregate into an element that can be computed where it is needed.

    0 if it cannot: they are many, or no copies, sums or sums of products of what is in memory, or
    the element does not tell their indices.
    """
    if op.domain is None or op.default is not None or op.combination.data not in PLAIN:
        return 0
    outputs = [name for e in op.output.data for name in e.names]
    points = prod(max(r.extent, 1) for n, r in op.domain.data if n not in outputs)
    is_sum = op.aggregation.data is Aggregation.add
    is_copy = op.aggregation.data is Aggregation.assign and points == 1
    # Constants are read everywhere, memory as 0 where there is none of the contraction's.
    in_memory = all(isinstance(v, BlockArgument) for v in op.inputs)
    exprs = [e for access in op.accesses for e in access.data]
    exprs += [c.data.expr for c in op.constraints]
    whole = all(e.denominator == 1 for e in exprs)
    fits = (is_sum or is_copy) and in_memory and whole and _tells_indices(op, outputs)
    return points if fits and points <= MOST_TAPS else 0


def _tells_indices(op: ContractionOp, outputs: list[str]) -> bool:
    """Whether each output index is an index of its own, moved, or 0 along an axis of size 1."""
    sizes = shape_of(tensor_type(op.result)) or ()
    return len(outputs) == len(set(outputs)) and all(
        e.denominator == 1 and e.coefficient(e.names[0]) == 1 and len(e.names) == 1
        if e.names
        else (int(e.constant), size) == (0, 1)
        for e, size in zip(op.output.data, sizes, strict=True)
    )
