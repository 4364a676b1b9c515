"""Lanes of shuffles of two vectors, and their places in memory."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import vector
from xdsl.dialects.builtin import DenseArrayBase, VectorType, f32, f64, i32, i64
from xdsl.ir import SSAValue

from tiledialect.dialects.nest.lanes import vector_of
from tiledialect.index.integer.expressions import Expr

INTERLEAVED = (2, 3, 4)
"""Numbers of vectors that are loaded or stored interleaved."""
INTERLEAVED_TYPES = (f32, f64, i32)
"""Element types of vectors that are loaded in a row, and de-interleaved."""
SHORT_LANES = 4
"""Minimum lanes of interleaved vectors; shorter ones are written lane by lane."""


def shuffle(a: SSAValue, b: SSAValue, lanes: Sequence[int]) -> vector.ShuffleOp:
    """Shuffle of two vectors, the lanes of the second numbered after those of the first."""
    assert isinstance(a.type, VectorType)
    t = vector_of(a.type.element_type, len(lanes))
    return vector.ShuffleOp(a, b, DenseArrayBase.from_list(i64, lanes), result_type=t)


def gathered(
    row: Sequence[SSAValue], elements: Sequence[int], starts: Sequence[int]
) -> list[vector.ShuffleOp]:
    """Shuffles that gather elements of vectors in a row, by their starts, into one vector."""
    found: list[vector.ShuffleOp] = []
    for k, other in enumerate(row[1:], 1):
        before = found[-1].result if found else row[0]
        found.append(shuffle(before, other, gathering_lanes(k, elements, starts)))
    return found


def strided_starts(stride: int, lanes: int) -> list[int]:
    """Starts of vectors that cover strided elements of a row."""
    return row_starts(stride * (lanes - 1) + 1, lanes)


def row_starts(reach: int, lanes: int) -> list[int]:
    """Starts of vectors that cover so many elements of a row.

    The last one ends at the last of these elements: behind it may be nothing that can be read.
    """
    return [*range(0, reach - lanes, lanes), reach - lanes]


def place_at(place: Sequence[Expr], distance: int, row: int) -> list[Expr]:
    """Place of an element at a distance, in a row or in short rows of a size."""
    *outer, last = place
    if not row:
        return [*outer, last + distance]
    assert last.value is not None
    rows, number = divmod(last.value + distance, row)
    return [*outer[:-1], outer[-1] + rows, Expr.const(number)]


def interleaving_lanes(number: int, count: int, elements: range) -> list[int]:
    """Lanes of the shuffle that adds a vector to ``count`` interleaved ones.

    Its first operand is the first vector, later the earlier ones shuffled; its second one is the
    vector of the number.
    """
    lanes = len(elements)
    of_number = {k: lanes + k // count for k in elements if k % count == number}
    others = {k: k // count if number == 1 else k - elements.start for k in elements}
    return [*(others | of_number).values()]


def interleaved_elements(number: int, count: int, lanes: int, *, is_reversed: bool) -> list[int]:
    """Elements of one of ``count`` interleaved vectors in their row, perhaps the last one first."""
    found = range(number, count * lanes, count)
    return [*(reversed(found) if is_reversed else found)]


def gathering_lanes(number: int, elements: Sequence[int], starts: Sequence[int]) -> list[int]:
    """Lanes of the shuffle that gathers elements of a vector, by the vectors' starts.

    Its first operand is the first vector, later the elements of those before; its second one is the
    vector of the number.
    """
    lanes = len(elements)
    before = [e if number == 1 else k for k, e in enumerate(elements)]
    own = [min(e // lanes, len(starts) - 1) for e in elements]
    return [
        e - starts[number] + lanes if k == number else b if k < number else 0
        for e, k, b in zip(elements, own, before, strict=True)
    ]
