"""Which values of the output variables name every element of a contraction's output once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tiledialect.dialects.tile.attributes import DomainAttr
from tiledialect.dialects.tile.base import shape_of, tensor_type
from tiledialect.dialects.tile.contraction import ContractionOp
from tiledialect.errors import TileError
from tiledialect.index.expr import IndexExpr, Range


@dataclass(frozen=True)
class OutputBox:
    """A box of the output variables in which every element of the output has one point.

    Other points of the box may lie outside the output; along the ``overshooting`` axes a kernel
    must test for that.
    """

    ranges: dict[str, Range]
    overshooting: tuple[int, ...]


def output_box(op: ContractionOp) -> OutputBox | None:
    """The box for the output indices of a static contraction.

    There is one if each output index is plus or minus a variable plus a constant, or a sum of
    digits such as `v_0 + 3*v_1` plus a constant, and no two share a variable.
    """
    shape = shape_of(tensor_type(op.result)) or ()
    ranges: dict[str, Range] = {}
    overshooting: list[int] = []
    for axis, (expr, size) in enumerate(zip(op.output.data, shape, strict=True)):
        names = expr.names
        if any(c.denominator != 1 for _, c in expr) or not ranges.keys().isdisjoint(names):
            return None
        coefficients = {name: int(expr.coefficient(name)) for name in names}
        offset = int(expr.constant)
        if len(names) == 1 and coefficients[names[0]] == -1:
            ranges[names[0]] = Range(offset - size + 1, offset + 1)
            continue
        digits = _digits(coefficients, offset, size)
        if digits is None:
            return None
        ranges |= digits
        top = max(coefficients.values())
        if offset % top or size % top:
            overshooting.append(axis)
    return OutputBox(ranges, tuple(overshooting))


def _digits(coefficients: dict[str, int], offset: int, size: int) -> dict[str, Range] | None:
    """The range of each digit of ``0 <= sum + offset < size``; None if they are no digits."""
    ordered = sorted(coefficients, key=coefficients.__getitem__)
    weights = [coefficients[name] for name in ordered]
    if not weights or weights[0] != 1 or any(b % a or a == b for a, b in pairwise(weights)):
        return None
    ranges = {
        name: Range(0, next_weight // weight)
        for name, (weight, next_weight) in zip(ordered, pairwise(weights), strict=False)
    }
    top = weights[-1]
    ranges[ordered[-1]] = Range(-offset // top, -(-(size - offset) // top))
    return ranges


def iteration_domain(op: ContractionOp) -> DomainAttr:
    """The box over which a kernel of a bounded contraction runs.

    The ranges of its points, except that output variables that can name every element do so:
    elements on which nothing lands are written too.
    """
    if op.domain is None:
        raise TileError.at(op, "a contraction needs a domain before it is fused: run tile-bounds")
    ranges = op.domain.ranges
    if (box := output_box(op)) is not None and _contains(box.ranges, ranges):
        ranges |= box.ranges
    return DomainAttr(tuple((name, ranges[name]) for name in op.index_names))


def visits_everything(op: ContractionOp) -> OutputBox | None:
    """The output box, if a kernel of the contraction runs through it."""
    assert op.domain is not None
    box, ranges = output_box(op), op.domain.ranges
    return box if box is not None and _contains(ranges, box.ranges) else None


def _contains(outer: dict[str, Range], inner: dict[str, Range]) -> bool:
    """Whether each range of ``outer`` contains that of ``inner``, or the latter is empty."""
    return all(
        inner[n].extent == 0 or (r.lower <= inner[n].lower and inner[n].upper <= r.upper)
        for n, r in outer.items()
        if n in inner
    )


def output_variables(output: Sequence[IndexExpr]) -> set[str]:
    """The index variables that occur in output indices."""
    return {name for expr in output for name in expr.names}
