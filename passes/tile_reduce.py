"""tile-reduce: make every output index of a contraction a single variable."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.index.contraction import IndexSpace
from tiledialect.index.expr import Constraint
from tiledialect.index.reduce import reduce
from tiledialect.index.sets import interval
from tiledialect.passes.change_indices import change_indices, contractions_of
from tiledialect.schedule.output_box import Ranges, visited


def is_in_digits(op: ContractionOp) -> bool:
    """Whether a contraction writes elements whose places are made of several indices, as digits.

    Each element has one owner then, and knows the indices of what it is made of; those of a single
    variable would be quotients, which loops must search for unless `tile-defract` splits it again.
    """
    if op.domain is None:
        return False
    space, ranges = op.space(), op.domain.ranges
    long = {name for name, r in ranges.items() if r.extent > 1}
    if not any(len(long.intersection(e.names)) > 1 for e in space.output):
        return False
    if not all(_always_holds(c, ranges) for c in space.constraints):
        return False
    box = visited(space, ranges)
    return box is not None and not box.overshooting and _is_whole(reduce(space).space)


def _is_whole(space: IndexSpace) -> bool:
    """Whether all places that operands are read at are so for any values of the indices."""
    return all(e.denominator == 1 for access in space.inputs for e in access)


def _always_holds(constraint: Constraint, ranges: Ranges) -> bool:
    """Whether indices of these ranges satisfy a constraint whatever they are."""
    low, high = interval(constraint.expr, ranges)
    if constraint.bound.names:
        return False
    return low >= 0 and high < constraint.bound.constant


class TileReducePass(ModulePass):
    """Takes the output's index expressions as new variables, as far as they are independent.

    Every output index that can be is a single variable afterwards; the inputs' index expressions
    may have fractional coefficients, which `tile-defract` removes. Where output indices are made of
    several variables as digits are, as in the Kronecker product `K[2*i + k] = =(A[i] * B[k])`, and
    would become quotients, they stay: each element has one owner already.
    """

    name = "tile-reduce"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Reduce every contraction."""
        for contraction in contractions_of(op):
            if not is_in_digits(contraction):
                change_indices(contraction, reduce)
