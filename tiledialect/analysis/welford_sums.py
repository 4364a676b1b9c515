"""Sums of deviations from a mean that need no mean before them: both in one pass over a row.

Sums of `x - p`, of its square and of its products exist for any `p`, and those for another `p`
follow from them, as `x - q` is `x - p` less `q - p`. So `p` may be a guess while a row is read, and
the mean of the row once that is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from xdsl.dialects.builtin import Float32Type, Float64Type
from xdsl.ir import Operation, SSAValue

from tiledialect.analysis.online_sums import sums_of_pass
from tiledialect.analysis.reachability import Reachability
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import ConstantOp, DivOp, MulOp, NegOp, SubOp
from tiledialect.dialects.tile.structure.row_axes import Axes


@dataclass(frozen=True)
class Deviation:
    """The differences of numbers to a mean of them: to a multiple of their sum."""

    value: SSAValue
    x: SSAValue
    mean: SSAValue
    total: ContractionOp


@dataclass(frozen=True)
class WelfordSum:
    """A sum of deviations, of their products with other things, or with one another."""

    op: ContractionOp
    deviations: tuple[Deviation, ...]
    """Deviations that are multiplied: one or two."""
    is_weighted: bool
    """Whether a lone one is multiplied by something else."""
    weight: SSAValue | None = None
    """The other factor, if it is a single value."""

    @property
    def is_square(self) -> bool:
        """Whether the sum is of squares."""
        return len(self.deviations) == 2 and self.deviations[0] == self.deviations[1]


WelfordSums = Mapping[ContractionOp, WelfordSum]
"""The moment of each sum of a phase."""

NO_WELFORD_SUMS: WelfordSums = {}


def deviations(found: WelfordSums) -> dict[SSAValue, Deviation]:
    """The deviations that some sums are of."""
    return {d.value: d for moment in found.values() for d in moment.deviations}


def welford_sums(
    phase: Sequence[ContractionOp], earlier: Sequence[ContractionOp], axes: Axes
) -> WelfordSums:
    """The sums of a phase, if all can be there one phase earlier; else nothing."""
    return sums_of_pass(
        phase, earlier, axes, welford_sum_of, lambda m: [d.total for d in m.deviations]
    )


def welford_sum_of(op: ContractionOp, before: Reachability) -> WelfordSum | None:
    """The moment that a sum is, if it depends on no other earlier result."""
    factors = _factors(op, before)
    if factors is None:
        return None
    known = tuple(d for d in factors if d is not None)
    is_weighted = len(known) < len(factors)
    values = [op.result, *(v for d in known for v in (d.x, d.mean, d.value, d.total.result))]
    types = {tensor_type(v).element_type for v in values}
    is_real = len(types) == 1 and isinstance(types.pop(), Float32Type | Float64Type)
    is_one = len(known) == 1 or (len(known) == 2 and not is_weighted)
    weight = _other_factor(op, known[0]) if is_weighted and len(known) == 1 else None
    return WelfordSum(op, known, is_weighted, weight) if is_one and is_real else None


def _other_factor(op: ContractionOp, lone: Deviation) -> SSAValue | None:
    """The value that a deviation is multiplied by in a sum, if it is a single one."""
    (value,) = op.inputs if len(op.inputs) == 1 else (None,)
    product = value.owner if value is not None else op
    if not isinstance(product, MulOp | ContractionOp) or len(product.operands) != 2:
        return None
    others = [v for v in product.operands if v != lone.value]
    return others[0] if len(others) == 1 else None


def sum_of_weights(
    moment: WelfordSum, found: WelfordSums, sums: Iterable[ContractionOp]
) -> ContractionOp | None:
    """The sum of the weights of a lone deviation, if there is one, not of a mean."""
    totals = {d.total for d in deviations(found).values()}
    for op in sums:
        is_plain = op.combination.data is Combination.none and [*op.inputs] == [moment.weight]
        if is_plain and op.aggregation.data is Aggregation.add and op not in totals:
            return op
    return None


def additional_numbers(found: WelfordSums, earlier: Sequence[ContractionOp]) -> int:
    """Additional numbers that a lane holds for such sums: guesses, weights, a count."""
    lone = {m.deviations[0] for m in found.values() if is_alone(m)}
    weighted = [m for m in found.values() if len(m.deviations) == 1 and not is_alone(m)]
    weights = sum(sum_of_weights(m, found, earlier) is None for m in weighted)
    count = len(deviations(found))
    return 2 * count - len(lone) + weights + 1 if found else 0


def is_alone(moment: WelfordSum) -> bool:
    """Whether a sum is one of deviations, as they are."""
    return len(moment.deviations) == 1 and not moment.is_weighted


def _factors(op: Operation, before: Reachability) -> list[Deviation | None] | None:
    """The deviations that are multiplied for an op's result, None for each other factor."""
    if isinstance(op, ContractionOp):
        is_product = op.combination.data in (Combination.none, Combination.mul)
        is_product &= op.result not in before
    else:
        is_product = isinstance(op, MulOp | NegOp | DivOp)
    if not is_product or (isinstance(op, DivOp) and before.reaches(op.operands[1])):
        return None
    found: list[Deviation | None] = [None] if isinstance(op, NegOp | DivOp) else []
    for value in op.operands:
        inner = _factors_of(value, before)
        if inner is None:
            return None
        found += inner
    return found


def _factors_of(value: SSAValue, before: Reachability) -> list[Deviation | None] | None:
    """Deviations among the factors of a value: one factor, if it is a deviation or needs no earlier
    result."""
    known = deviation(value, before)
    if known is not None or not before.reaches(value):
        return [known]
    # It depends on an earlier result, so an op makes it.
    assert isinstance(value.owner, Operation)
    return _factors(value.owner, before)


def deviation(value: SSAValue, before: Reachability) -> Deviation | None:
    """The deviation that a value is, if its mean depends on one earlier sum alone."""
    if not isinstance(value.owner, SubOp):
        return None
    x, mean = value.owner.operands
    total = _sum_times_number(mean)
    if total is None or total.result not in before or [*total.inputs] != [x]:
        return None
    return None if before.reaches(x) else Deviation(value, x, mean, total)


def _sum_times_number(mean: SSAValue) -> ContractionOp | None:
    """The sum that a value is a multiple of."""
    op = mean.owner
    while isinstance(op, MulOp | DivOp):
        first, second = op.operands
        if isinstance(op, MulOp) and _is_number(first):
            first, second = second, first
        if not _is_number(second):
            return None
        op = first.owner
    if not isinstance(op, ContractionOp) or op.combination.data is not Combination.none:
        return None
    return op if op.aggregation.data is Aggregation.add else None


def _is_number(value: SSAValue) -> bool:
    """Whether a value is a constant other than 0 and infinities."""
    op = value.owner
    return isinstance(op, ConstantOp) and isfinite(op.number) and op.number != 0
