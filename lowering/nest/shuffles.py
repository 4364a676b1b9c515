"""Which lanes shuffles take of two vectors, and where these are."""

from __future__ import annotations

from collections.abc import Sequence

from tiledialect.index.integer import Expr


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
