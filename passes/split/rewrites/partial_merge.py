"""Partial merge: aggregates of rows that need another aggregate of the row, found part by part.

Each part uses its own mean or maximum instead of the row's. The row's results follow from the
parts', for sums of deviations, sums of exponentials, and selections by comparison.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isclose
from typing import ClassVar

from xdsl.dialects.builtin import Float32Type, Float64Type
from xdsl.ir import SSAValue

from tiledialect.analysis.online_sums import linear_in
from tiledialect.analysis.reachability import Reachability
from tiledialect.analysis.welford_sums import WelfordSum, welford_sum_of
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise.ops import (
    CmpEqOp,
    ConstantOp,
    DivOp,
    ExpOp,
    MulOp,
)
from tiledialect.dialects.tile.elementwise.special import SelectOp
from tiledialect.ir.tensor_builder import TensorBuilder


@dataclass(frozen=True)
class PartialAggregates:
    """Aggregates of a row's parts that corrections need."""

    build: TensorBuilder
    size: int
    """Number of elements of each part."""
    own: dict[SSAValue, SSAValue]
    """Parts' own values for a row's aggregate, or mean."""
    whole: dict[SSAValue, SSAValue]
    """The same of the whole row, in the shape that broadcasts over the parts."""

    def difference(self, value: SSAValue) -> SSAValue:
        """Excess of an aggregate of each part over the row's."""
        return self.build.sub(self.own[value], self.whole[value])


@dataclass(frozen=True)
class DeviationSum:
    """Sum of differences to means, or of products of two: sums of the parts, and the sum of their
    means' deviations.
    """

    moment: WelfordSum

    @property
    def needs(self) -> tuple[ContractionOp, ...]:
        """Aggregates that the sum needs."""
        return tuple(dict.fromkeys(d.total for d in self.moment.deviations))

    @property
    def means(self) -> tuple[SSAValue, ...]:
        """Means that the elements are compared with."""
        return tuple(dict.fromkeys(d.mean for d in self.moment.deviations))

    @property
    def weight(self) -> SSAValue | None:
        """Weight that must be summed, too."""
        return self.moment.weight

    def corrected(
        self, parts: PartialAggregates, found: SSAValue, weights: SSAValue | None
    ) -> SSAValue:
        """The parts' sums of deviations, from the means of their rows."""
        b, factors = parts.build, [parts.difference(d.mean) for d in self.moment.deviations]
        moved = factors[0] if len(factors) == 1 else b.mul(*factors)
        return b.add(found, b.mul(moved, parts.size if weights is None else weights))


@dataclass(frozen=True)
class ExtremumAggregate:
    """Aggregate that needs a maximum or minimum of its row, and no other sum."""

    extreme: ContractionOp
    weight: ClassVar[None] = None

    @property
    def needs(self) -> tuple[ContractionOp, ...]:
        """Aggregates that it needs."""
        return (self.extreme,)

    @property
    def means(self) -> tuple[SSAValue, ...]:
        """Extremes that the elements are compared with."""
        return (self.extreme.result,)


@dataclass(frozen=True)
class ExponentialSum(ExtremumAggregate):
    """Sum of `exp(x - m)`, perhaps times a factor, for the maximum `m`."""

    def corrected(
        self, parts: PartialAggregates, found: SSAValue, weights: SSAValue | None
    ) -> SSAValue:
        """The parts' sums, for the maxima of their rows.

        A part of negative infinities has no sum of its own, as `x - m` is NaN there.
        """
        b, m = parts.build, self.extreme.result
        factor = b.op(ExpOp, parts.difference(m))
        is_nothing = b.op(CmpEqOp, parts.own[m], float("-inf"))
        return b.select(is_nothing, factor, b.mul(found, factor))


@dataclass(frozen=True)
class Selected(ExtremumAggregate):
    """Aggregate of the elements where `x == m`: parts with another maximum have none."""

    otherwise: SSAValue | int
    """Neutral value of the other elements."""

    def corrected(
        self, parts: PartialAggregates, found: SSAValue, weights: SSAValue | None
    ) -> SSAValue:
        """The parts' aggregates at the extremes of their rows."""
        b, m = parts.build, self.extreme.result
        return b.select(b.op(CmpEqOp, parts.own[m], parts.whole[m]), found, self.otherwise)


Correction = DeviationSum | ExponentialSum | Selected


def correction(op: ContractionOp, before: Reachability, size: int) -> Correction | None:
    """Correction that merges an aggregate of rows of some size from its parts', if known."""
    if op.aggregation.data is Aggregation.add:
        moment = welford_sum_of(op, before)
        if moment is not None:
            return DeviationSum(moment) if _is_of_means(moment, size) else None
        maximum = linear_in(op, before)
        if maximum is not None:
            return ExponentialSum(maximum)
        if (extreme := _compared(op, before)) is not None:
            return Selected(extreme, 0)
    return _selection(op, before)


def is_real(op: ContractionOp) -> bool:
    """Whether an aggregate is of numbers whose parts are as exact as the whole."""
    types = {tensor_type(v).element_type for v in (op.result, *op.inputs)}
    return all(isinstance(t, Float32Type | Float64Type) for t in types)


def _is_of_means(moment: WelfordSum, size: int) -> bool:
    """Whether all deviations are from means, and the weight that is summed is known."""
    is_known = not moment.is_weighted or moment.weight is not None
    return is_known and all(
        isclose(_multiple(d.mean, d.total.result) * size, 1.0, rel_tol=1e-6)
        for d in moment.deviations
    )


def _multiple(mean: SSAValue, total: SSAValue) -> float:
    """Factor of numbers by which a value is a multiple of a sum."""
    number = 1.0
    while mean != total:
        op = mean.owner
        assert isinstance(op, MulOp | DivOp)
        first, second = op.operands
        if isinstance(op, MulOp) and isinstance(first.owner, ConstantOp):
            first, second = second, first
        assert isinstance(second.owner, ConstantOp)
        factor = float(second.owner.number)
        number = number * factor if isinstance(op, MulOp) else number / factor
        mean = first
    return number


def _compared(op: ContractionOp, before: Reachability) -> ContractionOp | None:
    """Extreme whose equal elements a contraction counts."""
    if op.combination.data is not Combination.eq:
        return None
    x, m = op.inputs
    return _extreme(x, m, before)


def _selection(op: ContractionOp, before: Reachability) -> Selected | None:
    """Correction of an aggregate of selected elements, if all others are one neutral number."""
    if op.combination.data is not Combination.none or not isinstance(op.inputs[0].owner, SelectOp):
        return None
    condition, value, otherwise = op.inputs[0].owner.operands
    if not isinstance(condition.owner, CmpEqOp) or before.reaches(value):
        return None
    x, m = condition.owner.operands
    extreme = _extreme(x, m, before) or _extreme(m, x, before)
    if extreme is None or not isinstance(otherwise.owner, ConstantOp):
        return None
    is_kept = op.aggregation.data in (Aggregation.min, Aggregation.max)
    return Selected(extreme, otherwise) if is_kept else None


def _extreme(x: SSAValue, m: SSAValue, before: Reachability) -> ContractionOp | None:
    """Aggregate of a value, if it is the extreme of another one."""
    op = m.owner
    if m not in before or not isinstance(op, ContractionOp) or [*op.inputs] != [x]:
        return None
    return op if op.aggregation.data in (Aggregation.min, Aggregation.max) else None
