"""Copies inside bounds, as of a triangle, as selections of elements, or else 0."""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.dialects.tile.element_types import CONCRETE
from tiledialect.dialects.tile.elementwise.ops import (
    AddOp,
    CmpGeOp,
    CmpLtOp,
    ConstantOp,
    IndexOp,
    MulOp,
    SelectOp,
)
from tiledialect.index.expr import IndexExpr
from tiledialect.ir.names import keep_origin
from tiledialect.passes.views.initial_values import initial_value

LARGEST = 2**31
"""Bound of the type that positions are counted in."""

IndexComparison = tuple[IndexExpr, int, type[CmpGeOp | CmpLtOp]]
"""Expression of the output's indices, and its bound from below or above."""


def select_inside(block: Block) -> None:
    """Select the elements that a copy takes in their own places, where its constraints hold.

    Positions are compared as vectors then, and elementwise ops may go before and after. Copies of
    less than half of a tensor stay, as they do not read the rest.
    """
    for op in list(block.ops):
        if isinstance(op, ContractionOp) and _takes_in_place(op) and (test := _test(op)):
            made = _selection(op, *test)
            keep_origin(made, op)
            Rewriter.replace_op(op, made, made[-1].results)


def _takes_in_place(op: ContractionOp) -> bool:
    """Whether a contraction copies each element to its own place, or leaves it 0."""
    names = [e.variable for e in op.output.data]
    return (
        len(op.inputs) == 1
        and op.default is None
        and op.inputs[0].type == op.result.type
        and None not in names
        and len(set(names)) == len(names)
        and set(op.index_names) == set(names)
        and op.accesses.data[0].data == op.output.data
    )


def _test(op: ContractionOp) -> IndexComparison | None:
    """Condition of the copied elements; None if it is more than one, or holds for few."""
    names = [e.variable for e in op.output.data]
    last = {
        n: size - 1 for n, size in zip(names, shape_of(tensor_type(op.result)) or (), strict=True)
    }
    found: list[IndexComparison] = []
    for constraint in op.constraints.data:
        e, bound = constraint.data.expr, constraint.data.bound
        factors = {n: e.coefficient(n) for n in e.names}
        parts = [factor * last[n] for n, factor in factors.items()]
        least, most = sum(min(p, 0) for p in parts), sum(max(p, 0) for p in parts)
        # Partial sums lie between these; the constant may move the total out of there.
        is_small = max(-least, most, *map(abs, factors.values())) < LARGEST
        if e.denominator != 1 or not bound.is_constant or not is_small:
            return None
        lower, upper = e.constant + least, e.constant + most
        first, end = max(lower, 0), min(upper, bound.constant - 1)
        if 2 * (end - first + 1) <= upper - lower:
            return None
        found += [(e, 0, CmpGeOp)] if lower < 0 else []
        found += [(e, int(bound.constant), CmpLtOp)] if upper >= bound.constant else []
    return found[0] if len(found) == 1 else None


def _selection(
    op: ContractionOp, e: IndexExpr, end: int, compare: type[CmpGeOp | CmpLtOp]
) -> list[Operation]:
    """Ops that select the elements for which a test holds."""
    (source,), t = op.inputs, tensor_type(op.result)
    axes = {place.variable: axis for axis, place in enumerate(op.output.data)}
    made: list[Operation] = []

    def add(new: Operation) -> SSAValue:
        made.append(new)
        return new.results[0]

    def number(value: int) -> SSAValue:
        return add(ConstantOp.of(value, CONCRETE["i32"]))

    total: SSAValue | None = None
    for name in e.names:
        place = add(IndexOp.along(source, axes[name]))
        factor = int(e.coefficient(name))
        part = place if factor == 1 else add(MulOp.make(place, number(factor)))
        total = part if total is None else add(AddOp.make(total, part))
    assert total is not None
    test = add(compare.make(total, number(end - int(e.constant))))
    add(SelectOp.make(test, source, add(initial_value(0, t.element_type))))
    return made
