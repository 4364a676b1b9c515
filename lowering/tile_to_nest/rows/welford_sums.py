"""Welford sums: sums of deviations over a row, in the pass that finds its mean.

A work-item's, and a lane's, sums are the sums of `x - p` for a running mean `p`: at first the first
number that it reads, then after each step of its loop the mean of the numbers so far. At the end
they are shifted to the mean of all, before lanes and work-items are reduced.

The correction of a sum where `p` moves is exact but for rounding, and small: `p` is among the
numbers at first, so that the square of its distance from the mean is no larger than their sum of
squares, and it is nearer by each step. So the sums are as near as those that begin with the mean.
That is Welford's method (1962), a step of a loop in the place of a number, and the update of Chan,
Golub and LeVeque ("Algorithms for Computing the Sample Variance", 1983) that moves sums to another
mean.

Weights are added up for that, too: where one of them, or their sum, is infinite, a sum of weighted
deviations may be NaN that would be infinite, or a number, with the mean first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from math import inf

from xdsl.ir import SSAValue

from tiledialect.analysis.welford_sums import (
    Deviation,
    WelfordSum,
    WelfordSums,
    deviations,
    is_alone,
    sum_of_weights,
)
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.lowering.tile_to_nest.accumulators import Accumulator, AccumulatorLayout


class RunningMeans:
    """Running means and sums of deviations of work-items and lanes in a pass over a row."""

    def __init__(
        self, sums: WelfordSums, own: Mapping[ContractionOp, Accumulator], points: int | None
    ):
        self.moments = list(sums.values())
        self.own = own
        self.deviations = deviations(sums)
        some = own[self.moments[0].op]
        self.places, self.nest, self.type = some.places, some.nest, some.type
        self.points = points
        """Number of points of each lane in a step; None where some have tests: they are counted."""
        lone = {m.deviations[0].value: own[m.op] for m in self.moments if is_alone(m)}
        self.hidden = {v: self._new("deviation") for v in self.deviations if v not in lone}
        self.sums = {**lone, **self.hidden}
        self.weights: dict[ContractionOp, Accumulator] = {}
        self.hidden_weights: dict[ContractionOp, Accumulator] = {}
        for moment in filter(self._has_weight, self.moments):
            known = sum_of_weights(moment, sums, own)
            weight = self._new("weight") if known is None else own[known]
            self.weights[moment.op] = weight
            if known is None:
                self.hidden_weights[moment.op] = weight
        self.mean = {v: self._new("guess") for v in self.deviations}
        alike = replace(self.places, moving=(), lanes=())
        self.count = self._new("count", self.places if points is None else alike)

    def _new(self, hint: str, places: AccumulatorLayout | None = None) -> Accumulator:
        add = self.own[self.moments[0].op].aggregate
        return Accumulator(places or self.places, self.type, 0, add, hint)

    def _has_weight(self, moment: WelfordSum) -> bool:
        """Whether a sum changes by a sum of weights where the mean moves."""
        return len(moment.deviations) == 1 and self.own[moment.op] not in self.sums.values()

    # -- updates -----------------------------------------------------------------------------

    def start(self) -> None:
        """Set all to 0."""
        for found in (self.mean, self.hidden_weights, self.hidden, {None: self.count}):
            for accumulator in found.values():
                accumulator.start()

    def initialize(self, deviation: Deviation, x: SSAValue) -> None:
        """Initialize a running mean with the number at the loops being built."""
        self._store(x, self.mean[deviation.value])

    def difference(self, deviation: Deviation, x: SSAValue) -> SSAValue:
        """Deviation of a number from the running mean at the loops being built."""
        running = self._load(self.mean[deviation.value])
        return self.nest.scalars.apply("tile.sub", [x, running], self.type)

    def add(
        self, difference: Callable[[SSAValue], SSAValue], weight: Callable[[WelfordSum], SSAValue]
    ) -> None:
        """Count the point, and add it to the sums that are no results."""
        for value, total in self.hidden.items():
            total.add(difference(value))
        for moment in self.moments:
            if moment.op in self.hidden_weights:
                self.hidden_weights[moment.op].add(weight(moment))
        if self.points is None:
            self.count.add(self.nest.scalars.constant(1, self.type))

    def move(self) -> None:
        """Update the running means, after a step of the points."""
        s, t = self.nest.scalars, self.type
        if self.points is not None:
            self.count.add(s.constant(self.points, t))
        with self.loops():
            count, one = self._count(), s.constant(1, t)
            if self.points is None:
                count = s.select(s.compare("lt", count, one, t), one, count)
            share = s.apply("tile.recip", [count], t)
            by: dict[SSAValue, SSAValue] = {}
            for value, running in self.mean.items():
                before = self._load(running)
                rise = s.apply("tile.mul", [self._load(self.sums[value]), share], t)
                after = s.apply("tile.add", [before, rise], t)
                by[value] = s.apply("tile.sub", [after, before], t)
                self._store(after, running)
            self._shift(by)

    def finish(self, mean: Callable[[Deviation], SSAValue]) -> None:
        """Shift the sums to the final means."""
        with self.loops():
            s, t = self.nest.scalars, self.type
            by = {
                value: s.apply("tile.sub", [mean(d), self._load(self.mean[value])], t)
                for value, d in self.deviations.items()
            }
            self._shift(by)
            for moment in self.moments:
                # A running is infinite, or none, only if a number is.
                running = self._load(self.mean[moment.deviations[0].value])
                nothing = s.apply("tile.sub", [running, running], t)
                if moment.is_square:
                    self.own[moment.op].add(nothing)

    def _shift(self, by: Mapping[SSAValue, SSAValue]) -> None:
        """Shift all sums to means that are greater by so much."""
        s, t = self.nest.scalars, self.type
        before = {value: self._load(total) for value, total in self.sums.items()}
        count = self._count()
        after = {
            value: s.apply("tile.sub", [total, s.apply("tile.mul", [by[value], count], t)], t)
            for value, total in before.items()
        }
        for value, total in after.items():
            self._store(total, self.sums[value])
        for moment in self.moments:
            a, *others = (d.value for d in moment.deviations)
            if moment.op in self.weights:
                self._fall(moment, [(by[a], self._load(self.weights[moment.op]))])
            elif others:
                (b,) = others
                self._fall(moment, [(by[a], before[b]), (by[b], after[a])])

    def _fall(self, moment: WelfordSum, products: Iterable[tuple[SSAValue, SSAValue]]) -> None:
        """Subtract products from a sum; not from infinite squares, which remain infinite."""
        s, t, total = self.nest.scalars, self.type, self.own[moment.op]
        old = self._load(total)
        first, *others = (s.apply("tile.mul", [*factors], t) for factors in products)
        for other in others:
            first = s.apply("tile.add", [first, other], t)
        new = s.apply("tile.sub", [old, first], t)
        if moment.is_square:
            new = s.select(s.compare("lt", old, s.constant(inf, t), t), new, old)
        self._store(new, total)

    def loops(self) -> AbstractContextManager[None]:
        """Build the loops over all accumulators of a work-item."""
        return self.places.kernel.loops([*self.places.moving, *self.places.lanes])

    def _count(self) -> SSAValue:
        """Number of points in the sums of the loops being built."""
        return self._load(self.count) if self.points is None else self.count.total()

    def _load(self, accumulator: Accumulator) -> SSAValue:
        """Load the accumulator of the loops being built."""
        return self.nest.load(accumulator.buffer, self.places.here())

    def _store(self, value: SSAValue, accumulator: Accumulator) -> None:
        self.nest.store(value, accumulator.buffer, self.places.here())
