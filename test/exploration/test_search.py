"""The search on parts with known times: no device, no clock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from math import inf, prod
from pathlib import Path
from random import Random
from statistics import median

import pytest

from tiledialect.errors import TileError
from tiledialect.exploration.evaluation import Failure, Outcome
from tiledialect.exploration.implementation import Implementation
from tiledialect.exploration.parts import Candidate
from tiledialect.exploration.search import Limits, Search
from tiledialect.exploration.study import Study, storage_of
from tiledialect.exploration.workers import Workers
from tiledialect.schedule.search.decisions import Chooser, Decisions, enumerated

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
        lambda chosen: Implementation(tuple(f"{k}: {v}" for k, v in chosen.items())),
        Workers(fake.submit, 2),
        Random(seed),
    )
    for _ in found.run(Limits(trials)):
        pass
    return found, fake


def test_the_best_of_a_small_space_is_found():
    """By enumeration, with the cost as the measure."""
    best = min(outcome(c.text).seconds for _, c in enumerated(Tiles().candidate))
    found, _ = search(150)
    assert found.best == best == 1
    assert found.implementation == Implementation(("C: 8 16 4",))


def test_nothing_is_evaluated_twice():
    found, fake = search(60)
    assert len(fake.evaluated) == len(set(fake.evaluated)) == len(found.trials) == 60


def test_a_search_ends_where_the_space_does():
    count = len({c.text for _, c in enumerated(Tiles().candidate)})
    found, _ = search(10_000)
    assert len(found.trials) <= count


def test_searching_is_better_than_drawing():
    """In the median over ten seeds, at the same numbers of trials."""
    for trials in (10, 20):
        guided, random = list[float](), list[float]()
        for seed in range(10):
            guided.append(search(trials, seed, "tpe")[0].best)
            texts = [c.text for _, c in enumerated(Tiles().candidate)]
            drawn = Random(seed).sample(texts, trials)
            random.append(min(outcome(text).seconds for text in drawn))
        assert median(guided) < median(random)


def test_the_same_seed_searches_the_same():
    assert search(20, 3)[1].evaluated == search(20, 3)[1].evaluated


def test_a_storage_goes_on_where_a_search_ended(tmp_path: Path):
    where = f"sqlite:///{tmp_path / 'trials.db'}"
    first, fake = search(20, storage=where)
    again, other = search(20, storage=where)
    # The default and the best so far are measured once more.
    assert len(set(fake.evaluated) & set(other.evaluated)) <= 2
    assert again.best <= first.best
    assert len([*again.studies[0].trials()]) >= 39


def test_a_journal_is_a_storage(tmp_path: Path):
    search(5, storage=tmp_path / "trials.log")
    assert len([*search(1, storage=tmp_path / "trials.log")[0].studies[0].trials()]) >= 5


@pytest.mark.parametrize("failure", [Failure.WRONG, Failure.ENDED, Failure.HUNG, Failure.REFUSED])
def test_what_fails_does_not_win(failure: Failure):
    bad = Outcome(failure=failure, message="as the test says")
    found, fake = search(150, failures={"8 16 4": bad})
    assert found.best > 1 and "8 16 4" in fake.evaluated
    (trial,) = [t for t in found.trials if t.text == "8 16 4"]
    assert (trial.failure, trial.message, trial.seconds) == (failure, bad.message, inf)


def test_a_default_that_fails_is_an_error():
    bad = Outcome(failure=Failure.WRONG, message="off by 3")
    with pytest.raises(TileError, match="cannot be explored: off by 3"):
        search(5, failures={"1 1 1": bad})


def test_parts_share_trials_by_their_weights():
    found, _ = search(40, parts=(Tiles("A", weight=3.0), Tiles("B", weight=1.0)))
    found.confirm()
    own = [trial.part for trial in found.trials]
    assert own.count("A") > 2 * own.count("B") > 0
    assert found.best == sum(
        outcome(text.partition(": ")[2]).seconds for text in found.implementation.schedules
    )


def test_the_fastest_is_confirmed():
    found, fake = search(30)
    before = len(fake.evaluated)
    found.confirm()
    assert found.default_seconds == outcome("1 1 1").seconds
    assert fake.evaluated[before:].count("1 1 1") == 3


def test_unknown_samplers_are_refused():
    with pytest.raises(TileError, match="there is no sampler 'best'; there is tpe, random"):
        search(1, sampler="best")


def test_storages_that_cannot_be_opened_are_refused():
    with pytest.raises(TileError, match="the storage nowhere://x cannot be opened"):
        storage_of("nowhere://x")
