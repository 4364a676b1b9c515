"""Reduce: change the index variables so that each index of the output is a single variable.

The new variables ``v0, v1, …`` are index expressions of the space itself. First come those of the
output that are linearly independent, in order; then, until they determine every old variable,
the expressions with the fewest values (parallel ones merged; user's constraints before the
output's and the inputs' indices). Being index expressions, the new variables are integers at
every point, and those that are not single variables of the old space get a fractional inverse,
which ``defract`` removes. (PlaidML's ``reduce``.)

The values of an expression are counted once the others are fixed: where ``128*m + t`` is, ``t <
512`` has 4 of them, fewer than ``m < 500``. It takes the place of one that has ``FEWER`` times as
many, as in sums of overlapping frames.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod

from tiledialect.index.change import Change, changed, coefficients, nothing
from tiledialect.index.contraction import IndexSpace, remembered
from tiledialect.index.expr import Constraint, IndexExpr
from tiledialect.index.lattice import Echelon, Matrix, hermite, inverse, is_member
from tiledialect.index.parallel import merge_parallel, without_redundant
from tiledialect.index.sets import is_empty, ranges

FEWER = 8
"""Ratio of numbers of values from which an expression is preferred to one of a smaller range: it
becomes digits of a mixed radix, which loops traverse less evenly. Taps that a dilation separates
are not preferred to positions, whose remainders are fewer only as far as the padding is larger."""


@remembered
def reduce(space: IndexSpace) -> Change:
    """The space in variables that are the output's indices, as far as those are independent.

    Where they are variables already, the space keeps its variables, unless others at least halve
    the box that a loop nest has to visit. Redundant constraints are dropped. A constraint is
    added for an old variable that the new ones do not make an integer by themselves. Raises
    ``UnboundedIndexError``.
    """
    ranges(space)  # every index has one
    if is_empty(space):
        return nothing(space)
    space = without_redundant(space)
    basis = _basis(space)
    outputs = [c.expr for c in basis if c.expr in space.output]
    if all(expr.variable for expr in outputs) and not _is_smaller(space, basis):
        return Change(space)
    values = solve(space, [c.expr for c in basis])
    constraints = _integrality(space, values)
    return Change(without_redundant(changed(space, values), constraints), values)


def _basis(space: IndexSpace) -> list[Constraint]:
    """Linearly independent expressions, as many as there are variables, and their bounds."""
    outputs = [c for c in space.accesses[: len(space.output)] if not c.expr.is_constant]
    others = merge_parallel(space.constraints + space.accesses)
    candidates = outputs + sorted(others, key=lambda c: c.bound.constant)
    found = Echelon()
    basis: list[Constraint] = []
    for constraint in candidates:
        if len(basis) == len(space.variables):
            break
        if found.add(coefficients(constraint.expr, space.variables)):
            basis.append(constraint)
    return _with_fewer_values(space, basis, others)


def _with_fewer_values(
    space: IndexSpace, basis: list[Constraint], others: tuple[Constraint, ...]
) -> list[Constraint]:
    """The basis with expressions of far fewer values, if there are any besides the output's, or of
    fewer in the same range, as the taps of four inputs by four with stride 2.

    An expression with ``step`` times the replaced basis expression leaves one value in ``step``, as
    the determinant of the basis becomes so many times larger.
    """
    rows = [coefficients(c.expr, space.variables) for c in others]
    if all(abs(factor) <= 1 for row in rows for factor in row):
        return basis
    chosen = [coefficients(c.expr, space.variables) for c in basis]
    solved, basis = inverse(chosen), list(basis)
    for constraint, row in zip(others, rows, strict=True):
        for k, taken in enumerate(basis):
            step = abs(sum(a * b[k] for a, b in zip(row, solved, strict=True) if a))
            bound, before = constraint.bound.constant, taken.bound.constant
            few = FEWER * bound <= before * step or (bound == before and step > 1)
            if few and taken.expr not in space.output:
                basis[k], chosen[k] = constraint, row
                solved = inverse(chosen)
                break
    return basis


def _is_smaller(space: IndexSpace, basis: list[Constraint]) -> bool:
    """Whether the box of the basis has at most half as many points as that of the variables.

    Only the lattice of integer variables counts in the former, one point in ``determinant``.
    """
    matrix = [coefficients(c.expr, space.variables) for c in basis]
    determinant = prod(row[i] for i, row in enumerate(hermite(matrix)))
    new = prod(c.bound.constant for c in basis) / determinant
    return 2 * new <= prod(r.extent for r in ranges(space).values())


def solve(space: IndexSpace, basis: list[IndexExpr]) -> dict[str, IndexExpr]:
    """Variables of the space in terms of ``v0, v1, …``, which are the basis."""
    solved: Matrix = inverse([coefficients(expr, space.variables) for expr in basis])
    new = [IndexExpr.of(f"v{i}") - expr.constant for i, expr in enumerate(basis)]
    return {
        name: sum((c * v for c, v in zip(row, new, strict=True) if c), IndexExpr())
        for name, row in zip(space.variables, solved, strict=True)
    }


def _integrality(space: IndexSpace, values: dict[str, IndexExpr]) -> list[Constraint]:
    """Constraints that make the old variables integers, where nothing else does."""
    names = tuple(f"v{i}" for i in range(len(values)))
    rows: Matrix = [
        [Fraction(i == j) for j in range(len(names) + 1)] for i in range(len(names) + 1)
    ]
    for constraint in space.substitute(values).all_constraints():
        rows.append([*coefficients(constraint.expr, names), constraint.expr.constant])
    integers = hermite(rows)
    found: list[Constraint] = []
    for name, value in values.items():
        row = [*coefficients(value, names), value.constant]
        if not is_member(row, integers):
            old = ranges(space)[name]
            found.append(Constraint(value - old.lower, IndexExpr.of(old.extent)))
            integers = hermite([*integers, row])
    return found
