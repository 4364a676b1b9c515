"""Magnitude of the numbers from which index expressions are computed."""

from __future__ import annotations

from collections.abc import Mapping

from tiledialect.index.integer.expressions import Atom, Expr, Quotient, Remainder, parts_of
from tiledialect.index.integer.polynomial import Variable


def magnitude(expr: Expr, most: Mapping[str, int]) -> int:
    """Return a bound of the magnitude of all intermediate numbers.

    ``most`` bounds the variables in the same way.
    """
    return max(_reach(expr, most))


def _reach(expr: Expr, most: Mapping[str, int]) -> tuple[int, int]:
    """Return the bound of the value, and the bound of its intermediate numbers."""
    value = inner = 0
    for product, coefficient in expr:
        term = abs(coefficient)
        for atom in product:
            own, below = _reach_of_atom(atom, most)
            term, inner = term * own, max(inner, below)
        value += term
    return value, inner


def _reach_of_atom(atom: Atom, most: Mapping[str, int]) -> tuple[int, int]:
    if isinstance(atom, Variable):
        return most[atom.name], 0
    values, inner = zip(*(_reach(part, most) for part in parts_of(atom)), strict=True)
    below = max(*values, *inner)
    if isinstance(atom, Quotient):
        return values[0], below
    if isinstance(atom, Remainder):
        # A multiple of the divisor is subtracted from it.
        return values[1], max(below, sum(values))
    return max(values), below
