"""Which lanes shuffles take of two vectors, and where these are."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import f32, f64, i32

from tiledialect.index.integer import Expr

INTERLEAVED = (2, 3, 4)
"""How many vectors are loaded or stored together whose lanes are in turns."""
IN_TURNS = (f32, f64, i32)
"""The elements of vectors that are loaded in a row, and taken in turns."""
SHORT_LANES = 4
"""Shorter ones are written lane by lane."""


def every_other(lanes: int) -> list[int]:
    """Every other element, of a vector that begins at the first, and one that ends at the last."""
    half = lanes // 2
    return [2 * k if k < half else 2 * k + 1 for k in range(lanes)]


def moved_on(place: Sequence[Expr], distance: int, row: int) -> list[Expr]:
    """Where an element is so much further on, in a row or in short rows of a size."""
    *outer, last = place
    if not row:
        return [*outer, last + distance]
    assert last.value is not None
    rows, number = divmod(last.value + distance, row)
    return [*outer[:-1], outer[-1] + rows, Expr.const(number)]


def taken(turn: int, count: int, elements: range) -> list[int]:
    """Which lanes a shuffle takes for some elements of what ``count`` vectors write in turns.

    Its first operand is the first turn's vector, later the earlier turns' shuffled; its second one
    the turn's.
    """
    lanes = len(elements)
    of_turn = {k: lanes + k // count for k in elements if k % count == turn}
    others = {k: k // count if turn == 1 else k - elements.start for k in elements}
    return [*(others | of_turn).values()]


def elements_of_turn(turn: int, count: int, lanes: int, *, turned: bool) -> list[int]:
    """Which elements of a row of ``count`` vectors a turn takes, perhaps the last one first."""
    found = range(turn, count * lanes, count)
    return [*(reversed(found) if turned else found)]


def taken_from(number: int, elements: Sequence[int]) -> list[int]:
    """Which lanes a shuffle takes for some elements of vectors that lie in a row.

    Its first operand is the first vector, later what was taken of those before; its second one is
    the vector of the number.
    """
    lanes = len(elements)
    before = [e if number == 1 else k for k, e in enumerate(elements)]
    return [
        e % lanes + lanes if e // lanes == number else b if e // lanes < number else 0
        for e, b in zip(elements, before, strict=True)
    ]
