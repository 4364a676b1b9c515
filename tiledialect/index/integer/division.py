"""Division and common factors of integer expressions as polynomials in their atoms.

Its results hold for all values of the atoms; ``simplify`` adds the consequences of their ranges.
"""

from __future__ import annotations

from collections import Counter
from math import gcd

from tiledialect.index.integer.expressions import Atom, Expr
from tiledialect.index.integer.polynomial import Product, Term, Variable, product_of


def split(dividend: Expr, divisor: Expr) -> tuple[Expr, Expr]:
    """Expressions with ``quotient * divisor + rest == dividend``: terms that divide exactly.

    If the divisor is a number, the constant of the rest is at least 0 and less than it.
    """
    if not divisor:
        return Expr(), dividend
    by, factor = _leading(divisor)
    quotient: list[Term[Atom]] = []
    rest: list[Term[Atom]] = []
    while dividend:
        product, coefficient = _leading(dividend)
        times, over = divmod(coefficient, factor)
        left = without(product, by)
        if left is None or (over and product):
            step = Expr(((product, coefficient),))
            rest.append((product, coefficient))
        else:
            quotient.append((left, times))
            step = Expr.collect(((left, times),)) * divisor
            if over:
                rest.append(((), over))
                step += over
        dividend -= step
    return Expr.collect(quotient), Expr.collect(rest)


def exact_quotient(dividend: Expr, divisor: Expr) -> Expr | None:
    """The quotient, if there is no rest."""
    quotient, rest = split(dividend, divisor)
    return None if rest else quotient


def without(product: Product[Atom], divisor: Product[Atom]) -> Product[Atom] | None:
    """The product without the factors of the divisor; None if it lacks some."""
    left = Counter(product)
    left.subtract(divisor)
    if any(count < 0 for count in left.values()):
        return None
    return product_of(left.elements())


def linear_in(expr: Expr, atom: Atom) -> tuple[Expr, Expr] | None:
    """``factor`` and ``rest``, both without that factor, with ``factor * atom + rest == expr``."""
    factor: list[Term[Atom]] = []
    rest: list[Term[Atom]] = []
    for product, coefficient in expr:
        if atom not in product:
            rest.append((product, coefficient))
            continue
        others = without(product, (atom,))
        if others is None or atom in others:
            return None
        factor.append((others, coefficient))
    return Expr.collect(factor), Expr.collect(rest)


def content(expr: Expr) -> Term[Atom]:
    """The greatest product that divides every term, with a positive coefficient."""
    common: Counter[Atom] | None = None
    for product, _ in expr:
        common = Counter(product) if common is None else common & Counter(product)
    return product_of((common or Counter()).elements()), gcd(*(c for _, c in expr))


def common_factor(left: Term[Atom], right: Term[Atom]) -> Expr:
    """The greatest product that divides both."""
    common = Counter(left[0]) & Counter(right[0])
    return Expr(((product_of(common.elements()), gcd(left[1], right[1])),))


def _leading(expr: Expr) -> Term[Atom]:
    """The first term by degree, then alphabetically.

    Multiplication keeps this order, unlike the order of printing, so that division terminates.
    """
    if len(expr.terms) == 1:
        return expr.terms[0]
    return min(expr, key=lambda term: (-len(term[0]), [_key(atom) for atom in term[0]]))


def _key(atom: Atom) -> tuple[bool, str]:
    return not isinstance(atom, Variable), str(atom)
