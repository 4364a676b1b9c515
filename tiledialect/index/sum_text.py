"""Text of sums, which expressions, polynomials and sizes share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction


def sum_text(terms: Iterable[tuple[Sequence[str], Fraction | int]]) -> str:
    """Text such as ``1/3*v1 - 2/3*v4`` of a sum of products, by their factors and coefficients."""
    text = ""
    for factors, coefficient in terms:
        size = abs(coefficient)
        product = factors if size == 1 and factors else (str(size), *factors)
        sign = "-" if coefficient < 0 else "+"
        text += (f" {sign} " if text else sign.replace("+", "")) + "*".join(product)
    return text or "0"
