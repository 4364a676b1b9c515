"""Digits of numbers in mixed radices, as affine expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor

from tiledialect.index.expr import Access, IndexExpr, Range
from tiledialect.index.sets import interval


def joined(access: Sequence[IndexExpr], sizes: Sequence[int]) -> IndexExpr:
    """The number of an element in a tensor of these sizes."""
    found = IndexExpr()
    for place, size in zip(access, sizes, strict=True):
        found = found * size + place
    return found


def digits(number: IndexExpr, sizes: Sequence[int], ranges: Mapping[str, Range]) -> Access | None:
    """The place of the element of a number in a tensor of these sizes, at least one.

    None if a digit is not affine. What a size divides belongs to the digits before it; the rest
    must be smaller than the size at every point.
    """
    found = list[IndexExpr]()
    for size in reversed(sizes[1:]):
        multiples = {n: c for n in number.names if (c := number.coefficient(n)) % size == 0}
        before = IndexExpr.linear(multiples, floor(number.constant / size) * size)
        lower, upper = interval(number - before, ranges)
        if lower < 0 or upper >= size:
            return None
        found.append(number - before)
        number = before / size
    return (number, *reversed(found))
