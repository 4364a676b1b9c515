"""Range-aware simplification of integer expressions.

A ``Simplifier`` knows the range of each variable and makes expressions that are simple from the
start: sums collect equal products; in ``(d*a + b) // d`` and ``% d`` what the divisor divides is
taken out, and if the range of ``b`` says so, all that is left is ``a`` and ``b``; a common factor
is cancelled even where the dividend has a small remainder by it, ``(8*i + j) // 32 = i // 4`` for
``0 <= j < 8``; a quotient and a remainder that belong together become what they were made from;
minima, maxima and comparisons are decided by bounds. Every rule is an equality for all values of
the variables in their ranges; those for division ask that the divisor is known to be positive.
(They are those of the work on Lift's views, and some more.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import gcd, inf, prod
from typing import Literal

from .expr import Range
from .integer import Atom, Division, Extremum, IntegerExpr, Product, Remainder, Variable, product_of

Operand = IntegerExpr | Atom | int | str
Number = int | float
"""An integer, or ``-inf`` or ``inf``."""


@dataclass(frozen=True)
class Bounds:
    """``lower <= value <= upper``."""

    lower: Number = -inf
    upper: Number = inf

    def __add__(self, other: Bounds) -> Bounds:
        return Bounds(self.lower + other.lower, self.upper + other.upper)

    def __mul__(self, other: Bounds) -> Bounds:
        pairs = [(a, b) for a in (self.lower, self.upper) for b in (other.lower, other.upper)]
        ends = [a * b if a and b else 0 for a, b in pairs]  # 0 * inf would be no number
        return Bounds(min(ends), max(ends))

    def quotients(self, divisor: Bounds) -> Bounds:
        """The bounds of a quotient, if the divisor is positive."""
        pairs = [(a, b) for a in (self.lower, self.upper) for b in (divisor.lower, divisor.upper)]
        ends = [_quotient(a, b) for a, b in pairs]
        return Bounds(min(ends), max(ends))

    def remainders(self, divisor: Bounds) -> Bounds:
        """The bounds of a remainder, if the divisor is positive."""
        return Bounds(0, min(divisor.upper - 1, self.upper if self.lower >= 0 else inf))


def _quotient(dividend: Number, divisor: Number) -> Number:
    """``dividend // divisor`` for a positive divisor, or what it tends to; never a finite float."""
    if abs(dividend) == inf:
        return dividend
    return dividend // divisor if divisor < inf else min(0, max(-1, dividend))


@dataclass(frozen=True)
class Less:
    """That ``left < right``."""

    left: IntegerExpr
    right: IntegerExpr

    def __str__(self) -> str:
        return f"{self.left} < {self.right}"


