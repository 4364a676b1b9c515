"""Constants of `scf.for` loops."""

from __future__ import annotations

from xdsl.dialects import scf

from tiledialect.dialects.tile.constants import constant_integer


def steps_of(loop: scf.ForOp) -> int | None:
    """Number of iterations of a loop, if its bounds and step are constants."""
    first, end, step = map(constant_integer, (loop.lb, loop.ub, loop.step))
    if first is None or end is None or step is None or step <= 0:
        return None
    return len(range(first, end, step))
