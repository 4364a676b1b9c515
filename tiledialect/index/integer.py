"""Integer expressions: sums of products of variables, quotients, remainders, minima and maxima.

This is what address arithmetic is made of. Division rounds down and the remainder has the
divisor's sign, as in Python. ``simplify`` knows the rules; here are only the values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Literal

from .expr import IndexExpr


@dataclass(frozen=True)
class Variable:
    """An integer with a name."""

    name: str

    def evaluate(self, values: Mapping[str, int]) -> int:
        """The value where every variable has one."""
        return values[self.name]

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Division:
    """``dividend // divisor``."""

    dividend: IntegerExpr
    divisor: IntegerExpr

    def evaluate(self, values: Mapping[str, int]) -> int:
        """The value where every variable has one."""
        return self.dividend.evaluate(values) // self.divisor.evaluate(values)

    def __str__(self) -> str:
        return f"({self.dividend.factor} // {self.divisor.factor})"


@dataclass(frozen=True)
class Remainder:
    """``dividend % divisor``."""

    dividend: IntegerExpr
    divisor: IntegerExpr

    def evaluate(self, values: Mapping[str, int]) -> int:
        """The value where every variable has one."""
        return self.dividend.evaluate(values) % self.divisor.evaluate(values)

    def __str__(self) -> str:
        return f"({self.dividend.factor} % {self.divisor.factor})"


@dataclass(frozen=True)
class Extremum:
    """The least of some integers (``kind`` is "min") or the greatest ("max")."""

    kind: Literal["min", "max"]
    operands: tuple[IntegerExpr, ...]

    def evaluate(self, values: Mapping[str, int]) -> int:
        """The value where every variable has one."""
        found = [operand.evaluate(values) for operand in self.operands]
        return min(found) if self.kind == "min" else max(found)

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(map(str, self.operands))})"


Atom = Variable | Division | Remainder | Extremum
Product = tuple[Atom, ...]
"""In the order of ``product_of``; ``()`` is 1."""


def product_of(atoms: Iterable[Atom]) -> Product:
    """The product, variables first, in alphabetical order."""
    return tuple(sorted(atoms, key=lambda atom: (not isinstance(atom, Variable), str(atom))))


@dataclass(frozen=True, eq=False)
class IntegerExpr:
    """A sum of integer multiples of products of atoms.

    ``terms`` holds no zero and no product twice. Their order is kept for printing and means
    nothing.
    """

    terms: tuple[tuple[Product, int], ...] = ()

    # -- making ----------------------------------------------------------------------------

    @staticmethod
    def of(value: IntegerExpr | IndexExpr | Atom | int | str) -> IntegerExpr:
        """The expression of a number, a name, an atom, or an index expression without fractions."""
        if isinstance(value, IntegerExpr):
            return value
        if isinstance(value, int):
            return IntegerExpr((((), value),) if value else ())
        if isinstance(value, IndexExpr):
            if value.denominator != 1:
                raise ValueError(f"{value} has a coefficient that is no integer")
            return IntegerExpr(tuple((product_of(map(Variable, m)), int(c)) for m, c in value))
        atom = Variable(value) if isinstance(value, str) else value
        return IntegerExpr((((atom,), 1),))

    @staticmethod
    def collect(terms: Iterable[tuple[Product, int]]) -> IntegerExpr:
        """The sum of ``terms``, in which products may repeat."""
        sums: dict[Product, int] = {}
        for product, coefficient in terms:
            sums[product] = sums.get(product, 0) + coefficient
        return IntegerExpr(tuple((p, c) for p, c in sums.items() if c))

    # -- looking ---------------------------------------------------------------------------

    def __iter__(self) -> Iterator[tuple[Product, int]]:
        return iter(self.terms)

    def __bool__(self) -> bool:
        return bool(self.terms)

    @cached_property
    def coefficients(self) -> dict[Product, int]:
        """The coefficient of each product."""
        return dict(self.terms)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IntegerExpr) and self.coefficients == other.coefficients

    @cached_property
    def _hash(self) -> int:
        return hash(frozenset(self.terms))

    def __hash__(self) -> int:
        return self._hash

    @property
    def constant(self) -> int:
        """The part without atoms."""
        return self.coefficients.get((), 0)

    @property
    def value(self) -> int | None:
        """The value, if no atom occurs."""
        return self.constant if all(not product for product, _ in self) else None

    def evaluate(self, values: Mapping[str, int]) -> int:
        """The value where every variable has one. Raises ``ZeroDivisionError``."""
        return sum(c * prod(atom.evaluate(values) for atom in product) for product, c in self)

    # -- reckoning -------------------------------------------------------------------------

    def __add__(self, other: IntegerExpr | int) -> IntegerExpr:
        return IntegerExpr.collect([*self, *IntegerExpr.of(other)])

    __radd__ = __add__

    def __neg__(self) -> IntegerExpr:
        return IntegerExpr(tuple((p, -c) for p, c in self))

    def __sub__(self, other: IntegerExpr | int) -> IntegerExpr:
        return self + -IntegerExpr.of(other)

    def __mul__(self, other: IntegerExpr | int) -> IntegerExpr:
        return IntegerExpr.collect(
            (product_of((*p, *q)), c * d) for p, c in self for q, d in IntegerExpr.of(other)
        )

    __rmul__ = __mul__

    # -- printing --------------------------------------------------------------------------

    @cached_property
    def _text(self) -> str:
        text = ""
        for product, coefficient in self:
            factors = [str(atom) for atom in product]
            if abs(coefficient) != 1 or not factors:
                factors.insert(0, str(abs(coefficient)))
            sign = "-" if coefficient < 0 else "+"
            text += (f" {sign} " if text else sign.replace("+", "")) + "*".join(factors)
        return text or "0"

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"IntegerExpr({self})"

    @property
    def factor(self) -> str:
        """The text, in parentheses unless it is a number or an atom."""
        if self.value is not None:
            return str(self)
        product, coefficient = self.terms[0]
        alone = len(self.terms) == len(product) == coefficient == 1
        return str(self) if alone else f"({self})"
