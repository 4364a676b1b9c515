"""Figures of the cost model's quality."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "bench"))

from model_quality import correlation, explored, ranks


def test_ranks():
    assert ranks([3.0, 1.0, 2.0, 2.0]) == [3, 0, 1.5, 1.5]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [([1, 2, 3], [10, 20, 90], 1.0), ([1, 2, 3], [3, 2, 1], -1.0), ([1, 1, 1], [1, 2, 3], 0.0)],
)
def test_correlation(a: list[float], b: list[float], expected: float):
    assert correlation(a, b) == pytest.approx(expected)


def test_loss_is_that_of_the_chosen_candidate():
    trials = [
        {"part": "C", "source": "seed", "estimate": float(k), "seconds": float(abs(k - 3) + 1)}
        for k in range(1, 10)
    ]
    failed = {"part": "C", "source": "seed", "estimate": 0.0, "seconds": float("inf")}
    (found,) = explored({"line": {"trials": [*trials, failed]}}, ["seed"])
    assert (found.name, found.count, found.loss) == ("line C", 9, 3.0)
