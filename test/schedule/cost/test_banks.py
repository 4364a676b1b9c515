"""Banks of local memory: lanes that access different words of one bank wait for one another."""

import pytest

from tiledialect.schedule.cost.banks import busiest_bank


@pytest.mark.parametrize(
    ("steps", "width", "expected"),
    [
        (((1, 32),), 1, 1),
        (((0, 32),), 1, 1),
        (((32, 32),), 1, 32),
        (((33, 32),), 1, 1),
        (((4, 32),), 4, 4),
        # 8 rows of 4 vectors of 4: 128 words at 16 rows apart, and without a gap.
        (((4, 4), (128, 8)), 4, 8),
        (((4, 4), (16, 8)), 4, 4),
    ],
)
def test_words_of_the_busiest_bank(steps: tuple[tuple[int, int], ...], width: int, expected: int):
    assert busiest_bank(steps, width) == expected
