"""tile-reduce: make every output index of a contraction a single variable."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.index.contraction import IndexSpace
from tiledialect.index.defract import defract
from tiledialect.index.expr import Constraint
from tiledialect.index.reduce import reduce
from tiledialect.index.sets import interval, ranges
from tiledialect.passes.normalize.rewrites.change_indices import change_indices, contractions_of
from tiledialect.schedule.output_box import Ranges, visited


def is_in_digits(op: ContractionOp) -> bool:
    """Whether a contraction writes elements whose places have several indices as digits.

    Each element has one owner then, and determines the indices of its operands; for a single
    variable these would be quotients, which loops must search for unless `tile-defract` splits it
    again into all of the digits.
    """
    if op.domain is None:
        return False
    space, domain = op.space(), op.domain.ranges
    long = {name for name, r in domain.items() if r.extent > 1}
    if not any(len(long.intersection(e.names)) > 1 for e in space.output):
        return False
    if not all(_always_holds(c, domain) for c in space.constraints):
        return False
    box = visited(space, domain)
    if box is None or box.overshooting:
        return False
    return _is_whole(reduce(space).space) or _searches(space)


def _searches(space: IndexSpace) -> bool:
    """Whether loops search for some index of a point, though the elements' places determine all."""
    return _places_tell(space) and not _places_tell(defract(reduce(space).space).space)


def _places_tell(space: IndexSpace) -> bool:
    """Whether the places of the output determine all indices of several values."""
    names = {name for e in space.output for name in e.names}
    return all(name in names or r.extent == 1 for name, r in ranges(space).items())


def _is_whole(space: IndexSpace) -> bool:
    """Whether all places of reads are whole numbers for any values of the indices."""
    return all(e.denominator == 1 for access in space.inputs for e in access)


def _always_holds(constraint: Constraint, domain: Ranges) -> bool:
    """Whether a constraint holds for all indices of these ranges."""
    low, high = interval(constraint.expr, domain)
    if constraint.bound.names:
        return False
    return low >= 0 and high < constraint.bound.constant


class TileReducePass(ModulePass):
    """Takes the output's index expressions as new variables, as far as they are independent.

    Every output index that can be is a single variable afterwards; the inputs' index expressions
    may have fractional coefficients, which `tile-defract` removes. Where output indices have
    several variables as digits, as in the Kronecker product `K[2*i + k] = =(A[i] * B[k])`, and
    would become quotients, they stay: each element has one owner already.
    """

    name = "tile-reduce"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Reduce every contraction."""
        for contraction in contractions_of(op):
            if not is_in_digits(contraction):
                change_indices(contraction, reduce)
