"""A part of a search with known times, and workers that look them up: no device, no clock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from math import prod
from pathlib import Path
from random import Random

from tiledialect.exploration.evaluation import Outcome
from tiledialect.exploration.implementation import Implementation
from tiledialect.exploration.parts import Candidate
from tiledialect.exploration.search import Limits, Search
from tiledialect.exploration.study import Study, storage_of
from tiledialect.exploration.workers import Workers
from tiledialect.schedule.search.decisions import Chooser, Decisions

SIZES = [1, 2, 4, 8, 16, 32]


def seconds(tile: Mapping[str, int]) -> float:
    """True time of a tile: the best is 8 x 16 x 4."""
    best = {"m": 8, "n": 16, "k": 4}
    return prod(max(size, best[n]) / min(size, best[n]) for n, size in tile.items())


@dataclass
class Tiles:
    """A part of three sizes, at most 512 together, with a cost model that is off by the last."""

    name: str = "C"
    weight: float = 1.0
    least: float = 0.5
    mutations: int = 24
    least_seeds: int = 4
    awaited_seeds: int = 4

    def candidate(self, chooser: Chooser) -> Candidate:
        tile: dict[str, int] = {}
        for name in ("m", "n", "k"):
            room = 512 // prod(tile.values())
            size = chooser.choose(name, [n for n in SIZES if n <= room])
            assert isinstance(size, int)
            tile[name] = size
        text = " ".join(map(str, tile.values()))
        return Candidate(text, seconds({**tile, "k": 4}))

    def seeds(self) -> Iterator[Decisions]:
        yield {"m": 1, "n": 1, "k": 1}
        yield {"m": 8, "n": 8, "k": 1}


def outcome(text: str) -> Outcome:
    tile = dict(zip("mnk", map(int, text.split()), strict=True))
    return Outcome(seconds(tile))


@dataclass
class Fake:
    """Workers that look times up, and keep what they evaluated."""

    failures: Mapping[str, Outcome]

    def __post_init__(self):
        self.evaluated: list[str] = []

    def submit(self, implementation: Implementation, best: float) -> Future[Outcome]:
        future = Future[Outcome]()
        texts = [text.partition(": ")[2] for text in implementation.schedules]
        self.evaluated += texts
        found = [self.failures.get(text) or outcome(text) for text in texts]
        bad = next((o for o in found if not o.is_good), None)
        future.set_result(bad or Outcome(sum(o.seconds for o in found)))
        return future


def assembled(chosen: Mapping[str, str]) -> Implementation:
    return Implementation(tuple(f"{k}: {v}" for k, v in chosen.items()))


def search(
    trials: int,
    seed: int = 0,
    sampler: str = "random",
    storage: str | Path | None = None,
    failures: Mapping[str, Outcome] | None = None,
    parts: tuple[Tiles, ...] = (Tiles(),),
) -> tuple[Search, Fake]:
    fake = Fake(failures or {})
    kept = storage_of(storage)
    studies = [Study("key", part, kept, seed, sampler) for part in parts]
    found = Search(
        studies,
        assembled,
        Workers(fake.submit, 2),
        Random(seed),
    )
    for _ in found.run(Limits(trials)):
        pass
    return found, fake
