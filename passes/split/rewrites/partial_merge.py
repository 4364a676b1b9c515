"""What aggregates of rows are that need another aggregate of the row, found part by part.

Each part has an aggregate of its own in that one's place: its mean, its maximum. What the row's is
follows from that, as sums of deviations, of exponentials, and what is chosen by comparisons do.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isclose
from typing import ClassVar

from xdsl.dialects.builtin import Float32Type, Float64Type
from xdsl.ir import SSAValue

from tiledialect.analysis.online_sums import linear_in
from tiledialect.analysis.reachability import Before
from tiledialect.analysis.welford_sums import Moment, moment_of
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.elementwise import (
    CmpEqOp,
    ConstantOp,
    DivOp,
    ExpOp,
    MulOp,
)
from tiledialect.dialects.tile.elementwise_special import SelectOp
from tiledialect.passes.normalize.rewrites.tensor_builder import TensorBuilder


@dataclass(frozen=True)
class Parts:
    """What corrections need of a row's parts."""

    build: TensorBuilder
    size: int
    """How many numbers each part has."""
    own: dict[SSAValue, SSAValue]
    """What stands for a row's aggregate, or mean, in its parts."""
    whole: dict[SSAValue, SSAValue]
    """The same of the whole row, in the shape that it takes beside the parts."""

    def difference(self, value: SSAValue) -> SSAValue:
        """How much an aggregate of each part is more than the row's."""
        return self.build.sub(self.own[value], self.whole[value])


@dataclass(frozen=True)
class Deviations:
    """A sum of differences to means, or of products of two: the parts', and that of their means."""

    moment: Moment

    @property
    def needs(self) -> tuple[ContractionOp, ...]:
        """The aggregates that it is of."""
        return tuple(dict.fromkeys(d.total for d in self.moment.deviations))

    @property
    def means(self) -> tuple[SSAValue, ...]:
        """What it compares with."""
        return tuple(dict.fromkeys(d.mean for d in self.moment.deviations))

    @property
    def weight(self) -> SSAValue | None:
        """What else must be summed."""
        return self.moment.weight

    def corrected(self, parts: Parts, found: SSAValue, weights: SSAValue | None) -> SSAValue:
        """The parts' sums of deviations from the means of their rows."""
        b, factors = parts.build, [parts.difference(d.mean) for d in self.moment.deviations]
        moved = factors[0] if len(factors) == 1 else b.mul(*factors)
        return b.add(found, b.mul(moved, parts.size if weights is None else weights))


@dataclass(frozen=True)
class OfExtreme:
    """An aggregate that needs a maximum or minimum of its row, and nothing else summed."""

    extreme: ContractionOp
    weight: ClassVar[None] = None

    @property
    def needs(self) -> tuple[ContractionOp, ...]:
        """The aggregates that it is of."""
        return (self.extreme,)

    @property
    def means(self) -> tuple[SSAValue, ...]:
        """What it compares with."""
        return (self.extreme.result,)


@dataclass(frozen=True)
class Exponentials(OfExtreme):
    """A sum of `exp(x - m)`, perhaps times something, for the maximum `m`."""

    def corrected(self, parts: Parts, found: SSAValue, weights: SSAValue | None) -> SSAValue:
        """The parts' sums for the maxima of their rows.

        A part of negative infinities has no sum of its own, as `x - m` is no number there.
        """
        b, m = parts.build, self.extreme.result
        factor = b.op(ExpOp, parts.difference(m))
        is_nothing = b.op(CmpEqOp, parts.own[m], float("-inf"))
        return b.select(is_nothing, factor, b.mul(found, factor))


@dataclass(frozen=True)
class Chosen(OfExtreme):
    """An aggregate of what stands where `x == m`: parts with another maximum have none of it."""

    otherwise: SSAValue | int
    """What stands elsewhere, which changes nothing."""

    def corrected(self, parts: Parts, found: SSAValue, weights: SSAValue | None) -> SSAValue:
        """What the parts have at the extremes of their rows."""
        b, m = parts.build, self.extreme.result
        return b.select(b.op(CmpEqOp, parts.own[m], parts.whole[m]), found, self.otherwise)


Correction = Deviations | Exponentials | Chosen


def correction(op: ContractionOp, before: Before, size: int) -> Correction | None:
    """How an aggregate of rows of some size follows from its parts', if that is known."""
    if op.aggregation.data is Aggregation.add:
        moment = moment_of(op, before)
        if moment is not None:
            return Deviations(moment) if _is_of_means(moment, size) else None
        maximum = linear_in(op, before)
        if maximum is not None:
            return Exponentials(maximum)
        if (extreme := _compared(op, before)) is not None:
            return Chosen(extreme, 0)
    return _chosen(op, before)


def is_real(op: ContractionOp) -> bool:
    """Whether an aggregate is of numbers whose parts are as exact as it is."""
    types = {tensor_type(v).element_type for v in (op.result, *op.inputs)}
    return all(isinstance(t, Float32Type | Float64Type) for t in types)


def _is_of_means(moment: Moment, size: int) -> bool:
    """Whether all deviations are from means, and what else is summed is known."""
    is_known = not moment.is_weighted or moment.weight is not None
    return is_known and all(
        isclose(_multiple(d.mean, d.total.result) * size, 1.0, rel_tol=1e-6)
        for d in moment.deviations
    )


def _multiple(mean: SSAValue, total: SSAValue) -> float:
    """Which multiple of a sum a value is that numbers make of it."""
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


def _compared(op: ContractionOp, before: Before) -> ContractionOp | None:
    """The extreme that a contraction counts the equals of."""
    if op.combination.data is not Combination.eq:
        return None
    x, m = op.inputs
    return _extreme(x, m, before)


def _chosen(op: ContractionOp, before: Before) -> Chosen | None:
    """What an aggregate chooses, if all else is one number that changes nothing."""
    if op.combination.data is not Combination.none or not isinstance(op.inputs[0].owner, SelectOp):
        return None
    condition, value, otherwise = op.inputs[0].owner.operands
    if not isinstance(condition.owner, CmpEqOp) or before.are_needed_for(value):
        return None
    x, m = condition.owner.operands
    extreme = _extreme(x, m, before) or _extreme(m, x, before)
    if extreme is None or not isinstance(otherwise.owner, ConstantOp):
        return None
    is_kept = op.aggregation.data in (Aggregation.min, Aggregation.max)
    return Chosen(extreme, otherwise) if is_kept else None


def _extreme(x: SSAValue, m: SSAValue, before: Before) -> ContractionOp | None:
    """The aggregate that a value is, if it is the extreme of another one."""
    op = m.owner
    if m not in before or not isinstance(op, ContractionOp) or [*op.inputs] != [x]:
        return None
    return op if op.aggregation.data in (Aggregation.min, Aggregation.max) else None