class Simplifier:
    """Makes simple expressions of variables with known ranges.

    A variable without a range, or with an empty one, is taken for any integer. Operands are
    expressions that a simplifier made; ``simplify`` takes any.
    """

    def __init__(self, ranges: Mapping[str, Range]):
        self._ranges = ranges
        self._bounds: dict[IntegerExpr, Bounds] = {}

    def simplify(self, expr: Operand) -> IntegerExpr:
        """An equal expression, made anew by the rules."""
        products = [
            self.multiply(factor, *(self._atom(atom) for atom in product))
            for product, factor in IntegerExpr.of(expr)
        ]
        return self.add(*products)

    def _atom(self, atom: Atom) -> IntegerExpr:
        match atom:
            case Variable(name):
                bounds = self._variable(name)
                return IntegerExpr.of(int(bounds.lower) if bounds.lower == bounds.upper else atom)
            case Division(dividend, divisor):
                return self.divide(self.simplify(dividend), self.simplify(divisor))
            case Remainder(dividend, divisor):
                return self.remainder(self.simplify(dividend), self.simplify(divisor))
            case Extremum(kind, operands):
                return self._extremum(kind, map(self.simplify, operands))

    # -- bounds ------------------------------------------------------------------------------

    def bounds(self, expr: Operand) -> Bounds:
        """Bounds of the value, by interval arithmetic."""
        expr = IntegerExpr.of(expr)
        if expr not in self._bounds:
            terms = [self._bounds_of_product(p) * Bounds(c, c) for p, c in expr]
            self._bounds[expr] = sum(terms, Bounds(0, 0))
        return self._bounds[expr]

    def _bounds_of_product(self, product: Product) -> Bounds:
        return prod(map(self._bounds_of_atom, product), start=Bounds(1, 1))

    def _bounds_of_atom(self, atom: Atom) -> Bounds:
        match atom:
            case Variable(name):
                return self._variable(name)
            case Division(dividend, divisor) if self._is_positive(divisor):
                return self.bounds(dividend).quotients(self.bounds(divisor))
            case Remainder(dividend, divisor) if self._is_positive(divisor):
                return self.bounds(dividend).remainders(self.bounds(divisor))
            case Extremum(kind, operands):
                found = [self.bounds(operand) for operand in operands]
                lowers, uppers = [b.lower for b in found], [b.upper for b in found]
                least = kind == "min"
                return Bounds(
                    min(lowers) if least else max(lowers), min(uppers) if least else max(uppers)
                )
            case _:
                return Bounds()

    def _variable(self, name: str) -> Bounds:
        known = self._ranges.get(name)
        return Bounds(known.lower, known.upper - 1) if known and known.extent else Bounds()

    def _is_positive(self, expr: IntegerExpr) -> bool:
        return self.bounds(expr).lower > 0

    # -- sums and products -------------------------------------------------------------------

    def add(self, *operands: Operand) -> IntegerExpr:
        """The sum."""
        terms = [term for operand in operands for term in IntegerExpr.of(operand)]
        return self._recombined(IntegerExpr.collect(terms))

    def subtract(self, left: Operand, right: Operand) -> IntegerExpr:
        """The difference."""
        return self.add(left, -IntegerExpr.of(right))

    def multiply(self, *operands: Operand) -> IntegerExpr:
        """The product, multiplied out."""
        return self._recombined(prod(map(IntegerExpr.of, operands), start=IntegerExpr.of(1)))

    def _recombined(self, expr: IntegerExpr) -> IntegerExpr:
        """With ``b*(x // b) + x % b`` as ``x``, and ``x - b*(x // b)`` as ``x % b``."""
        for product, factor in expr:
            for atom in product:
                if isinstance(atom, Division | Remainder):
                    others = list(product)
                    others.remove(atom)
                    times = IntegerExpr(((tuple(others), factor),))
                    partners = self._partners(expr, atom, times)
                    if partners is not None:
                        return self.add(expr - partners[0], partners[1])
        return expr

    def _partners(
        self, expr: IntegerExpr, atom: Division | Remainder, times: IntegerExpr
    ) -> tuple[IntegerExpr, IntegerExpr] | None:
        """Terms of the expression with ``times * atom`` among them, and what they sum up to."""
        dividend, divisor = atom.dividend, atom.divisor
        own = times * IntegerExpr.of(atom)
        if isinstance(atom, Remainder):
            whole = own + times * divisor * IntegerExpr.of(Division(dividend, divisor))
            return (whole, times * dividend) if _holds(expr, whole) else None
        factor, rest = _split(-times, divisor)
        moving = dividend - dividend.constant
        if rest or not moving or not _holds(expr, factor * moving):
            return None
        remainder = self.remainder(dividend, divisor) - dividend.constant
        return own + factor * moving, self.multiply(factor, remainder)

    # -- division ----------------------------------------------------------------------------

    def divide(self, dividend: Operand, divisor: Operand) -> IntegerExpr:
        """``dividend // divisor``, rounded down."""
        dividend, divisor = IntegerExpr.of(dividend), IntegerExpr.of(divisor)
        if not self._is_positive(divisor):
            return IntegerExpr.of(Division(dividend, divisor))
        quotient, rest = _split(dividend, divisor)
        known = self._known_quotient(rest, divisor)
        if known is not None:
            return self.add(quotient, known)
        common = self._common_factor(rest, divisor)
        if common > 1:
            dividend, _ = _split(rest, IntegerExpr.of(common))
            return self.add(quotient, self.divide(dividend, divisor.constant // common))
        return self.add(quotient, self._divide_quotient(rest, divisor))

    def _divide_quotient(self, dividend: IntegerExpr, divisor: IntegerExpr) -> IntegerExpr:
        """``(x // a + c) // b`` is ``(x + a*c) // (a*b)``."""
        inner = _as_division(dividend - dividend.constant)
        if inner is None or not self._is_positive(inner.divisor):
            return IntegerExpr.of(Division(dividend, divisor))
        offset = inner.divisor * dividend.constant
        return self.divide(self.add(inner.dividend, offset), inner.divisor * divisor)

    def remainder(self, dividend: Operand, divisor: Operand) -> IntegerExpr:
        """``dividend % divisor``, at least 0 and less than the divisor."""
        dividend, divisor = IntegerExpr.of(dividend), IntegerExpr.of(divisor)
        if not self._is_positive(divisor):
            return IntegerExpr.of(Remainder(dividend, divisor))
        _, rest = _split(_without_remainders(dividend, divisor), divisor)
        known = self._known_quotient(rest, divisor)
        if known is not None:
            return self.subtract(rest, divisor * known)
        common = self._common_factor(rest, divisor)
        if common > 1:
            dividend, small = _split(rest, IntegerExpr.of(common))
            large = self.remainder(dividend, divisor.constant // common)
            return self.add(self.multiply(large, common), small)
        return IntegerExpr.of(Remainder(rest, divisor))

    def _known_quotient(self, dividend: IntegerExpr, divisor: IntegerExpr) -> int | None:
        """The quotient, where the ranges leave only one."""
        ends = self.bounds(dividend).quotients(self.bounds(divisor))
        if ends.lower == ends.upper and abs(ends.lower) != inf:
            return int(ends.lower)
        if self._is_not_negative(dividend) and self.less(dividend, divisor) is True:
            return 0
        match dividend.terms:
            case (((Remainder(_, modulus),), 1),) if modulus == divisor:
                return 0
            case _:
                return None

    def _is_not_negative(self, expr: IntegerExpr) -> bool:
        return self.bounds(expr).lower >= 0

    def _common_factor(self, dividend: IntegerExpr, divisor: IntegerExpr) -> int:
        """The greatest divisor g of a constant divisor that leaves the dividend a small rest.

        That is, the terms of the dividend that g does not divide sum up to 0 … g - 1. 1 if none.
        """
        if divisor.value is None:
            return 1
        factors = {gcd(factor, divisor.constant) for product, factor in dividend if product}
        for common in sorted(factors - {1}, reverse=True):
            rest = self.bounds(_split(dividend, IntegerExpr.of(common))[1])
            if rest.lower >= 0 and rest.upper < common:
                return common
        return 1

    # -- least and greatest ------------------------------------------------------------------

    def minimum(self, *operands: Operand) -> IntegerExpr:
        """The least of the operands."""
        return self._extremum("min", operands)

    def maximum(self, *operands: Operand) -> IntegerExpr:
        """The greatest of the operands."""
        return self._extremum("max", operands)

    def _extremum(self, kind: Literal["min", "max"], operands: Iterable[Operand]) -> IntegerExpr:
        left = list(dict.fromkeys(_flattened(kind, map(IntegerExpr.of, operands))))
        for operand in tuple(left):
            if any(self._is_beaten(kind, operand, by) for by in left if by is not operand):
                left.remove(operand)
        return left[0] if len(left) == 1 else IntegerExpr.of(Extremum(kind, tuple(left)))

    def _is_beaten(
        self, kind: Literal["min", "max"], operand: IntegerExpr, by: IntegerExpr
    ) -> bool:
        sign = 1 if kind == "min" else -1
        return self._is_not_negative(self.subtract(operand, by) * sign)

    # -- comparisons -------------------------------------------------------------------------

    def less(self, left: Operand, right: Operand) -> bool | Less:
        """``left < right``: whether, or if that depends, what is left to compare.

        Common terms and factors are cancelled, and a comparison of a quotient by a positive
        divisor with a number becomes one of the dividend: ``i // 4 < 2`` is ``i < 8``.
        """
        difference = self.subtract(right, left)
        bounds = self.bounds(difference)
        if bounds.lower > 0:
            return True
        if bounds.upper <= 0:
            return False
        common = gcd(*(factor for product, factor in difference if product))
        constant = (difference.constant - 1) // common + 1  # common * x > -constant, tightened
        terms = [(p, factor // common) for p, factor in difference if p]
        smaller = IntegerExpr(tuple((p, -factor) for p, factor in terms if factor < 0))
        greater = IntegerExpr(tuple((p, factor) for p, factor in terms if factor > 0))
        return self._less_multiplied(smaller, greater, constant)

    def _less_multiplied(
        self, smaller: IntegerExpr, greater: IntegerExpr, constant: int
    ) -> bool | Less:
        """``smaller < greater + constant``, a quotient in it multiplied by its divisor."""
        quotient = _as_division(smaller)
        if not greater and quotient and self._is_positive(quotient.divisor):
            return self.less(quotient.dividend, quotient.divisor * constant)
        quotient = _as_division(greater)
        if not smaller and quotient and self._is_positive(quotient.divisor):
            return self.less(quotient.divisor * (1 - constant) - 1, quotient.dividend)
        if constant < 0:
            return Less(smaller - constant, greater)
        return Less(smaller, greater + constant)

    def equal(self, left: Operand, right: Operand) -> bool | None:
        """Whether ``left == right``; None if that depends, or is not known."""
        difference = self.subtract(left, right)
        if difference.value is not None:
            return difference.value == 0
        bounds = self.bounds(difference)
        common = gcd(*(factor for product, factor in difference if product))
        if bounds.lower > 0 or bounds.upper < 0 or difference.constant % common:
            return False
        return True if bounds.lower == bounds.upper else None


# -- rules that need no ranges -------------------------------------------------------------------


def _split(dividend: IntegerExpr, divisor: IntegerExpr) -> tuple[IntegerExpr, IntegerExpr]:
    """Expressions with ``quotient * divisor + rest == dividend``: what divides term by term.

    If the divisor is a number, the constant of the rest is at least 0 and less than it.
    """
    if len(divisor.terms) != 1:
        return IntegerExpr(), dividend
    ((by, factor),) = divisor.terms
    quotient: list[tuple[Product, int]] = []
    rest: list[tuple[Product, int]] = []
    for product, coefficient in dividend:
        times, over = divmod(coefficient, factor)
        if Counter(by) - Counter(product) or (product and over):
            rest.append((product, coefficient))
        else:
            left = (Counter(product) - Counter(by)).elements()
            quotient.append((product_of(left), times))
            rest.append((product, over))
    return IntegerExpr.collect(quotient), IntegerExpr.collect(rest)


def _holds(expr: IntegerExpr, part: IntegerExpr) -> bool:
    """Whether the terms of ``part`` are among those of the expression."""
    return all(expr.coefficients.get(product) == factor for product, factor in part)


def _as_division(expr: IntegerExpr) -> Division | None:
    """The quotient that the expression is, if it is one."""
    if len(expr.terms) == 1:
        product, factor = expr.terms[0]
        if factor == 1 and len(product) == 1 and isinstance(product[0], Division):
            return product[0]
    return None


def _without_remainders(dividend: IntegerExpr, divisor: IntegerExpr) -> IntegerExpr:
    """The dividend with ``c * (x % a)`` as ``c * x`` where the divisor divides ``c * a``."""
    result = dividend
    for product, factor in dividend:
        match product:
            case (Remainder(inner, modulus),) if divisor.value and modulus.value:
                if factor * modulus.value % divisor.value == 0:
                    result += (inner - IntegerExpr.of(product[0])) * factor
            case _:
                pass
    return result


def _flattened(kind: Literal["min", "max"], operands: Iterable[IntegerExpr]) -> list[IntegerExpr]:
    """The operands, with those of an operand that is the same extremum in its place."""
    flat: list[IntegerExpr] = []
    for operand in operands:
        match operand.terms:
            case (((Extremum(same, inner),), 1),) if same == kind:
                flat += inner
            case _:
                flat.append(operand)
    return flat
