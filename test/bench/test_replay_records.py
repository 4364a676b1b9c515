"""The recorded schedules of `bench/timings/searches/`: searches of them are better than sampling."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from statistics import geometric_mean, median

import pytest

sys.path.append(str(Path(__file__).parents[2] / "bench"))

import replay
from timings import Kernel, read

RECORD = Path(__file__).parents[2] / "bench" / "timings" / "searches" / "avx512.json.gz"


@pytest.fixture(scope="module")
def kernels() -> list[Kernel]:
    return read(RECORD)


def test_records_are_of_ten_programs(kernels: list[Kernel]):
    assert len({k.program for k in kernels}) == 10
    assert all(k.device and k.date and min(t.seconds for t in k.timings) > 0 for k in kernels)


def test_searching_is_better_than_sampling(kernels: list[Kernel]):
    """By the geometric mean of two programs, and two seeds each, with 30 trials."""
    parts = [replay.Replayed(k) for k in kernels[:2]]

    def best(way: Callable[[replay.Replayed, int, int], list[float]]) -> float:
        found = (median(min(way(p, 30, seed)) for seed in range(2)) for p in parts)
        return geometric_mean(found)

    assert best(replay.searched) < best(replay.sampled)
