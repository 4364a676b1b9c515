"""Places of extrema: bodies that compare an element with the best so far, and keep its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, linalg
from xdsl.ir import Operation, SSAValue

from tiledialect.dialects.tile import element_types as et
from tiledialect.dialects.tile.attributes import Aggregation, Combination
from tiledialect.dialects.tile.base import tensor_type
from tiledialect.dialects.tile.elementwise import ops as ew
from tiledialect.index.expr import Access
from tiledialect.passes.convert.linalg.bodies import Body
from tiledialect.passes.convert.linalg.elements import Element
from tiledialect.passes.convert.linalg.reductions import Accumulation

CASTS = (arith.IndexCastOp, arith.ExtSIOp, arith.TruncIOp)
MAXIMUM = {"ogt": False, "sgt": False, "oge": True, "sge": True}
MINIMUM = {"olt": False, "slt": False, "ole": True, "sle": True}
"""Comparisons of an element with the best one, and whether the last of equal ones is kept."""
OF_OPERANDS: dict[type[Operation], tuple[Aggregation, bool]] = {
    arith.MaximumfOp: (Aggregation.max, True),
    arith.MinimumfOp: (Aggregation.min, True),
    arith.MaxSIOp: (Aggregation.max, False),
    arith.MinSIOp: (Aggregation.min, False),
}
"""Extrema by ops of their own, and whether the first NaN is the last element that counts."""


@dataclass(frozen=True)
class PlaceOfExtremum:
    """An extremum of elements along a loop, with its place."""

    element: SSAValue
    loop: int
    aggregation: Aggregation
    keeps_last: bool
    ends_at_nan: bool
    """Whether elements after a NaN do not count; else NaNs alone do not."""


def place_of_extremum(
    yielded: Sequence[SSAValue], accumulators: Sequence[SSAValue]
) -> PlaceOfExtremum | None:
    """The extremum and place that a body yields, in this order, if these are all."""
    if len(yielded) != 2:
        return None
    (best, place), (value, chosen) = accumulators, (v.owner for v in yielded)
    if not isinstance(chosen, arith.SelectOp) or chosen.rhs is not place:
        return None
    compare, at = chosen.cond.owner, chosen.lhs.owner
    while isinstance(at, CASTS):
        at = at.operands[0].owner
    if not isinstance(compare, arith.CmpfOp | arith.CmpiOp) or compare.rhs is not best:
        return None
    names = arith.CMPF_COMPARISON_OPERATIONS
    if isinstance(compare, arith.CmpiOp):
        names = arith.CMPI_COMPARISON_OPERATIONS
    name, element = names[compare.predicate.value.data], compare.lhs
    if not isinstance(at, linalg.ops.IndexOp) or name not in MAXIMUM | MINIMUM:
        return None
    if any(Accumulation(a).uses(element) for a in accumulators):  # pyright: ignore[reportArgumentType]
        return None
    aggregation = Aggregation.max if name in MAXIMUM else Aggregation.min
    match value:
        case arith.SelectOp(cond=cond, lhs=lhs, rhs=rhs):
            if cond.owner is not compare or lhs is not element or rhs is not best:
                return None
            ends_at_nan = False
        case Operation() if type(value) in OF_OPERANDS and set(value.operands) == {element, best}:
            own, ends_at_nan = OF_OPERANDS[type(value)]
            if own is not aggregation:
                return None
        case _:
            return None
    keeps_last = (MAXIMUM | MINIMUM)[name]
    return PlaceOfExtremum(element, at.dim.value.data, aggregation, keeps_last, ends_at_nan)


def extremum_and_place(
    body: Body, found: PlaceOfExtremum, access: Access, initial: Sequence[SSAValue]
) -> list[SSAValue]:
    """Tensors of the extrema and their places, after the initial ones."""
    space, loop = body.space, tuple(body.space.ranges)[found.loop]
    shape = space.shape(initial[0])
    element, position = body.element(found.element), body.position(loop)
    size = space.ranges[loop]
    count = Element(space.builder.number(size)) if isinstance(size, int) else body.element(size)
    first, last = Aggregation.min, Aggregation.max

    def along(aggregation: Aggregation, of: Element) -> Element:
        """The aggregate along the loop."""
        return Element(
            space.contract(aggregation, Combination.none, access, shape, [of], loops=[loop]), access
        )

    counts = space.apply(ew.CmpEqOp, element, element)
    is_nan = space.apply(ew.CmpNeOp, element, element)
    if found.ends_at_nan:
        end = along(first, space.apply(ew.SelectOp, is_nan, position, count))
        counts = space.apply(ew.CmpLtOp, position, end)
    is_max, t = found.aggregation is Aggregation.max, element.element_type
    neutral: int | float = float("-inf") if is_max else float("inf")
    if not et.is_float(t):
        neutral = et.limits(t)[0 if is_max else 1]
    best = along(found.aggregation, space.apply(ew.SelectOp, counts, element, neutral))
    is_best = space.apply(ew.CmpEqOp, space.apply(ew.SelectOp, counts, element, neutral), best)
    is_best = space.apply(ew.SelectOp, counts, is_best, 0)
    other = Element(space.builder.number(-1)) if found.keeps_last else count
    place = along(
        last if found.keeps_last else first,
        space.apply(ew.SelectOp, is_best, position, other),
    )
    before, at = (Element(v, access) for v in initial)
    compare = {
        (True, False): ew.CmpGtOp,
        (True, True): ew.CmpGeOp,
        (False, False): ew.CmpLtOp,
        (False, True): ew.CmpLeOp,
    }
    is_better = space.apply(compare[is_max, found.keeps_last], best, before)
    if found.keeps_last:
        is_better = space.apply(ew.SelectOp, is_better, space.apply(ew.CmpGeOp, place, 0), 0)
    value = space.apply(ew.SelectOp, is_better, best, before)
    if found.ends_at_nan:
        # A NaN is the extremum of all.
        whole = along(found.aggregation, element)
        value = space.apply(ew.MaxOp if is_max else ew.MinOp, whole, before)
    place = space.cast(place, at.element_type)
    results = value, space.apply(ew.SelectOp, is_better, place, at)
    return [
        space.place(result, access, shape, tensor_type(v).element_type, v)
        for result, v in zip(results, initial, strict=True)
    ]
