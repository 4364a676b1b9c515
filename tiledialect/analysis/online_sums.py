"""Sums of exponentials that need no maximum before them: both in one pass over a row.

The sum of `exp(x - m)` for the greatest `x` so far is that for a greater one times the exponential
of the difference. So are sums of products with such exponentials.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from xdsl.dialects.builtin import Float32Type, Float64Type
from xdsl.ir import Operation, SSAValue

from tiledialect.analysis.reachability import Reachability
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import ExpOp, SubOp
from tiledialect.dialects.tile.structure.row_axes import Axes, reduced_by

Online = Mapping[ContractionOp, ContractionOp]
"""The maximum of the exponentials in each sum."""

Found = TypeVar("Found")


def maximum_of(value: SSAValue) -> ContractionOp | None:
    """The maximum `m` over all `x`, if the value is `exp(x - m)`."""
    exponential = value.owner
    difference = exponential.operands[0].owner if isinstance(exponential, ExpOp) else None
    if not isinstance(difference, SubOp):
        return None
    x, greatest = difference.operands
    op = greatest.owner
    if not isinstance(op, ContractionOp) or op.aggregation.data is not Aggregation.max:
        return None
    types = {tensor_type(v).element_type for v in (x, greatest, difference.res, value)}
    is_real = len(types) == 1 and isinstance(types.pop(), Float32Type | Float64Type)
    return op if [*op.inputs] == [x] and is_real else None


def numbers(exponential: Operation) -> Sequence[SSAValue]:
    """The `x` of `exp(x - m)`."""
    (argument,) = exponential.operands
    assert isinstance(argument.owner, Operation)
    return argument.owner.operands[:1]


def online(phase: Sequence[ContractionOp], earlier: Sequence[ContractionOp], axes: Axes) -> Online:
    """The sums of a phase, if all can be there one phase earlier; else nothing."""
    return sums_of_pass(phase, earlier, axes, linear_in, lambda greatest: [greatest])


def sums_of_pass(
    phase: Sequence[ContractionOp],
    earlier: Sequence[ContractionOp],
    axes: Axes,
    find: Callable[[ContractionOp, Reachability], Found | None],
    waits_for: Callable[[Found], Iterable[ContractionOp]],
) -> dict[ContractionOp, Found]:
    """Findings on the sums of a phase, if all can be in one pass with an earlier phase.

    The contractions that they wait for aggregate over the same axes: each sum has its own maximum,
    or means, at any time.
    """
    found: dict[ContractionOp, Found] = {}
    before = Reachability(c.result for c in earlier)
    for op in phase:
        known = find(op, before)
        if known is None or op.aggregation.data is not Aggregation.add:
            return {}
        if any(reduced_by(op, axes) != reduced_by(c, axes) for c in waits_for(known)):
            return {}
        found[op] = known
    return found


def linear_in(op: Operation, before: Reachability) -> ContractionOp | None:
    """The maximum of the exponentials that an op is linear in; it needs nothing else of before."""
    while True:
        factors = [v for v in op.operands if before.reaches(v)]
        if len(factors) != 1 or not _multiplies(op, factors[0]):
            return None
        if (greatest := maximum_of(factors[0])) is not None:
            return greatest if greatest.result in before else None
        # It depends on an earlier result, so an op makes it.
        assert isinstance(factors[0].owner, Operation)
        op = factors[0].owner


def _multiplies(op: Operation, factor: SSAValue) -> bool:
    """Whether an op's result is linear in a factor."""
    if isinstance(op, ContractionOp):
        return op.combination.data in (Combination.none, Combination.mul)
    is_first = op.operands[0] is factor
    return op.name in ("tile.mul", "tile.neg") or (op.name == "tile.div" and is_first)
