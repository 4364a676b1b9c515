"""Studies of parts with known times, and their storages: no device, no clock."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path

import optuna
import pytest
from searched_tiles import Tiles, search

from tiledialect.errors import TileError, TileWarning
from tiledialect.exploration.evaluation import Failure, Outcome
from tiledialect.exploration.parts import Candidate
from tiledialect.exploration.proposals import FAILED, PRIOR, Correction
from tiledialect.exploration.study import Study, Trial, storage_of
from tiledialect.schedule.search.decisions import Chooser, made


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


def test_trials_know_what_was_beside_them():
    found, _ = search(20, parts=(Tiles("A"), Tiles("B")))
    beside = [(t.part, [text[0] for text in t.beside.schedules]) for t in found.trials]
    assert (
        all(own in (("A", ["B"]), ("B", ["A"])) for own in beside) and len({*map(str, beside)}) == 2
    )
    kept = [t.beside for s in found.studies for t in s.trials()]
    assert sorted(map(str, kept)) == sorted(str(t.beside) for t in found.trials)


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
