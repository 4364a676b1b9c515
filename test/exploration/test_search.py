"""The search on parts with known times: no device, no clock."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import chain, repeat, takewhile
from math import inf, prod
from pathlib import Path
from random import Random
from statistics import median

import optuna
import pytest

from tiledialect.errors import TileError, TileWarning
from tiledialect.exploration import search as search_module
from tiledialect.exploration.evaluation import Failure, Outcome
from tiledialect.exploration.implementation import Implementation
from tiledialect.exploration.parts import Candidate
from tiledialect.exploration.proposals import FAILED, PRIOR, Correction, Proposals
from tiledialect.exploration.search import Limits, Search
from tiledialect.exploration.study import Study, Trial, storage_of
from tiledialect.exploration.workers import Workers
from tiledialect.schedule.search.decisions import Chooser, Decisions, enumerated, made

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


def test_the_best_of_a_small_space_is_found():
    """By enumeration, with the cost as the measure."""
    best = min(outcome(c.text).seconds for _, c in enumerated(Tiles().candidate))
    found, _ = search(150)
    assert found.best == best == 1
    assert found.implementation == Implementation(("C: 8 16 4",))


def test_nothing_is_evaluated_twice():
    found, fake = search(60)
    assert len(fake.evaluated) == len(set(fake.evaluated)) == len(found.trials) == 60


def test_a_candidate_waits_for_each_search():
    """Proposals are made while workers build and measure."""
    fake, flying = Fake({}), list[int]()

    class Pending(Future[Outcome]):
        def result(self, timeout: float | None = None) -> Outcome:
            flying.append(len(waiting))
            waiting.remove(self)
            return super().result(timeout)

    waiting: list[Future[Outcome]] = []

    def submit(implementation: Implementation, best: float) -> Future[Outcome]:
        future = Pending()
        future.set_result(fake.submit(implementation, best).result())
        waiting.append(future)
        return future

    studies = [Study("key", Tiles(), None, 0, "random")]
    found = Search(studies, assembled, Workers(submit, 1), Random(0))
    assert len([*found.run(Limits(10))]) == 10
    assert max(flying) == 2


def test_several_workers_have_a_candidate_each(monkeypatch: pytest.MonkeyPatch):
    """One that waits for a certain worker waits as long as its trial takes; and where time is over,
    trials that do not end are ended."""
    flying, interrupted = list[Future[Outcome]](), list[int]()

    def submit(implementation: Implementation, best: float) -> Future[Outcome]:
        if best == inf:
            return Fake({}).submit(implementation, best)
        flying.append(Future[Outcome]())
        return flying[-1]

    workers = Workers(submit, 3, lambda: interrupted.append(len(flying)))
    studies = [Study("key", Tiles(), None, 0, "random")]
    found = Search(studies, assembled, workers, Random(0))
    monkeypatch.setattr(search_module, "GRACE", 0.1)
    # The trials never end.
    assert len([*found.run(Limits(10, 0.1))]) == 1
    assert len(flying) == 3 and interrupted == [3] and all(f.cancelled() for f in flying)


def running(study: Study) -> list[int]:
    """Numbers of the trials that have no end."""
    return [t.number for t in study._study.get_trials() if not t.state.is_finished()]


@pytest.mark.parametrize("how", ["time", "Ctrl-C", "Ctrl-C in a proposal", "loss"])
def test_trials_without_an_outcome_end_with_the_search(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Those in flight, those that wait for a worker, and one that is being proposed."""
    lost = Future[Outcome]()
    lost.set_exception(RuntimeError("gone"))

    def submit(implementation: Implementation, best: float) -> Future[Outcome]:
        if best == inf:
            return Fake({}).submit(implementation, best)
        return lost if how == "loss" and len(running(study)) > 3 else Future[Outcome]()

    def interrupted(*_: object) -> None:
        assert len(running(study)) == 3
        raise KeyboardInterrupt

    study = Study("key", Tiles(), storage_of(tmp_path / "trials.log"), 0, "random")
    found = Search([study], assembled, Workers(submit, 2), Random(0))
    monkeypatch.setattr(search_module, "GRACE", 0.1)
    trials = found.run(Limits(10, 0.3))
    next(trials)
    if how == "Ctrl-C":
        monkeypatch.setattr(search_module, "wait", lambda *_, **__: interrupted())
    if how == "Ctrl-C in a proposal":
        ask = study._study.ask
        asks = chain(repeat(ask, 2), repeat(lambda **given: [ask(**given), interrupted()]))
        monkeypatch.setattr(study._study, "ask", lambda **given: next(asks)(**given))
    with pytest.raises(KeyboardInterrupt) if how.startswith("Ctrl-C") else nullcontext():
        assert [*trials] == []
    assert len(study._study.get_trials()) >= 4 and running(study) == []
    # What was not measured is tried when the search goes on.
    assert [trial.text for trial in study.trials()] == ["1 1 1"] and study.kept_count == 1


