"""Defract: change the index variables so that every coefficient is an integer.

The integer assignments at which all expressions of a space are integers form a lattice. (With
offsets, a coset of one: a coordinate that is 1 is put before the variables, to carry them.) The
expressions generate its dual; the Hermite normal form D of the lattice gives each variable as

    v[j] = D[0][j] + D[1][j]*t[1] + … + D[j-1][j]*t[j-1] + D[j][j]*t[j]

with a new integer variable ``t[j]`` for each old one. The terms before the last matter only modulo
``D[j][j]``, for the rest can be absorbed into ``t[j]``. So of an earlier variable only its
remainder by some ``m`` matters, and it is split into digits there, ``t = r + m*q`` with
``0 <= r < m``: the range of ``v[j]``'s own variable then is almost the same for all values of the
others, and a loop nest over boxes wastes little. Because D is triangular and the output's
variables come first, their new variables are still determined by the output's indices: each
element of the output has one owner. (PlaidML's ``defract``.)
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import gcd, prod

from tiledialect.index.change import Change, changed, coefficients, nothing
from tiledialect.index.contraction import IndexSpace, remembered
from tiledialect.index.expr import Constraint, IndexExpr, Range
from tiledialect.index.lattice import Matrix, dual, hermite
from tiledialect.index.parallel import without_redundant
from tiledialect.index.sets import is_empty, ranges

MOST_CASES = 256
"""Most values of digits, for all signs of their coefficients, that are tried for one variable."""


@remembered
def defract(space: IndexSpace) -> Change:
    """The space in variables that make every coefficient and offset an integer.

    A variable ``x`` becomes ``x_0`` or, split into digits, ``x_0, x_1, …``, least digit first;
    each digit but the last is bounded by a constraint. Redundant constraints are dropped. Raises
    ``UnboundedIndexError``.
    """
    bounds = ranges(space)  # every index has one
    if is_empty(space):
        return nothing(space)
    if all(c.expr.denominator == 1 for c in space.all_constraints()):
        return Change(without_redundant(space))
    basis = _lattice(space)
    lattice = MixedRadixLattice()
    for j, name in enumerate(space.variables, 1):
        lattice.add(name, [int(basis[i][j]) for i in range(j + 1)], bounds[name])
    values, digits = lattice.values, lattice.digit_constraints()
    return Change(without_redundant(changed(space, values), digits), values)


def _lattice(space: IndexSpace) -> Matrix:
    """The integer assignments ``(1, variables)`` that make all expressions integers, as a basis."""
    size = len(space.variables) + 1
    rows: Matrix = [[Fraction(i == j) for j in range(size)] for i in range(size)]
    for constraint in space.all_constraints():
        expr = constraint.expr
        rows.append([expr.constant, *coefficients(expr, space.variables)])
    return dual(hermite(rows))


class MixedRadixLattice:
    """The points of a lattice, given by its Hermite normal form column by column.

    ``values`` are the coordinates in terms of the new variables. The variable of ``x`` in a mixed
    radix is ``x_0 + m[0]*x_1 + m[0]*m[1]*x_2 + …``, where ``m`` is ``radices["x"]``; the last
    digit is any integer.
    """

    def __init__(self):
        self.radices: dict[str, list[int]] = {}
        self.values: dict[str, IndexExpr] = {}
        self._factors: list[IndexExpr] = [IndexExpr.of(1)]  # those of the rows so far

    def add(self, name: str, column: list[int], bounds: Range) -> None:
        """Add a coordinate: an integer combination of the rows so far, and of a new one."""
        *above, pivot = column

        def total() -> IndexExpr:
            terms = (c * factor for c, factor in zip(above, self._factors, strict=True) if c)
            return sum(terms, IndexExpr())

        while split := self._useful_split(total(), pivot):
            self._split(*split)
        rest = total()
        kept = self._remainder(rest, pivot, bounds)
        own = IndexExpr.of(f"{name}_0")
        self.radices[name] = []
        self._factors.append(own - (rest - kept) / pivot)
        self.values[name] = kept + pivot * own

    def digit_constraints(self) -> list[Constraint]:
        """Constraints of each digit but the last of a variable to less than its radix."""
        return [
            Constraint(IndexExpr.of(f"{name}_{k}"), IndexExpr.of(radix))
            for name, radices in self.radices.items()
            for k, radix in enumerate(radices)
        ]

    def _remainder(self, rest: IndexExpr, pivot: int, bounds: Range) -> IndexExpr:
        """An expression that is ``rest`` modulo ``pivot``, for fewest values of the multiple.

        Remainders of coefficients may be negative: taps of ``t < 4`` with an odd ``p + t`` are
        ``1 - p + 2*j`` for both ``j < 2``, but ``1 + p + 2*j`` for ``j`` from -1 to 1.
        """
        terms = [(m, c % pivot) for m, c in rest]
        digits = {f"{n}_{k}": r for n, own in self.radices.items() for k, r in enumerate(own)}
        used = {m[0]: digits[m[0]] for m, c in terms if m and c}
        if prod(used.values()) * 2 ** len(used) > MOST_CASES:
            return IndexExpr.collect(terms)
        less = product(*((0, pivot) if m and c else (0,) for m, c in terms))
        choices = [
            IndexExpr.collect((m, c - x) for (m, c), x in zip(terms, own, strict=True))
            for own in less
        ]
        cases = [dict(zip(used, case, strict=True)) for case in product(*map(range, used.values()))]

        def multiples(choice: IndexExpr) -> int:
            values = [choice.evaluate(case) for case in cases]
            least = min(-((value - bounds.lower) // pivot) for value in values)
            return max((bounds.upper - 1 - value) // pivot for value in values) - least

        return min(choices, key=multiples)

    def _useful_split(self, total: IndexExpr, pivot: int) -> tuple[str, int, int] | None:
        """A digit, and a number whose remainder of it suffices for ``total`` modulo ``pivot``."""
        for name, radices in self.radices.items():
            for k, radix in enumerate([*radices, 0]):
                modulus = pivot // gcd(pivot, int(total.coefficient(f"{name}_{k}")))
                if modulus > 1 and radix != modulus and radix % modulus == 0:
                    return name, k, modulus
        return None

    def _split(self, name: str, k: int, modulus: int) -> None:
        """Make two digits of the digit ``k``, the lower one of radix ``modulus``."""
        radices = self.radices[name]
        last = len(radices)
        moved = {f"{name}_{i}": IndexExpr.of(f"{name}_{i + 1}") for i in range(k + 1, last + 1)}
        digit = IndexExpr.linear({f"{name}_{k}": 1, f"{name}_{k + 1}": modulus})
        moved[f"{name}_{k}"] = digit
        radices[k : k + 1] = [modulus, radices[k] // modulus] if k < last else [modulus]
        self._factors = [factor.substitute(moved) for factor in self._factors]
        self.values = {v: value.substitute(moved) for v, value in self.values.items()}
