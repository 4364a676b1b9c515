"""The cost model on recorded timings: its order of schedules, and its choice."""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median

import pytest

sys.path.append(str(Path(__file__).parents[2] / "bench"))

from model_quality import timed
from timings import read

TIMINGS = Path(__file__).parents[2] / "bench" / "timings"
RECORDS = {
    "avx2": (0.6, 1.1),
    "avx512": (0.75, 1.15),
    "nvidia-attention": (0.55, 1.1),
    "nvidia-hopper": (0.7, 1.05),
    "nvidia-products": (0.75, 1.05),
}
"""Least median rank correlation, and largest median time of the chosen schedule over the best: what
the model had when the timings were recorded, with some room."""


@pytest.mark.parametrize("name", RECORDS)
def test_quality(name: str):
    ranks, loss = RECORDS[name]
    found = [*timed(TIMINGS / f"{name}.json.gz")]
    assert median(q.correlation for q in found) >= ranks
    assert median(q.loss for q in found) <= loss


def test_all_records_are_judged():
    paths = TIMINGS.glob("*.json.gz")
    assert {path.name.partition(".")[0] for path in paths} == RECORDS.keys()


@pytest.mark.parametrize("name", RECORDS)
def test_records_name_their_origin(name: str):
    for kernel in read(TIMINGS / f"{name}.json.gz"):
        assert kernel.device and kernel.date and kernel.timings
        assert all(t.seconds > 0 for t in kernel.timings)