def test_the_fastest_are_measured_in_turns_or_together():
    """Together where builds leave the times of others as they are."""

    class Late(Future[Outcome]):
        def result(self, timeout: float | None = None) -> Outcome:
            pending.append(len(fake.evaluated))
            return super().result(timeout)

    def submit(implementation: Implementation, best: float) -> Future[Outcome]:
        future = Late()
        future.set_result(fake.submit(implementation, best).result())
        return future

    seen = list[list[int]]()
    for apart in (False, True):
        found, fake = search(30)
        pending, before = list[int](), len(fake.evaluated)
        found.workers = Workers(submit, 2, apart=apart)
        assert found.confirm()
        seen.append([count - before for count in pending[:3]])
    assert seen[0] == [1, 2, 3] and seen[1][0] == seen[1][2] > 3


def test_the_sampler_changes_few_decisions():
    study = Study("key", Tiles(), None, 0, "random")
    parent = {"m": 8, "n": 4, "k": 2}
    for _ in range(5):
        asking = study.ask_sampler("sampler", parent, ["n"])
        if asking is not None:
            assert {**asking.decisions, "n": 4} == parent
            kept = {**asking.trial.params, "n": 4}
            assert kept == parent
    assert len(study.seen) > 1


def test_the_sampler_hides_no_warnings_but_one():
    """A parent's size may be out of the range that the sampler's decisions leave."""

    class Warned(Tiles):
        def candidate(self, chooser: Chooser) -> Candidate:
            found = super().candidate(chooser)
            warnings.warn(f"made {found.text}", stacklevel=1)
            return found

    parent, opened = {"m": 1, "n": 1, "k": 32}, ["m", "n"]
    study = Study("key", Warned(), None, 0, "random")
    with pytest.warns(match="made") as seen:
        for _ in range(10):
            study.ask_sampler("sampler", parent, opened)
    said = [str(warning.message) for warning in seen]
    assert all(text.startswith("made") for text in said) and len({*said}) > 2
    # The sampler did leave too little for the parent's size.
    assert any(t.params["m"] * t.params["n"] * 32 > 512 for t in study._study.get_trials())


def test_a_search_ends_where_the_space_does():
    count = len({c.text for _, c in enumerated(Tiles().candidate)})
    found, _ = search(10_000)
    assert len(found.trials) <= count


@dataclass
class Rare(Tiles):
    """Thirteen candidates, of which the last is drawn once in 4096 times."""

    mutations: int = 1
    least_seeds: int = 4
    awaited_seeds: int = 4

    def candidate(self, chooser: Chooser) -> Candidate:
        names = (f"go beyond {k}" for k in range(12))
        depth = sum(
            1 for _ in takewhile(lambda n: chooser.choose(n, ["no", "yes"]) == "yes", names)
        )
        return Candidate(f"{2**depth} 1 1", 1.0)

    def seeds(self) -> Iterator[Decisions]:
        yield {}


def test_rare_candidates_of_a_small_space_are_found():
    found, _ = search(1000, parts=(Rare(),))
    assert len({trial.text for trial in found.trials}) == len(found.trials) == 13


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


