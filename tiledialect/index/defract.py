"""Defract: change the index variables so that every coefficient is an integer.

The integer assignments at which all expressions of a space are integers form a lattice. (With
offsets, a coset of one: a coordinate that is 1 is put before the variables, to carry them.) The
expressions generate its dual; the Hermite normal form D of the lattice gives each variable as

    v[j] = D[0][j] + D[1][j]*t[1] + … + D[j][j]*t[j]

with a new integer variable for each old one. Adding D[j][j] to a coefficient above it is the
same as changing t[j], so there only ``t[i]`` modulo the denominator of ``D[i][j] / D[j][j]``
matters. A variable with such uses is split into digits, ``t = r + m*q`` with ``0 <= r < m``, and
those uses get ``r``: the range of ``v[j]``'s own variable is then a box. Because D is triangular
and the output's variables come first, they still are determined by the output's indices: each
element of the output has one owner. (PlaidML's ``defract``.)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm

from .change import Change, coefficients, nothing
from .contraction import IndexSpace
from .expr import Constraint, IndexExpr
from .lattice import Matrix, dual, hermite
from .parallel import without_redundant
from .sets import is_empty, ranges


def defract(space: IndexSpace) -> Change:
    """The space in variables that make every coefficient and offset an integer.

    A variable ``x`` becomes ``x_0`` or, split into digits, ``x_0, x_1, …``, least digit first;
    each digit but the last is bounded by a constraint. Redundant constraints are dropped. Raises
    ``UnboundedIndexError``.
    """
    ranges(space)  # every index has one
    if is_empty(space):
        return nothing(space)
    if all(c.expr.denominator == 1 for c in space.all_constraints()):
        return Change(without_redundant(space))
    basis = _lattice(space)
    digits = [Digits(name, _moduli(basis, i)) for i, name in enumerate(space.variables, 1)]
    values = {name: _value(basis, j, digits) for j, name in enumerate(space.variables, 1)}
    constraints = [constraint for split in digits for constraint in split.constraints()]
    return Change(without_redundant(space.substitute(values), constraints), values)


@dataclass(frozen=True)
class Digits:
    """An integer variable ``t`` in a mixed radix: ``t_0 + m[0]*t_1 + m[1]*t_2 + …``.

    Each of the ``moduli`` divides the next, so the first digits alone are ``t`` modulo one.
    """

    name: str
    moduli: tuple[int, ...]

    def modulo(self, modulus: int = 0) -> IndexExpr:
        """The first digits, which give ``t`` modulo ``modulus``; without one, all digits."""
        weights = (1, *self.moduli)
        count = next(
            (k for k, weight in enumerate(weights) if modulus and weight % modulus == 0), None
        )
        return IndexExpr.linear({f"{self.name}_{k}": w for k, w in enumerate(weights[:count])})

    def constraints(self) -> list[Constraint]:
        """That each digit but the last is less than its radix."""
        sizes = [upper // lower for lower, upper in pairwise((1, *self.moduli))]
        names = [IndexExpr.of(f"{self.name}_{k}") for k in range(len(sizes))]
        return [Constraint(n, IndexExpr.of(size)) for n, size in zip(names, sizes, strict=True)]


def _lattice(space: IndexSpace) -> Matrix:
    """The integer assignments ``(1, variables)`` that make all expressions integers, as a basis."""
    size = len(space.variables) + 1
    rows: Matrix = [[Fraction(i == j) for j in range(size)] for i in range(size)]
    for constraint in space.all_constraints():
        expr = constraint.expr
        rows.append([expr.constant, *coefficients(expr, space.variables)])
    return dual(hermite(rows))


def _moduli(basis: Matrix, i: int) -> tuple[int, ...]:
    """The moduli at which the variable of row ``i`` is needed; each divides the next."""
    uses = {_modulus(basis, i, j) for j in range(i + 1, len(basis))} - {1}
    moduli = sorted(uses)
    if any(larger % smaller for smaller, larger in pairwise(moduli)):
        return (lcm(*moduli),)
    return tuple(moduli)


def _modulus(basis: Matrix, i: int, j: int) -> int:
    return (basis[i][j] / basis[j][j]).denominator


def _value(basis: Matrix, j: int, digits: list[Digits]) -> IndexExpr:
    """The variable of column ``j`` in terms of the new ones."""
    value = IndexExpr()
    for i in range(1, j):
        if basis[i][j]:
            value += basis[i][j] * digits[i - 1].modulo(_modulus(basis, i, j))
    return value + basis[j][j] * digits[j - 1].modulo() + basis[0][j]
