"""Reduction of constraints: parallel ones are merged, redundant ones dropped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, gcd, lcm

from tiledialect.index import domain
from tiledialect.index.contraction import IndexSpace
from tiledialect.index.expr import Constraint, IndexExpr


@dataclass(frozen=True)
class Progression:
    """The integers ``lower <= u < upper`` that are ``residue`` modulo ``modulus``."""

    lower: int
    upper: int
    residue: int
    modulus: int

    def __and__(self, other: Progression) -> Progression:
        """The integers in both; Chinese remainders."""
        lower, upper = max(self.lower, other.lower), min(self.upper, other.upper)
        step = gcd(self.modulus, other.modulus)
        apart, remainder = divmod(other.residue - self.residue, step)
        if remainder:
            return Progression(lower, lower, 0, 1)
        modulus = lcm(self.modulus, other.modulus)
        times = apart * pow(self.modulus // step, -1, other.modulus // step)
        return Progression(lower, upper, (self.residue + times * self.modulus) % modulus, modulus)

    @property
    def first(self) -> int:
        """Least of them, or the least that would be in it if ``upper`` were greater."""
        return self.lower + (self.residue - self.lower) % self.modulus

    @property
    def count(self) -> int:
        """Number of them."""
        return max(0, ceil(Fraction(self.upper - self.first, self.modulus)))


def merge_parallel(constraints: Iterable[Constraint]) -> tuple[Constraint, ...]:
    """Constraints with the same integer points, no two of which are parallel.

    Each class has the place of its first constraint; constraints without variables are left out.
    Each expression is the number of the point's element of a progression, counted from 0.
    """
    classes: dict[IndexExpr, Progression] = {}
    for constraint in constraints:
        scale = _scale(constraint.expr)
        if not scale:
            continue
        direction = (constraint.expr - constraint.expr.constant) / scale
        if -direction in classes:
            direction, scale = -direction, -scale
        values = _values(scale, constraint)
        classes[direction] = classes[direction] & values if direction in classes else values
    return tuple(
        Constraint((direction - values.first) / values.modulus, IndexExpr.of(values.count))
        for direction, values in classes.items()
    )


def _scale(expr: IndexExpr) -> Fraction:
    """Divisor that gives coprime integer coefficients, the first one positive; or 0."""
    found = [coefficient for monomial, coefficient in expr if monomial]
    if not found:
        return Fraction(0)
    size = Fraction(gcd(*(c.numerator for c in found)), lcm(*(c.denominator for c in found)))
    return size if found[0] > 0 else -size


def _values(scale: Fraction, constraint: Constraint) -> Progression:
    """Integers ``u`` for which ``scale * u + constant`` is an integer inside the bounds."""
    constant, bound = constraint.expr.constant, constraint.bound.constant
    ends = -constant / scale, (bound - constant) / scale
    if scale > 0:
        lower, upper = ceil(ends[0]), ceil(ends[1])
    else:
        lower, upper = floor(ends[1]) + 1, floor(ends[0]) + 1
    whole = lcm(scale.denominator, constant.denominator)
    factor, offset = int(scale * whole), int(constant * whole)
    common = gcd(factor, whole)
    if offset % common:
        return Progression(lower, lower, 0, 1)
    modulus = whole // common
    residue = -(offset // common) * pow(factor // common, -1, modulus) % modulus
    return Progression(lower, upper, residue, modulus)


def without_redundant(space: IndexSpace, kept: Sequence[Constraint] = ()) -> IndexSpace:
    """The space without the constraints that follow from its accesses and other constraints.

    Parallel constraints become one. Then those of ``kept`` are added, which are never dropped.
    """
    merged = space.constraints
    if len(merge_parallel(merged)) < len(merged):
        constants = [c for c in merged if c.expr.is_constant]
        merged = (*constants, *merge_parallel(merged))
    space = replace(space, constraints=(*merged, *kept))
    first = len(space.accesses)
    dropped = implied(space, range(first + len(merged) - 1, first - 1, -1))
    left = [c for i, c in enumerate(space.constraints) if first + i not in dropped]
    return replace(space, constraints=tuple(left))


def implied(space: IndexSpace, candidates: Sequence[int]) -> set[int]:
    """Constraints among some of ``all_constraints`` that can be dropped together without adding
    points.

    Of two that follow from each other, the first in ``candidates`` is dropped.
    """
    dropped: set[int] = set()
    for part in space.components:
        where = {source: i for i, source in enumerate(part.rows)}
        rows = tuple(where[source] for source in candidates if source in where)
        if rows:
            dropped |= {part.rows[i] for i in domain.implied_rows(part.component, rows)}
    return dropped