def test_a_candidate_is_made_once():
    """But for the sampler, which makes its own, and the default, which is compared with."""
    counts = Counter[str]()

    class Counting(Tiles):
        def candidate(self, chooser: Chooser) -> Candidate:
            found = super().candidate(chooser)
            counts[found.text] += 1
            return found

    part = Counting()
    study = Study("key", part, None, 0, "random")
    asking = study.ask("seed", *made(study.proposal, {"m": 2, "n": 4, "k": 8}))
    assert asking is not None and counts == {"2 4 8": 1}
    study.tell(asking, Outcome(1.0))
    (trial,) = study._study.get_trials()
    assert trial.params == {"m": 2, "n": 4, "k": 8}


@pytest.mark.parametrize(("end", "source"), [(inf, "seed"), (-inf, "mutation")])
def test_seeds_that_pause_are_waited_for_until_the_end(end: float, source: str):
    class Pausing(Tiles):
        def seeds(self) -> Iterator[Decisions | None]:
            first, last = super().seeds()
            yield first
            yield from chain(repeat(None, 9), [last]) if end == inf else repeat(None)

    study = Study("key", Pausing(), None, 0, "random")
    proposals = Proposals(study, Random(0))
    default = proposals.default()
    assert default is not None
    proposals.note(study.tell(default, Outcome(1.0)))
    found = proposals.next(end)
    assert found is not None and found.source == source


def test_trials_know_what_was_beside_them():
    found, _ = search(20, parts=(Tiles("A"), Tiles("B")))
    beside = [(t.part, [text[0] for text in t.beside.schedules]) for t in found.trials]
    assert (
        all(own in (("A", ["B"]), ("B", ["A"])) for own in beside) and len({*map(str, beside)}) == 2
    )
    kept = [t.beside for s in found.studies for t in s.trials()]
    assert sorted(map(str, kept)) == sorted(str(t.beside) for t in found.trials)


def test_lost_workers_leave_no_trials(tmp_path: Path):
    """Candidates in flight are tried when the search goes on."""

    def lost(implementation: Implementation, best: float) -> Future[Outcome]:
        future = fake.submit(implementation, best)
        if len(fake.evaluated) > 10:
            future = Future[Outcome]()
            future.set_exception(RuntimeError("gone"))
        return future

    where = tmp_path / "trials.log"
    study = Study("key", Tiles(), storage_of(where), 0, "random")
    fake = Fake({})
    found = Search([study], assembled, Workers(lost, 2), Random(0))
    assert len([*found.run(Limits(50))]) == 10
    assert found.lost == "gone" and found.confirm() is False
    assert {t.failure for t in study.trials()} == {Failure.NONE} and study.kept_count == 10


def test_a_default_that_fails_is_an_error():
    bad = Outcome(failure=Failure.WRONG, message="off by 3")
    with pytest.raises(TileError, match="cannot be explored: off by 3"):
        search(5, failures={"1 1 1": bad})


def test_estimates_are_corrected_by_the_seconds_of_the_part():
    """Other kernels of the call say nothing of it; and failures count against what is known."""
    own, other = {"m": 1, "n": 1}, {"m": 2, "n": 2}
    good = Trial("A", 0, "x", 1.0, 90.0, Failure.NONE, "", "seed", own, own=4.0)
    correction = Correction()
    correction.note(good)
    assert 1.0 < correction.expected(Candidate("y", 1.0), own) < 4.0
    correction.note(replace(good, seconds=inf, own=inf, decisions=other))
    after = correction.expected(Candidate("z", 1.0), other)
    # The weight of the estimate as it is leaves a part of both.
    assert 4.0 < after < 4.0 * FAILED and after ** (1 + PRIOR) * 1.01 > 4 * FAILED


def test_trials_have_the_seconds_of_their_part(tmp_path: Path):
    study = Study("key", Tiles("A"), storage_of(tmp_path / "trials.log"), 0, "random")
    for number, kernels, own in [(1, (("A", 2.0), ("B", 3.0)), 2.0), (2, (), 5.0)]:
        asking = study.ask("seed", *made(study.proposal, {"m": number, "n": 1, "k": 1}))
        assert asking is not None
        trial = study.tell(asking, Outcome(5.0, kernels=kernels))
        assert (trial.seconds, trial.own) == (5.0, own)
    assert [trial.own for trial in study.trials()] == [2.0, 5.0]


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


