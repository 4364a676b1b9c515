"""Copies of parts of tensors: contractions whose elements are elements of their operand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tiledialect.analysis.normal_form import ranges_of
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.structure.parts import are_inside
from tiledialect.dialects.tile.structure.row_axes import shape
from tiledialect.index.expr import IndexExpr, Range


def is_part_copy(op: ContractionOp) -> bool:
    """Whether each element of a contraction is an element of its operand."""
    plain = op.combination.data is Combination.none and len(op.inputs) == 1
    if not plain or op.domain is None or op.symbols or op.default is not None:
        return False
    if op.constraints.data or op.aggregation.data not in (Aggregation.assign, Aggregation.add):
        return False
    names = [n for e in op.output.data for n in e.names]
    is_all = {*op.index_names} == {*names} and len(names) == len({*names})
    elements = zip(op.output.data, shape(op.result), strict=True)
    ranges = ranges_of(op)
    whole = all(
        (e == IndexExpr.of(e.names[0]) and ranges[e.names[0]] == Range(0, n))
        if e.names
        else (e.constant, n) == (0, 1)
        for e, n in elements
    )
    same = tensor_type(op.inputs[0]).element_type == tensor_type(op.result).element_type
    (access,) = op.accesses
    return is_all and whole and same and reads_inside(access.data, shape(op.inputs[0]), ranges)


def reads_inside(
    access: Sequence[IndexExpr], sizes: Sequence[int], ranges: Mapping[str, Range]
) -> bool:
    """Whether an access reads an element of a tensor of these sizes at every point."""
    if any(e.denominator != 1 for e in access) or any(r.extent < 1 for r in ranges.values()):
        return False
    return are_inside(access, ranges, sizes)
