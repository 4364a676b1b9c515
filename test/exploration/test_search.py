"""The search on parts with known times: no device, no clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain, repeat, takewhile
from math import inf
from pathlib import Path
from random import Random
from statistics import median

import pytest
from searched_tiles import SIZES, Fake, Tiles, assembled, outcome, search

from tiledialect.errors import TileError
from tiledialect.exploration import search as search_module
from tiledialect.exploration.evaluation import Failure, Outcome
from tiledialect.exploration.implementation import Implementation
from tiledialect.exploration.parts import Candidate
from tiledialect.exploration.proposals import Proposals
from tiledialect.exploration.search import Limits, Search, contest
from tiledialect.exploration.study import Study, storage_of
from tiledialect.exploration.workers import Workers
from tiledialect.schedule.search.decisions import Chooser, Decisions, enumerated


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
    """Trials in flight, trials that wait for a worker, and one that is being proposed."""
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


@pytest.mark.parametrize("failure", [Failure.WRONG, Failure.ENDED, Failure.HUNG, Failure.REFUSED])
def test_what_fails_does_not_win(failure: Failure):
    bad = Outcome(failure=failure, message="as the test says")
    found, fake = search(150, failures={"8 16 4": bad})
    assert found.best > 1 and "8 16 4" in fake.evaluated
    (trial,) = [t for t in found.trials if t.text == "8 16 4"]
    assert (trial.failure, trial.message, trial.seconds) == (failure, bad.message, inf)


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


def test_seeds_are_found_while_the_default_is_measured(monkeypatch: pytest.MonkeyPatch):
    """As many as workers take at first, within the trials: they begin at once afterwards."""
    for trials, most in ((50, 6), (3, 2)):
        submitted = list[str]()

        class Slow(Future[Outcome]):
            """The default, which is there when enough seeds are."""

            def done(self) -> bool:
                return len(study.seen) > most  # noqa: B023

            def result(self, timeout: float | None = None) -> Outcome:
                assert len(submitted) == 1 and self.done()  # noqa: B023
                return Outcome(100.0)

        def submit(implementation: Implementation, best: float) -> Future[Outcome]:
            submitted.append(str(implementation))  # noqa: B023
            return Fake({}).submit(implementation, best) if best < inf else Slow()

        study = Study("key", Seeded(), None, 0, "random")
        found = Search([study], assembled, Workers(submit, 4), Random(0))
        own = [*found.run(Limits(trials))]
        assert len(own) == trials and {t.source for t in own[1 : most + 1]} == {"seed"}


@dataclass
class Seeded(Tiles):
    """Tiles of which many are seeds."""

    def seeds(self) -> Iterator[Decisions]:
        for size in SIZES:
            yield {"m": size, "n": 1, "k": 1}
            yield {"m": 1, "n": size, "k": 2}


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
    """Three times, as a measurement may be lucky; what is much slower has no luck that helps."""
    found, fake = search(150)
    before = len(fake.evaluated)
    found.confirm()
    assert found.default_seconds == outcome("1 1 1").seconds
    again = Counter(fake.evaluated[before:])
    assert again["8 16 4"] == 3 and again["1 1 1"] == 1
    near = [assembled({"C": text}) for text in ("1 1 1", "2 1 1", "4 1 1")]
    # The last is much slower in the first turn, and the second one after two.
    times = iter([1.0, 1.3, 2.0, 0.9, 1.2, 1.0])
    least = contest(lambda own: [Outcome(next(times)) for _ in own], near)
    assert [*least.values()] == [0.9, 1.2, 2.0] and [*times] == []


def test_what_was_asked_for_does_not_begin_after_the_end(monkeypatch: pytest.MonkeyPatch):
    """Of the candidates that wait for workers none begins when the time is over."""
    clock, submitted = [0.0], list[str]()

    def submit(implementation: Implementation, best: float) -> Future[Outcome]:
        submitted.append(str(implementation))
        # The time is over with the first trials.
        clock[0] += 1.0 if best < inf else 0.0
        return Fake({}).submit(implementation, best)

    monkeypatch.setattr(search_module.time, "monotonic", lambda: clock[0])
    study = Study("key", Tiles(), None, 0, "random")
    found = Search([study], assembled, Workers(submit, 2), Random(0))
    assert len([*found.run(Limits(50, 2.0))]) == len(submitted) == 3


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
