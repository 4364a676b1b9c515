"""Copies of operands in global memory: which are weighed, which are chosen, and what they compute."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tiledialect as td
from tiledialect.index.expr import IndexExpr, Range
from tiledialect.schedule.cost.device import described
from tiledialect.schedule.cost.facts import Facts, Tensor
from tiledialect.schedule.cost.traits import Kind
from tiledialect.schedule.loops import GlobalStage, LoopIndex
from tiledialect.schedule.search import choice
from tiledialect.schedule.search import layout_copies as copies
from tiledialect.schedule.search.choice import best_seconds, ranked

CPU = described(
    Kind.CPU, {"compute_units": 2, "native_vector_width": 16, "local_mem_size": 1 << 20}
)
GPU = described(Kind.GPU, {})


def product(size: int, first: str = "ik", second: str = "kj") -> Facts:
    """A product of square matrices, accessed as the letters say."""
    shape = (size, size)

    def tensor(number: int, access: str) -> Tensor:
        return Tensor(number, shape, tuple(map(IndexExpr.of, access)), "f32", 4)

    indices = tuple(LoopIndex(name, Range(0, size), name != "k") for name in "ijk")
    inputs = (tensor(0, first), tensor(1, second))
    return Facts(indices, inputs, (tensor(0, "ij"),), "add", "mul", 2.0)


def test_operands_that_are_read_across_are_weighed():
    assert not [*copies.copies(product(1024), CPU)]
    assert [*copies.copies(product(1024, "ki"), CPU)] == [GlobalStage(0, (1, 0))]
    assert [*copies.copies(product(1024, "ik", "jk"), CPU)] == [GlobalStage(1, (1, 0))]
    assert not [*copies.copies(product(64, "ki"), CPU)]
    assert not [*copies.copies(product(1024, "ki"), GPU)]


def test_what_is_read_twice_is_not_copied():
    case = product(1024, "ki")
    same = replace(case, inputs=tuple(replace(t, number=0) for t in case.inputs))
    assert not [*copies.copies(same, CPU)]
    assert not [*copies.copies(replace(case, after=case.inputs[:1]), CPU)]


def test_a_copy_has_to_gain_what_it_costs():
    case = product(2048, "ki")
    best = ranked(case, CPU)[0]
    assert choice.best(case, CPU) == best
    (stage,) = best.schedule.global_stages
    read, copy = copies.reading(case, stage), copies.making(case, stage)
    assert read == product(2048, "ik")
    assert best.estimate.seconds == pytest.approx(best_seconds(read, CPU) + best_seconds(copy, CPU))
    assert not ranked(product(256, "ki"), CPU)[0].schedule.global_stages


SOURCES = {
    "first": "function (A[L, M], B[L, N]) -> (C) { C[i, j: M, N] = +(A[k, i] * B[k, j]); }",
    "second": "function (A[M, L], B[N, L]) -> (C) { C[i, j: M, N] = +(A[i, k] * B[j, k]); }",
    "stacks": """function (A[G, L, M], B[G, L, N]) -> (C) {
        C[g, i, j: G, M, N] = +(A[g, k, i] * B[g, k, j]);
    }""",
    "windows": """function (A[H, W, C], B[3, D, C]) -> (O) {
        O[y, x, d: H, W, D] = +(A[y, x + j - 1, c] * B[j, d, c]);
    }""",
}
SHAPES = {
    "first": ((40, 33), (40, 48)),
    "second": ((33, 40), (48, 40)),
    "stacks": ((3, 24, 20), (3, 24, 32)),
    "windows": ((5, 17, 24), (3, 32, 24)),
}


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Let every copy seem to be free."""
    monkeypatch.setenv("TILE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(choice, "COPY_GAIN", 1000.0)
    monkeypatch.setattr(copies, "OFTEN", 1)
    monkeypatch.setattr(choice.Estimate, "after", lambda own, _: replace(own, seconds=0.0))
    for kept in (choice.best_alone, ranked):
        kept.cache_clear()
    yield
    for kept in (choice.best_alone, ranked):
        kept.cache_clear()


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("name", SOURCES)
def test_what_reads_a_copy_computes_the_same(name: str, device: td.Device):
    f = td.compile(SOURCES[name], device=device)
    rng = np.random.default_rng(1)
    arrays = [rng.integers(-4, 5, shape).astype(np.float32) for shape in SHAPES[name]]
    if device.type == "cpu":
        assert any("global order" in text for text in f.schedules(*arrays).values())
    assert np.array_equal(f(*arrays), f.reference(*arrays))
