"""Stores of sub-groups: sectors of memory that several of them write a part of."""

import pytest
from test_estimate import GPU, product

from tiledialect.schedule.cost.estimate import estimated, modelled
from tiledialect.schedule.cost.stores import touched, written, written_again
from tiledialect.schedule.loops import LoopLevel, Role, Schedule

WORD, FOUR, SECTOR = 4, 16, 32


@pytest.mark.parametrize(
    ("lanes", "width", "begin", "expected"),
    [
        # Neighbours, from the begin of a sector, and from any word.
        (((WORD, 32),), WORD, SECTOR, 1.0),
        (((WORD, 32),), WORD, WORD, (4 + 7 / 8) / 4),
        # Fours that are whole, and one element of each of them.
        (((FOUR, 8), (800, 4)), FOUR, FOUR, 1 + 1 / 8),
        (((FOUR, 8), (800, 4)), WORD, SECTOR, 4.0),
        # All work-items of a sub-group have a share of one sum.
        (((0, 32),), WORD, WORD, 8.0),
    ],
)
def test_share_of_sectors(
    lanes: tuple[tuple[int, int], ...], width: int, begin: int, expected: float
):
    assert touched(lanes, width, begin, SECTOR) == pytest.approx(expected)


def tiles(columns: int, *, neighbours: bool) -> Schedule:
    """Schedule of 200 rows whose items have 4 rows and 8 columns: neighbours, or every 8th."""
    own = (
        (LoopLevel("j", 4, 8, Role.LOCAL, "x"), LoopLevel("j", 32, 2, Role.UNROLL))
        if neighbours
        else (LoopLevel("j", 1, 8, Role.LOCAL, "x"), LoopLevel("j", 8, 8, Role.UNROLL))
    )
    levels = (
        LoopLevel("i", 16, 13, Role.GROUP, "y"),
        LoopLevel("j", 64, -(-columns // 64), Role.GROUP, "x"),
        LoopLevel("i", 4, 4, Role.LOCAL, "x"),
        own[0],
        LoopLevel("k", 1, 64, Role.SERIAL),
        LoopLevel("i", 1, 4, Role.UNROLL),
        own[1],
        *((LoopLevel("j", 1, 4, Role.VECTOR),) if neighbours else ()),
    )
    return Schedule(levels)


def again(columns: int, *, neighbours: bool) -> float:
    """Bytes written again, over all that are written."""
    facts = product(200, columns, 64)
    model = modelled(facts, tiles(columns, neighbours=neighbours), GPU)
    return written_again(model) / written(model)


def test_vectors_are_stored_whole_if_they_divide_rows():
    assert again(200, neighbours=True) == 0
    assert again(197, neighbours=True) > 3
    # Neighbouring work-items have neighbouring columns.
    assert again(200, neighbours=False) == 0
    assert 0 < again(197, neighbours=False) < 1


def test_estimates_have_them():
    def seconds(columns: int, *, neighbours: bool) -> float:
        facts = product(200, columns, 64)
        return estimated(modelled(facts, tiles(columns, neighbours=neighbours), GPU)).seconds

    assert seconds(9997, neighbours=True) > 1.1 * seconds(10000, neighbours=True)
    assert seconds(9997, neighbours=False) < seconds(9997, neighbours=True)
