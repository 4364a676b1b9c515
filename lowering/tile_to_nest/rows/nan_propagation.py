"""NaN propagation of maxima: unneeded where a sum over the same elements makes all results NaN.

A softmax is an example: the sum of `exp(x - m)` is NaN where some `x` is, whatever `m`. A maximum
that propagates NaN takes three instructions of a CPU, else one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from xdsl.ir import Operation, SSAValue

from tiledialect.dialects.tile.attributes import EXTREMES, Aggregation, Combination
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import (
    AddOp,
    DivOp,
    ExpOp,
    LogOp,
    MulOp,
    NegOp,
    SqrtOp,
    SubOp,
)
from tiledialect.dialects.tile.structure.row_axes import Rows, reduced_by

PROPAGATING_OPS = (AddOp, DivOp, ExpOp, LogOp, MulOp, NegOp, SqrtOp, SubOp)
"""Elementwise ops whose result is NaN where an operand is."""
PROPAGATING_COMBINATIONS = (Combination.none, Combination.add, Combination.mul)
"""Combinations that are NaN where an input is."""


def may_ignore_nan(
    extreme: ContractionOp, ops: Iterable[Operation], results: Collection[SSAValue], rows: Rows
) -> bool:
    """Whether all results that need a maximum or minimum are NaN where it aggregates one.

    ``ops`` are the row kernel's, in order.
    """
    if extreme.aggregation.data not in EXTREMES or len(extreme.inputs) != 1:
        return False
    if extreme.combination.data is not Combination.none:
        return False
    ops, over = list(ops), reduced_by(extreme, rows.axes)
    if not _reads_alike(extreme, ops, rows):
        return False
    elements = _propagated(ops, extreme.inputs, within=())
    sums = [
        op.result
        for op in ops
        if isinstance(op, ContractionOp)
        and _is_propagating_sum(op, elements)
        and reduced_by(op, rows.axes) == over
    ]
    propagated = _propagated(ops, sums, within=(ContractionOp,))
    dependents = _dependents(ops, extreme.result)
    return all(v in propagated for v in results if v in dependents)


def _reads_alike(extreme: ContractionOp, ops: Iterable[Operation], rows: Rows) -> bool:
    """Whether all reads of an op's operand are of the same element at a point."""
    (value,), (own,) = extreme.inputs, rows.reads(extreme)
    reads = ((v, m) for op in ops for v, m in zip(op.operands, rows.reads(op), strict=False))
    return all(m == own for v, m in reads if v is value)


def _is_propagating_sum(op: Operation, elements: Collection[SSAValue]) -> bool:
    """Whether an op is a sum that is NaN where one of some elements is."""
    if not isinstance(op, ContractionOp) or op.aggregation.data is not Aggregation.add:
        return False
    return op.combination.data in PROPAGATING_COMBINATIONS and any(v in elements for v in op.inputs)


def _propagated(
    ops: Iterable[Operation], values: Iterable[SSAValue], within: tuple[type[Operation], ...]
) -> set[SSAValue]:
    """Values that are NaN where one of some values is: elementwise results, sums on request."""
    found = set(values)
    for op in ops:
        is_sum = isinstance(op, within) and _is_propagating_sum(op, found)
        if is_sum or (isinstance(op, PROPAGATING_OPS) and any(v in found for v in op.operands)):
            found.add(op.results[0])
    return found


def _dependents(ops: Iterable[Operation], value: SSAValue) -> set[SSAValue]:
    """Value and its transitive users."""
    found = {value}
    for op in ops:
        if any(v in found for v in op.operands):
            found.update(op.results)
    return found
