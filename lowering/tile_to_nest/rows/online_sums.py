"""Online sums of exponentials: over a row, in the pass that finds its maximum.

A work-item's sum is the sum of `exp(x - m)` for the greatest `x` so far. Where a greater one comes,
the sum is multiplied by an exponential, and 1 is added: an exponential a number. Before the sums of
lanes and work-items are reduced, each is rescaled to the greatest of all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from xdsl.dialects.builtin import Float64Type
from xdsl.ir import Attribute, SSAValue

from tiledialect.lowering.nest.utils.scalars import Scalars
from tiledialect.lowering.tile_to_nest.accumulators import Accumulator


class OnlineUpdate(NamedTuple):
    """Update of sums by a number."""

    exponential: SSAValue
    """Exponential of the number less the greatest so far."""
    scale: SSAValue
    """Factor of the sums so far."""

    def added(self, scalars: Scalars, t: Attribute, old: SSAValue, value: SSAValue) -> SSAValue:
        """Rescale a sum and add a value."""
        scaled = scalars.apply("tile.mul", [old, self.scale], t)
        return scalars.apply("tile.add", [scaled, value], t)


def step(greatest: Accumulator, x: SSAValue) -> OnlineUpdate:
    """Update for a number at the loops being built, which the maximum does not include yet."""
    nest, t = greatest.nest, greatest.type
    scalars = nest.scalars
    before = _finite(scalars, t, nest.load(greatest.buffer, greatest.places.here()))
    zero, one = scalars.constant(0, t), scalars.constant(1, t)
    rise = scalars.apply("tile.sub", [x, before], t)
    is_greater = scalars.compare("gt", rise, zero, t)
    fall = scalars.select(is_greater, scalars.apply("tile.neg", [rise], t), rise)
    power = scalars.apply("tile.exp", [fall], t)
    own = scalars.select(is_greater, one, power)
    return OnlineUpdate(own, scalars.select(is_greater, power, one))


def scale_to(greatest: Accumulator, own: Accumulator, total: Accumulator) -> None:
    """Rescale sums from each work-item's and lane's own maximum to the maximum of all.

    They are no numbers where that is infinite.
    """
    nest, t = total.nest, total.type
    scalars, places = nest.scalars, total.places
    with places.kernel.loops([*places.moving, *places.lanes]):
        whole, part = greatest.total(), nest.load(own.buffer, places.here())
        ends = [_finite(scalars, t, value) for value in (part, whole)]
        scale = scalars.apply("tile.exp", [scalars.apply("tile.sub", ends, t)], t)
        nothing = scalars.apply("tile.sub", [whole, whole], t)
        total.change(lambda old: OnlineUpdate(old, scale).added(scalars, t, old, nothing))


def _finite(scalars: Scalars, t: Attribute, value: SSAValue) -> SSAValue:
    """Value, or the least finite number where nothing came, or nothing greater."""
    kind = np.float64 if isinstance(t, Float64Type) else np.float32
    least = scalars.constant(float(np.finfo(kind).min), t)
    return scalars.select(scalars.compare("lt", value, least, t), least, value)
