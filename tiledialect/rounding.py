"""Whole numbers, rounded."""

from __future__ import annotations


def ceil_div(a: int, b: int) -> int:
    """The quotient, rounded up."""
    return -(-a // b)
