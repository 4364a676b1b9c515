"""Polynomials with integer coefficients in atoms, of which only their text and order are known.

Sums and products are multiplied out and collected: equal polynomials are equal values.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, Generic, NamedTuple, Self, TypeVar

from tiledialect.index.sum_text import sum_text
from tiledialect.lazy import lazy

A = TypeVar("A", bound=Hashable)
Product = tuple[A, ...]
"""Factors in the order of ``product_of``; ``()`` is 1."""
Term = tuple[Product[A], int]


class Variable(NamedTuple):
    """An integer with a name; a tuple, as nothing is hashed and compared more often."""

    name: str

    def __str__(self) -> str:
        return self.name


def product_of(atoms: Iterable[A]) -> Product[A]:
    """The product, variables first, in alphabetical order."""
    found = tuple(atoms)
    if len(found) < 2:
        return found
    return tuple(sorted(found, key=lambda atom: (not isinstance(atom, Variable), str(atom))))


def _order(term: Term[Any]) -> tuple[int, int, bool, str]:
    """High degrees and large coefficients first: ``M*y + 32*i + j - 1``."""
    product, coefficient = term
    return -len(product), -abs(coefficient), coefficient < 0, "*".join(map(str, product))


@dataclass(frozen=True, eq=False)
class Polynomial(Generic[A]):
    """A sum of integer multiples of products of atoms.

    ``terms`` holds no zero and no product twice, in an order that depends on nothing else.
    """

    terms: tuple[Term[A], ...] = ()

    # -- making ----------------------------------------------------------------------------

    @classmethod
    def of(cls, value: Any) -> Self:
        """The polynomial of a number, an atom, or what else the class takes."""
        raise NotImplementedError

    @classmethod
    def const(cls, value: int) -> Self:
        """A number."""
        return cls((((), value),) if value else ())

    @classmethod
    def collect(cls, terms: Iterable[Term[A]]) -> Self:
        """The sum of ``terms``, in which products may repeat."""
        sums: dict[Product[A], int] = {}
        for product, coefficient in terms:
            sums[product] = sums.get(product, 0) + coefficient
        found = [term for term in sums.items() if term[1]]
        if len(found) > 1:
            found.sort(key=_order)
        return cls(tuple(found))

    # -- looking ---------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Term[A]]:
        return iter(self.terms)

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Polynomial)
            and hash(self) == hash(other)
            and self.terms == other.terms
        )

    @lazy
    def _hash(self) -> int:
        return hash(self.terms)

    def __hash__(self) -> int:
        return self._hash

    @lazy
    def coefficients(self) -> dict[Product[A], int]:
        """The coefficient of each product."""
        return dict(self.terms)

    @property
    def constant(self) -> int:
        """The part without atoms, which is last."""
        return self.terms[-1][1] if self.terms and not self.terms[-1][0] else 0

    @property
    def moving(self) -> Self:
        """The sum without its constant."""
        return self._moving if self.constant else self

    @lazy
    def _moving(self) -> Self:
        return type(self)(self.terms[:-1])

    @property
    def value(self) -> int | None:
        """The value, if no atom occurs."""
        if not self.terms:
            return 0
        product, coefficient = self.terms[0]
        return None if product else coefficient

    @property
    def atom(self) -> A | None:
        """The atom, if the expression is just that."""
        if len(self.terms) == 1:
            product, coefficient = self.terms[0]
            if coefficient == len(product) == 1:
                return product[0]
        return None

    @lazy
    def atoms(self) -> tuple[A, ...]:
        """All factors of the terms, in order of appearance."""
        return tuple(dict.fromkeys(atom for product, _ in self for atom in product))

    # -- changing --------------------------------------------------------------------------

    def __add__(self, other: Self | int | str) -> Self:
        other = self.of(other)
        if not self.terms or not other.terms:
            return self if self.terms else other
        if other.value is not None:
            return self.plus(other.constant)
        return self.collect((*self.terms, *other.terms))

    __radd__ = __add__

    def plus(self, number: int) -> Self:
        """The sum with a number: that stands last, so nothing else moves."""
        moving, constant = self.moving, self.constant + number
        if not constant:
            return moving
        total = type(self)((*moving.terms, ((), constant)))
        # Sums that differ in their numbers share the other terms, and the answers for them.
        total.__dict__["_moving"] = moving
        return total

    def __neg__(self) -> Self:
        return self.collect((p, -c) for p, c in self.terms)

    def __sub__(self, other: Self | int | str) -> Self:
        other = self.of(other)
        if other.value is not None:
            return self.plus(-other.constant)
        return self.collect((*self.terms, *[(p, -c) for p, c in other.terms]))

    def __rsub__(self, other: Self | int | str) -> Self:
        return self.of(other) - self

    def __mul__(self, other: Self | int | str) -> Self:
        other = self.of(other)
        for left, right in ((self, other), (other, self)):
            if right.value is not None:
                scale = right.value
                if scale == 1:
                    return left
                if scale >= 0:
                    # The terms keep their order.
                    return (
                        type(self)(tuple((p, c * scale) for p, c in left))
                        if scale
                        else type(self)()
                    )
                return self.collect((p, c * scale) for p, c in left)
        return self.collect((product_of((*p, *q)), c * d) for p, c in self for q, d in other)

    __rmul__ = __mul__

    def __pow__(self, exponent: int) -> Self:
        if exponent < 0:
            raise ValueError(f"({self}) to the power of {exponent} is no polynomial")
        return prod([self] * exponent, start=self.const(1))

    # -- printing --------------------------------------------------------------------------

    @lazy
    def _text(self) -> str:
        return sum_text(([*map(str, product)], c) for product, c in self)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    @property
    def factor(self) -> str:
        """The text, in parentheses unless it is a number or an atom."""
        alone = self.atom is not None or (self.value is not None and self.value >= 0)
        return str(self) if alone else f"({self})"
