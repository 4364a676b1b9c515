"""Normal form of a contraction that can be a kernel: the result of tile-defract."""

from __future__ import annotations

from tiledialect.dialects.tile.base import name_of
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.errors import TileError
from tiledialect.schedule.output_box import Ranges, shared_element


def ranges_of(op: ContractionOp) -> Ranges:
    """Ranges over which the loops of a contraction run; a TileError if it has no domain."""
    if op.domain is None:
        raise TileError.at(op, f"{name_of(op.result)} has no domain: run tile-bounds first")
    return op.domain.ranges


def check_one_owner(op: ContractionOp) -> None:
    """Refuse a contraction of which two values of the output variables name one element.

    The work-items of a kernel would write it at the same time.
    """
    shared = shared_element(op.space(), ranges_of(op))
    if shared is None:
        return
    raise TileError.at(
        op,
        f"{name_of(op.result)}[{shared.element}] would be computed by two work-items, at "
        f"{shared.points}: run tile-reduce and tile-defract first",
    )


def check_whole(op: ContractionOp) -> None:
    """Refuse a contraction with fractions in its indices: kernels have none."""
    exprs = [e for access in (*op.accesses, op.output) for e in access.data]
    exprs += [c.data.expr for c in op.constraints]
    if any(e.denominator != 1 for e in exprs):
        raise TileError.at(
            op, f"the indices of {name_of(op.result)} have fractions: run tile-defract first"
        )
