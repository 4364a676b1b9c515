"""Sums of exponentials over a row whose maximum is not known yet, in the pass that finds it.

A work-item's sum is that of `exp(x - m)` for the greatest `x` that it has seen. Where a greater one
comes, the sum is multiplied by an exponential, and what is added is one: an exponential a number.
Before the sums of lanes and work-items are joined, each is made one for the greatest of all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import Float64Type
from xdsl.ir import Attribute, SSAValue

from tiledialect.lowering.nest.utils.scalars import Scalars
from tiledialect.lowering.tile_to_nest.accumulators import Accumulator


class Step(NamedTuple):
    """What becomes of sums where a number comes."""

    exponential: SSAValue
    """That of the number, by the greatest so far."""
    scale: SSAValue
    """What the sums so far are multiplied by."""

    def added(self, scalars: Scalars, t: Attribute, old: SSAValue, value: SSAValue) -> SSAValue:
        """A sum with another value."""
        scaled = scalars.apply("tile.mul", [old, self.scale], t)
        return scalars.apply("tile.add", [scaled, value], t)


def step(greatest: Accumulator, x: SSAValue) -> Step:
    """For a number at the loops being built, which the maximum does not have yet."""
    nest, t = greatest.nest, greatest.type
    scalars = nest.scalars
    before = _finite(scalars, t, nest.load(greatest.buffer, greatest.places.here()))
    zero, one = scalars.constant(0, t), scalars.constant(1, t)
    rise = scalars.apply("tile.sub", [x, before], t)
    is_greater = scalars.compare("gt", rise, zero, t)
    fall = scalars.select(is_greater, scalars.apply("tile.neg", [rise], t), rise)
    power = scalars.apply("tile.exp", [fall], t)
    own = scalars.select(is_greater, one, power)
    return Step(own, scalars.select(is_greater, power, one))


def scale_to(greatest: Accumulator, own: Accumulator, total: Accumulator) -> None:
    """Make sums for each work-item's and lane's own greatest number those for the greatest of all.

    They are no numbers where that is infinite.
    """
    nest, t = total.nest, total.type
    scalars, places = nest.scalars, total.places
    with places.kernel.loops([*places.moving, *places.lanes]):
        whole, part = greatest.total(), nest.load(own.buffer, places.here())
        ends = [_finite(scalars, t, value) for value in (part, whole)]
        scale = scalars.apply("tile.exp", [scalars.apply("tile.sub", ends, t)], t)
        nothing = scalars.apply("tile.sub", [whole, whole], t)
        total.change(lambda old: Step(old, scale).added(scalars, t, old, nothing))


def _finite(scalars: Scalars, t: Attribute, value: SSAValue) -> SSAValue:
    """The value, but the least number where nothing came, or nothing greater."""
    kind = np.float64 if isinstance(t, Float64Type) else np.float32
    least = scalars.constant(float(np.finfo(kind).min), t)
    return scalars.select(scalars.compare("lt", value, least, t), least, value)
