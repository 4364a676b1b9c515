"""Sets that hold all values of an expression: ranges and residues, and arithmetic on them."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, inf, prod

Number = int | float
"""An integer, or ``-inf`` or ``inf``."""


@dataclass(frozen=True)
class Range:
    """``least <= value <= greatest``; either may be infinite."""

    least: Number = -inf
    greatest: Number = inf

    @property
    def lower(self) -> Number:
        """The least value."""
        return self.least

    @property
    def upper(self) -> Number:
        """Successor of the greatest value."""
        return self.greatest + 1

    @property
    def value(self) -> int | None:
        """The value, if there is only one."""
        return int(self.least) if self.least == self.greatest else None

    def __add__(self, other: Range) -> Range:
        return Range(self.least + other.least, self.greatest + other.greatest)

    def __mul__(self, other: Range) -> Range:
        ends = [_times(a, b) for a, b in self._corners(other)]
        return Range(min(ends), max(ends))

    def __pow__(self, exponent: int) -> Range:
        ends = [prod([end] * exponent) for end in (self.least, self.greatest)]
        straddles = self.least < 0 < self.greatest and exponent % 2 == 0
        return Range(0 if straddles else min(ends), max(ends))

    def quotients(self, divisor: Range) -> Range:
        """Range of a quotient; only positive divisors have one."""
        if divisor.greatest < 1:
            return Range()
        divisor = divisor.meet(Range(1))
        ends = [_quotient(a, b) for a, b in self._corners(divisor)]
        return Range(min(ends), max(ends))

    def remainders(self, divisor: Range) -> Range:
        """The range of a remainder, if the divisor is positive."""
        if self.least >= 0 and self.greatest < divisor.least:
            return self
        return Range(0, min(divisor.greatest - 1, self.greatest if self.least >= 0 else inf))

    def meet(self, other: Range) -> Range:
        """The values in both, if there are any."""
        least, greatest = max(self.least, other.least), min(self.greatest, other.greatest)
        return Range(least, greatest) if least <= greatest else self

    def rounded(self, residue: Residue) -> Range:
        """Range of the values in this one that have the residue."""
        step, offset = residue.modulus or 1, residue.remainder
        least, greatest = self.least, self.greatest
        if least != -inf:
            least += (offset - least) % step
        if greatest != inf:
            greatest -= (greatest - offset) % step
        return Range(least, greatest) if least <= greatest else self

    def join(self, other: Range) -> Range:
        """A range that holds the values of both."""
        return Range(min(self.least, other.least), max(self.greatest, other.greatest))

    def _corners(self, other: Range) -> list[tuple[Number, Number]]:
        ends = (other.least, other.greatest)
        return [(a, b) for a in (self.least, self.greatest) for b in ends]

    def __str__(self) -> str:
        return f"{self.lower}..{self.upper}"


def _times(a: Number, b: Number) -> Number:
    return a * b if a and b else 0  # 0 * inf would be no number


def _quotient(dividend: Number, divisor: Number) -> Number:
    """``dividend // divisor`` for a positive divisor, or its limit; never a finite float."""
    if abs(dividend) == inf:
        return dividend
    return dividend // divisor if divisor < inf else min(0, max(-1, dividend))


@dataclass(frozen=True)
class Residue:
    """``value == remainder`` modulo ``modulus``; exactly if that is 0."""

    modulus: int
    remainder: int

    @staticmethod
    def of(modulus: int, remainder: int) -> Residue:
        """The residue with the remainder between 0 and the modulus."""
        return Residue(abs(modulus), remainder % modulus if modulus else remainder)

    def __add__(self, other: Residue) -> Residue:
        common = gcd(self.modulus, other.modulus)
        return Residue.of(common, self.remainder + other.remainder)

    def __mul__(self, other: Residue) -> Residue:
        m, r, n, s = self.modulus, self.remainder, other.modulus, other.remainder
        return Residue.of(gcd(m * n, m * s, n * r), r * s)

    def quotient(self, divisor: int) -> Residue:
        """The residue of the quotient by a positive number."""
        if self.modulus % divisor:
            return ANY
        return Residue.of(self.modulus // divisor, self.remainder // divisor)

    def rest(self, divisor: int) -> Residue:
        """The residue of the remainder by a positive number."""
        if self.modulus % divisor == 0:
            return Residue(0, self.remainder % divisor)
        return Residue.of(gcd(self.modulus, divisor), self.remainder)

    def is_in(self, values: Range) -> bool:
        """Whether a finite or empty range contains a number with the residue."""
        if values.least > values.greatest:
            return False
        first = int(values.least)
        if not self.modulus:
            return first <= self.remainder <= values.greatest
        return first + (self.remainder - first) % self.modulus <= values.greatest

    def join(self, other: Residue) -> Residue:
        """A residue of the values of both."""
        difference = self.remainder - other.remainder
        return Residue.of(gcd(self.modulus, other.modulus, difference), self.remainder)

    def meet(self, other: Residue) -> Residue:
        """The residue that implies the other, where both hold."""
        if not self.modulus or not other.modulus:
            return other if self.modulus else self
        return max(self, other, key=lambda residue: residue.modulus)

    def __str__(self) -> str:
        return f"{self.remainder} mod {self.modulus}" if self.modulus else str(self.remainder)


ANY = Residue(1, 0)
