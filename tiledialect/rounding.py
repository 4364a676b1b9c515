"""Whole numbers, rounded."""

from __future__ import annotations


def ceil_div(a: int, b: int) -> int:
    """The quotient, rounded up."""
    return -(-a // b)


def round_up(a: int, b: int) -> int:
    """The least multiple of ``b`` that is ``a`` or more."""
    return ceil_div(a, b) * b


def pads_little(extent: int, size: int, part: int) -> bool:
    """Whether pieces of a size reach beyond an extent by a ``part``-th of it at most."""
    return round_up(extent, size) <= extent * (part + 1) // part
