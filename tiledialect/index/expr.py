"""Index expressions: polynomials with rational coefficients over named integers.

An index expression of a contraction is affine in the index variables; its coefficients and its
constant may be products of *symbols* (sizes that are not known yet), as in ``g*CIG + gci``.
Variables and symbols are both names here; once shapes are known there are no symbols left and
every expression is affine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm, prod

from tiledialect.index.sum_text import sum_text
from tiledialect.lazy import lazy

Monomial = tuple[str, ...]
"""A product of names, sorted; ``()`` is 1."""

Rational = int | Fraction
ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, eq=False)
class IndexExpr:
    """A sum of rational multiples of products of names.

    ``terms`` holds no zero and no monomial twice. The order of the terms is kept for printing
    and means nothing: ``i + j == j + i``.
    """

    terms: tuple[tuple[Monomial, Fraction], ...] = ()

    # -- making ----------------------------------------------------------------------------

    @staticmethod
    def of(value: IndexExpr | Rational | str) -> IndexExpr:
        """The expression of a number, of a name, or the expression itself."""
        if isinstance(value, IndexExpr):
            return value
        if isinstance(value, str):
            return IndexExpr((((value,), ONE),))
        return IndexExpr((((), Fraction(value)),)) if value else IndexExpr()

    @staticmethod
    def collect(terms: Iterable[tuple[Monomial, Fraction]]) -> IndexExpr:
        """The sum of ``terms``, in which monomials may repeat."""
        sums: dict[Monomial, Fraction] = {}
        for monomial, coefficient in terms:
            before = sums.get(monomial)
            sums[monomial] = coefficient if before is None else before + coefficient
        return IndexExpr(tuple((m, c) for m, c in sums.items() if c))

    @staticmethod
    def linear(coefficients: Mapping[str, Rational], constant: Rational = 0) -> IndexExpr:
        """The affine expression with these coefficients."""
        terms: list[tuple[Monomial, Fraction]] = [
            ((name,), Fraction(c)) for name, c in coefficients.items()
        ]
        return IndexExpr.collect([*terms, ((), Fraction(constant))])

    # -- looking ---------------------------------------------------------------------------

    def __iter__(self) -> Iterator[tuple[Monomial, Fraction]]:
        return iter(self.terms)

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, IndexExpr) and self._coefficients == other._coefficients

    @lazy
    def _hash(self) -> int:
        return hash(frozenset(self.terms))

    def __hash__(self) -> int:
        return self._hash

    @lazy
    def _coefficients(self) -> Mapping[Monomial, Fraction]:
        return dict(self.terms)

    @lazy
    def names(self) -> tuple[str, ...]:
        """All names, in order of appearance."""
        return tuple(dict.fromkeys(name for monomial, _ in self for name in monomial))

    @property
    def constant(self) -> Fraction:
        """The part without names."""
        return self._coefficients.get((), ZERO)

    def coefficient(self, name: str) -> Fraction:
        """The coefficient of ``name`` alone."""
        return self._coefficients.get((name,), ZERO)

    @property
    def is_constant(self) -> bool:
        """Whether no name occurs."""
        return not self.names

    @property
    def is_affine(self) -> bool:
        """Whether no product of names occurs."""
        return all(len(monomial) <= 1 for monomial, _ in self)

    @property
    def variable(self) -> str | None:
        """The name, if the expression is just that name."""
        if len(self.terms) == 1:
            (monomial, coefficient) = self.terms[0]
            if coefficient == 1 and len(monomial) == 1:
                return monomial[0]
        return None

    @lazy
    def denominator(self) -> int:
        """The least positive integer that makes every coefficient an integer."""
        return lcm(*(c.denominator for _, c in self))

    @lazy
    def is_moved_name(self) -> bool:
        """Whether the expression is a name alone, moved by an integer and perhaps turned around."""
        is_name = len(self.names) == 1 and abs(self.coefficient(self.names[0])) == 1
        return is_name and self.denominator == 1

    @property
    def can_be_whole(self) -> bool:
        """Whether an affine expression is an integer for some integers in place of its names."""
        unit = self.denominator
        steps = (int(c * unit) for monomial, c in self if monomial)
        return int(self.constant * unit) % gcd(unit, *steps) == 0

    # -- arithmetic ------------------------------------------------------------------------

    def __add__(self, other: IndexExpr | Rational) -> IndexExpr:
        return IndexExpr.collect([*self, *IndexExpr.of(other)])

    __radd__ = __add__

    def __neg__(self) -> IndexExpr:
        return IndexExpr(tuple((m, -c) for m, c in self))

    def __sub__(self, other: IndexExpr | Rational) -> IndexExpr:
        return self + -IndexExpr.of(other)

    def __rsub__(self, other: Rational) -> IndexExpr:
        return IndexExpr.of(other) - self

    def __mul__(self, other: IndexExpr | Rational) -> IndexExpr:
        return IndexExpr.collect(
            (tuple(sorted((*m, *n))), c * d) for m, c in self for n, d in IndexExpr.of(other)
        )

    __rmul__ = __mul__

    def __truediv__(self, other: Rational) -> IndexExpr:
        return self * (Fraction(1) / Fraction(other))

    def substitute(self, values: Mapping[str, IndexExpr | Rational]) -> IndexExpr:
        """Replace names, all at once."""
        if values.keys().isdisjoint(self.names):
            return self
        total: list[tuple[Monomial, Fraction]] = []
        for monomial, coefficient in self:
            if values.keys().isdisjoint(monomial):
                total.append((monomial, coefficient))
                continue
            product = IndexExpr.of(coefficient)
            for name in monomial:
                product = product * IndexExpr.of(values.get(name, name))
            total.extend(product)
        return IndexExpr.collect(total)

    def rename(self, names: Mapping[str, str]) -> IndexExpr:
        """Replace names by names, all at once."""
        return self.substitute({old: IndexExpr.of(new) for old, new in names.items()})

    def evaluate(self, values: Mapping[str, Rational]) -> Fraction:
        """The value where every name has one."""
        return sum((c * prod(values[name] for name in m) for m, c in self), Fraction(0))

    # -- printing --------------------------------------------------------------------------

    def to_string(self, name_of: Callable[[str], str] = lambda name: name) -> str:
        """The text, such as ``1/3*v1 - 2/3*v4``, with each name as ``name_of`` spells it."""
        return sum_text(([*map(name_of, monomial)], c) for monomial, c in self)

    def __str__(self) -> str:
        return self.to_string()

    def __repr__(self) -> str:
        return f"IndexExpr({self})"


Access = tuple[IndexExpr, ...]
"""Index expressions of an access, one for each axis of the tensor."""


@dataclass(frozen=True)
class Constraint:
    """``0 <= expr < bound``; ``bound`` holds no index variable."""

    expr: IndexExpr
    bound: IndexExpr

    def substitute(self, values: Mapping[str, IndexExpr | Rational]) -> Constraint:
        """Replace names, all at once."""
        return Constraint(self.expr.substitute(values), self.bound.substitute(values))

    def to_string(self, name_of: Callable[[str], str] = lambda name: name) -> str:
        """The text ``0 <= expr < bound``."""
        return f"0 <= {self.expr.to_string(name_of)} < {self.bound.to_string(name_of)}"

    def __str__(self) -> str:
        return self.to_string()


@dataclass(frozen=True)
class Range:
    """The integers ``lower <= i < upper``."""

    lower: int
    upper: int

    @property
    def extent(self) -> int:
        """Number of integers in the range."""
        return max(0, self.upper - self.lower)

    def __str__(self) -> str:
        return f"{self.lower}..{self.upper}"
