"""Sums of deviations over a row whose mean is not known yet, in the pass that finds it.

A work-item's, and a lane's, sums are those of `x - p` for a guess `p`: at first the first number
that it reads, then after each step of its loop the mean of those so far. At the end they become
those for the mean of all, before the sums of lanes and work-items are joined.

What is added to a sum where `p` moves is exact but for rounding, and small: the guess is among the
numbers at first, so that the square of how far it is from the mean is no larger than their sum of
squares, and is nearer by each step. So the sums are as near as those that begin with the mean.
That is Welford's method (1962), a step of a loop in the place of a number, and how Chan, Golub and
LeVeque ("Algorithms for Computing the Sample Variance", 1983) move sums to another mean.

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
    Moment,
    Moments,
    deviations,
    is_alone,
    sum_of_weights,
)
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.lowering.tile_to_nest.accumulators import Accumulator, Places


class Guesses:
    """What work-items and lanes hold of the deviations of a pass over a row."""

    def __init__(self, sums: Moments, own: Mapping[ContractionOp, Accumulator], points: int | None):
        self.moments = list(sums.values())
        self.own = own
        self.deviations = deviations(sums)
        some = own[self.moments[0].op]
        self.places, self.nest, self.type = some.places, some.nest, some.type
        self.points = points
        """How many points of each there are in a step; None where some have tests: they count."""
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
        self.guess = {v: self._new("guess") for v in self.deviations}
        alike = replace(self.places, moving=(), lanes=())
        self.count = self._new("count", self.places if points is None else alike)

    def _new(self, hint: str, places: Places | None = None) -> Accumulator:
        add = self.own[self.moments[0].op].aggregate
        return Accumulator(places or self.places, self.type, 0, add, hint)

    def _has_weight(self, moment: Moment) -> bool:
        """Whether a sum changes by another one where a guess moves."""
        return len(moment.deviations) == 1 and self.own[moment.op] not in self.sums.values()

    # -- what is done where ------------------------------------------------------------------

    def start(self) -> None:
        """Set all to nothing."""
        for found in (self.guess, self.hidden_weights, self.hidden, {None: self.count}):
            for accumulator in found.values():
                accumulator.start()

    def guess_first(self, deviation: Deviation, x: SSAValue) -> None:
        """Guess that the mean is the number at the loops being built."""
        self._store(x, self.guess[deviation.value])

    def difference(self, deviation: Deviation, x: SSAValue) -> SSAValue:
        """The deviation of a number from the guess at the loops being built."""
        guess = self._load(self.guess[deviation.value])
        return self.nest.scalars.apply("tile.sub", [x, guess], self.type)

    def add(
        self, difference: Callable[[SSAValue], SSAValue], weight: Callable[[Moment], SSAValue]
    ) -> None:
        """Count what is here, and add it to the sums that are no results."""
        for value, total in self.hidden.items():
            total.add(difference(value))
        for moment in self.moments:
            if moment.op in self.hidden_weights:
                self.hidden_weights[moment.op].add(weight(moment))
        if self.points is None:
            self.count.add(self.nest.scalars.constant(1, self.type))

    def move(self) -> None:
        """Guess anew, after a step of the points."""
        s, t = self.nest.scalars, self.type
        if self.points is not None:
            self.count.add(s.constant(self.points, t))
        with self.loops():
            count, one = self._count(), s.constant(1, t)
            if self.points is None:
                count = s.select(s.compare("lt", count, one, t), one, count)
            share = s.apply("tile.recip", [count], t)
            by: dict[SSAValue, SSAValue] = {}
            for value, guess in self.guess.items():
                before = self._load(guess)
                rise = s.apply("tile.mul", [self._load(self.sums[value]), share], t)
                after = s.apply("tile.add", [before, rise], t)
                by[value] = s.apply("tile.sub", [after, before], t)
                self._store(after, guess)
            self._shift(by)

    def finish(self, mean: Callable[[Deviation], SSAValue]) -> None:
        """Make them the sums of the deviations from what are the means."""
        with self.loops():
            s, t = self.nest.scalars, self.type
            by = {
                value: s.apply("tile.sub", [mean(d), self._load(self.guess[value])], t)
                for value, d in self.deviations.items()
            }
            self._shift(by)
            for moment in self.moments:
                # A guess is infinite, or none, only if a number is.
                guess = self._load(self.guess[moment.deviations[0].value])
                nothing = s.apply("tile.sub", [guess, guess], t)
                if moment.is_square:
                    self.own[moment.op].add(nothing)

    def _shift(self, by: Mapping[SSAValue, SSAValue]) -> None:
        """Make all sums those for guesses that are so much greater."""
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

    def _fall(self, moment: Moment, products: Iterable[tuple[SSAValue, SSAValue]]) -> None:
        """Subtract products from a sum; not from squares beyond all numbers, which remain that."""
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
        """The loops over all that a work-item has."""
        return self.places.kernel.loops([*self.places.moving, *self.places.lanes])

    def _count(self) -> SSAValue:
        """Of how many points the sums of the loops being built are."""
        return self._load(self.count) if self.points is None else self.count.total()

    def _load(self, accumulator: Accumulator) -> SSAValue:
        """That of the loops being built."""
        return self.nest.load(accumulator.buffer, self.places.here())

    def _store(self, value: SSAValue, accumulator: Accumulator) -> None:
        self.nest.store(value, accumulator.buffer, self.places.here())
