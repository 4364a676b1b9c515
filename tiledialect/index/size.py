"""Sizes of arrays: exact sums, products and quotients of named numbers.

A size such as ``(N + 2) / 4`` divides without remainder: a program that writes it states that it is
an integer. So ``4 * (N / 4)`` is ``N``, equal sizes are equal values, and the effects of splitting
and joining on the size of an array cancel. ``expression`` gives the size to address arithmetic,
where division rounds down.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm, prod

from tiledialect.index.sum_text import sum_text

Powers = tuple[tuple[str, int], ...]
"""Names with their exponents, none of them 0, sorted; ``()`` is 1."""

Term = tuple[Powers, Fraction]


def _powers(factors: Iterable[tuple[str, int]]) -> Powers:
    exponents: dict[str, int] = {}
    for name, exponent in factors:
        exponents[name] = exponents.get(name, 0) + exponent
    return tuple(sorted((n, e) for n, e in exponents.items() if e))


def _order(term: Term) -> tuple[int, bool, Powers]:
    """Sort key: high degrees first, numbers last, and additions before subtractions."""
    powers, coefficient = term
    return -sum(exponent for _, exponent in powers), coefficient < 0, powers


@dataclass(frozen=True)
class Size:
    """A sum of rational multiples of products of powers of names.

    ``terms`` holds no zero and no product twice, in an order that depends on nothing else.
    """

    terms: tuple[Term, ...] = ()

    # -- making ----------------------------------------------------------------------------

    @staticmethod
    def of(value: Size | int | str) -> Size:
        """A number, a name, or the size itself."""
        if isinstance(value, Size):
            return value
        if isinstance(value, str):
            return Size(((((value, 1),), Fraction(1)),))
        return Size((((), Fraction(value)),) if value else ())

    @staticmethod
    def collect(terms: Iterable[Term]) -> Size:
        """The sum of ``terms``, in which products may repeat."""
        sums: dict[Powers, Fraction] = {}
        for powers, coefficient in terms:
            sums[powers] = sums.get(powers, Fraction(0)) + coefficient
        return Size(tuple(sorted(((p, c) for p, c in sums.items() if c), key=_order)))

    # -- looking ---------------------------------------------------------------------------

    @cached_property
    def names(self) -> frozenset[str]:
        """All names."""
        return frozenset(name for powers, _ in self.terms for name, _ in powers)

    @property
    def number(self) -> Fraction | None:
        """The value, if no name occurs."""
        if self.names:
            return None
        return self.terms[0][1] if self.terms else Fraction(0)

    @property
    def value(self) -> int | None:
        """The value, if it is an integer without names."""
        number = self.number
        return int(number) if number is not None and number.denominator == 1 else None

    @property
    def name(self) -> str | None:
        """The name, if the size is just that."""
        (name,) = self.names if len(self.names) == 1 else (None,)
        return name if name is not None and self == Size.of(name) else None

    @cached_property
    def fraction(self) -> tuple[Size, Size]:
        """A numerator and a denominator of integer coefficients and positive exponents."""
        number = lcm(*(c.denominator for _, c in self.terms))
        exponents = dict.fromkeys(self.names, 0)
        for powers, _ in self.terms:
            for name, exponent in powers:
                exponents[name] = max(exponents[name], -exponent)
        denominator = Size(((_powers(exponents.items()), Fraction(number)),))
        return self * denominator, denominator

    # -- computing -------------------------------------------------------------------------

    def __add__(self, other: Size | int) -> Size:
        return Size.collect([*self.terms, *Size.of(other).terms])

    __radd__ = __add__

    def __neg__(self) -> Size:
        return Size.collect((p, -c) for p, c in self.terms)

    def __sub__(self, other: Size | int) -> Size:
        return self + -Size.of(other)

    def __rsub__(self, other: int) -> Size:
        return Size.of(other) - self

    def __mul__(self, other: Size | int) -> Size:
        return Size.collect(
            (_powers((*p, *q)), c * d) for p, c in self.terms for q, d in Size.of(other).terms
        )

    __rmul__ = __mul__

    def __truediv__(self, other: Size | int) -> Size:
        """The exact quotient.

        Raises a ``ZeroDivisionError``, or a ``ValueError`` if the quotient has no such form:
        ``N / (M + 1)`` has none.
        """
        divisor = Size.of(other)
        if not divisor.terms:
            raise ZeroDivisionError(f"{self} is divided by 0")
        if len(divisor.terms) == 1:
            return self._over(divisor.terms[0])
        # Both become polynomials, the divisor without a factor that is a name: long division ends.
        (rest, below), names = self.fraction, sorted(self.names | divisor.names)
        common = divisor._common
        divisor = divisor._over(common)
        by, quotient = divisor._leading(names), Size()
        while rest.terms:
            step = Size((rest._leading(names),))._over(by)
            if step.fraction[1].names:
                raise ValueError(f"({self}) / ({Size.of(other)}) is not a sum of products")
            quotient, rest = quotient + step, rest - step * divisor
        return quotient._over(common) / below

    def __rtruediv__(self, other: int) -> Size:
        return Size.of(other) / self

    @property
    def _common(self) -> Term:
        """Lowest power of each name that is in all of the terms."""
        lowest = {n: min(dict(powers).get(n, 0) for powers, _ in self.terms) for n in self.names}
        return _powers(lowest.items()), Fraction(1)

    def _leading(self, names: Sequence[str]) -> Term:
        """The term of the highest degree, and among those the one with more of the first names."""

        def order(term: Term) -> tuple[int, ...]:
            exponents = dict(term[0])
            return sum(exponents.values()), *(exponents.get(name, 0) for name in names)

        return max(self.terms, key=order)

    def _over(self, term: Term) -> Size:
        powers, coefficient = term
        inverse = [(name, -exponent) for name, exponent in powers]
        return Size.collect((_powers((*p, *inverse)), c / coefficient) for p, c in self.terms)

    def substitute(self, values: Mapping[str, Size | int]) -> Size:
        """Replace names, all at once. Raises the errors of a division."""
        if self.names.isdisjoint(values):
            return self
        numerator, denominator = (_substitute(part, values) for part in self.fraction)
        if not denominator.terms:
            raise ZeroDivisionError(f"{self} is divided by {self.fraction[1]}, which is 0")
        return numerator / denominator

    def evaluate(self, values: Mapping[str, int]) -> Fraction:
        """The value where every name has one. Raises ``ZeroDivisionError``."""
        return sum(
            (c * prod(Fraction(values[n]) ** e for n, e in powers) for powers, c in self.terms),
            Fraction(0),
        )

    # -- printing --------------------------------------------------------------------------

    @cached_property
    def _text(self) -> str:
        numerator, denominator = self.fraction
        if denominator == Size.of(1):
            return _sum_text(self.terms)
        above, below = _sum_text(numerator.terms), _sum_text(denominator.terms)
        above = above if len(numerator.terms) == 1 else f"({above})"
        return f"{above} / {below if below.isidentifier() or below.isdigit() else f'({below})'}"

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Size({self})"


def _substitute(polynomial: Size, values: Mapping[str, Size | int]) -> Size:
    total = Size()
    for powers, coefficient in polynomial.terms:
        product = Size((((), coefficient),))
        for name, exponent in powers:
            for _ in range(exponent):
                product = product * Size.of(values.get(name, name))
        total = total + product
    return total


def _sum_text(terms: Iterable[Term]) -> str:
    return sum_text(
        ([n for n, exponent in powers for _ in range(exponent)], c) for powers, c in terms
    )