def test_the_best_of_earlier_sessions_is_compared_again(tmp_path: Path):
    """The kept best fails now: the search goes on from the default, and keeps nothing of it."""
    where, parts = tmp_path / "trials.log", (Tiles("A"), Tiles("B"))
    first, _ = search(40, storage=where, parts=parts)
    best = [study.part.name for study in first.studies], first._chosen.values()
    assert best[0] == ["A", "B"] and {*best[1]} != {"1 1 1"}
    bad = Outcome(failure=Failure.WRONG, message="off by 3")
    found, _ = search(1, storage=where, parts=parts, failures=dict.fromkeys(best[1], bad))
    assert not {*found._chosen.values()} & {*best[1]}
    texts = {text.partition(": ")[2] for text in found.implementation.schedules}
    assert not texts & {*best[1]} and found.best < inf


def test_what_fails_in_the_end_is_not_taken():
    """Once is enough: a kernel with a race may be right at other times."""
    found, fake = search(150)
    assert found.implementation == Implementation(("C: 8 16 4",))
    bad = Outcome(failure=Failure.WRONG, message="off by 3")
    times = iter([False, True])
    submit = fake.submit

    def once(implementation: Implementation, best: float) -> Future[Outcome]:
        future = submit(implementation, best)
        if implementation.schedules == ("C: 8 16 4",) and not next(times, False):
            future = Future[Outcome]()
            future.set_result(bad)
        return future

    found.workers = Workers(once, 1)
    found.confirm()
    assert found.implementation != Implementation(("C: 8 16 4",)) and found.best > 1


def test_workers_that_are_lost_are_no_traceback():
    def lost(implementation: Implementation, best: float) -> Future[Outcome]:
        future = Future[Outcome]()
        future.set_exception(RuntimeError("gone"))
        return future

    found, _ = search(20)
    before = found.best, found.default_seconds, found.implementation
    found.workers = Workers(lost, 1)
    found.confirm()
    assert (found.best, found.default_seconds, found.implementation) == before
    assert found.lost == "gone"
    again, _ = search(1)
    again.workers, again.best = Workers(lost, 1), inf
    with pytest.raises(TileError, match="the workers are lost: gone"):
        [*again.run(Limits(3))]


@dataclass
class Words(Tiles):
    """Tiles with a decision between words, as between programs that settings give."""

    words: tuple[str, ...] = ("a", "b")

    def candidate(self, chooser: Chooser) -> Candidate:
        chooser.choose("word", self.words, self.words)
        return super().candidate(chooser)


def test_a_storage_has_trials_of_a_space_with_other_words(tmp_path: Path):
    where = tmp_path / "trials.log"
    search(30, storage=where, sampler="tpe", parts=(Words(),))
    found, _ = search(30, storage=where, sampler="tpe", parts=(Words(words=("b", "c", "d")),))
    assert len(found.trials) > 20


def test_a_storage_that_fails_costs_no_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object) -> None:
        raise OSError("no space left on device")

    backend = optuna.storages.journal.JournalFileBackend
    kept = storage_of(tmp_path / "trials.log")
    study = Study("key", Tiles(), kept, 0, "random")
    monkeypatch.setattr(backend, "append_logs", full)
    asking = study.ask("seed", *made(study.proposal, {"m": 1, "n": 1, "k": 1}))
    assert asking is not None
    with pytest.warns(TileWarning, match="keeps no more trials: no space left on device"):
        assert study.tell(asking, Outcome(1.0)).seconds == 1.0
    asking = study.ask("seed", *made(study.proposal, {"m": 2, "n": 1, "k": 1}))
    assert asking is not None and study.tell(asking, Outcome(1.0)).seconds == 1.0
    with pytest.raises(TileError, match="the storage cannot be used: no space left on device"):
        Study("other", Tiles(), kept, 0, "random")


def test_unknown_samplers_are_refused():
    with pytest.raises(TileError, match="there is no sampler 'best'; there is tpe, random"):
        search(1, sampler="best")


def test_storages_that_cannot_be_opened_are_refused():
    with pytest.raises(TileError, match="the storage nowhere://x cannot be opened"):
        storage_of("nowhere://x")
