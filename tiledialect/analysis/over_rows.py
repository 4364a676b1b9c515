"""Contractions over rows: aggregations of one tensor along some of its axes."""

from __future__ import annotations

from tiledialect.analysis.normal_form import ranges_of
from tiledialect.dialects.tile.attributes import Combination
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.structure.row_axes import shape
from tiledialect.index.expr import IndexExpr, Range


def _is_plain(e: IndexExpr, size: int, op: ContractionOp) -> bool:
    """Whether an expression goes along all of an axis, by an index of its own."""
    if size == 1:
        return e == IndexExpr.of(0) or len(e.names) == 1
    own = e.names
    return len(own) == 1 and e == IndexExpr.of(own[0]) and ranges_of(op)[own[0]] == Range(0, size)


def is_over_rows(op: ContractionOp) -> bool:
    """Whether a contraction aggregates one tensor along some axes, which have size 1 then."""
    if op.combination.data is not Combination.none or op.constraints.data:
        return False
    (value,), (access,) = op.inputs, op.accesses
    sizes, own = shape(value), shape(op.result)
    if len(sizes) != len(own) or not all(map(_is_plain, access.data, sizes, [op] * len(own))):
        return False
    axes = zip(op.output.data, access.data, own, sizes, strict=True)
    return all((e == read and n == m) or (n == 1 and e.is_constant) for e, read, n, m in axes)
