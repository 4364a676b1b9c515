"""Order of a program's seeds: looks at programs, and small changes of the best candidates."""

from concurrent.futures import Future
from types import SimpleNamespace
from typing import cast

from tiledialect.exploration.lift.estimators import Estimators, _done
from tiledialect.exploration.lift.patterns import LOOKS, PASSES, LiftPart, _Seeds
from tiledialect.exploration.lift.ranking import Ranked
from tiledialect.exploration.parts import Candidate
from tiledialect.schedule.search.decisions import Decisions


class Recorded:
    """Estimators of programs with these estimates, which small changes improve, and their jobs."""

    count = 1

    def __init__(self, estimates: dict[str, float], sizes: Decisions):
        self.estimates, self.sizes = estimates, sizes
        self.asked: list[str] = []

    def best_of(self, word: str, default: str) -> Future[list[Ranked]]:
        self.asked.append(word)
        return _done(
            [Ranked(self.estimates[word], text=word, decisions={"mapping": word, **self.sizes})]
        )

    def refined(self, ranked: Ranked) -> Future[list[Ranked]]:
        self.asked.append(f"{ranked.text} changed")
        word = f"{ranked.text}+"
        return _done(
            [Ranked(0.9 * ranked.estimate, text=word, decisions={"mapping": word, **self.sizes})]
        )


def recorded(estimates: dict[str, float], **sizes: int) -> tuple[list[str], list[str]]:
    """Candidates that are given, and jobs of the estimators."""
    estimators = Recorded(estimates, {f"size {name}": size for name, size in sizes.items()})
    programs = SimpleNamespace(all=lambda: iter(estimates))
    part = SimpleNamespace(programs=programs, estimates={})
    seeds = _Seeds(cast(LiftPart, part), cast(Estimators, estimators), Candidate("", 12.0)).run()
    return [str(seed["mapping"]) for seed in seeds if seed], estimators.asked


def test_small_changes_wait_for_looks_at_some_programs():
    given, asked = recorded({f"{k}": 10.0 - k for k in range(LOOKS + 1)}, n=4)
    assert asked[:LOOKS] == [f"{k}" for k in range(LOOKS)]
    assert asked[LOOKS] == f"{LOOKS - 1} changed"
    # Each was the best so far.
    assert given[:LOOKS] == asked[:LOOKS]


def test_a_faster_program_without_open_sizes_is_changed_at_once():
    """Such a program has few changes."""
    _, asked = recorded({"a": 9.0, "b": 9.5, "c": 9.5})
    assert asked[:2] == ["a", "a changed"]
    assert asked.index("b changed") > asked.index("c")


def test_a_program_that_is_much_faster_is_changed_at_once():
    """Pass by pass, while others are looked at, and each better candidate is given."""
    given, asked = recorded({"a": 9.0, "b": 1.0, "c": 9.0}, n=4)
    assert asked[:3] == ["a", "b", "b changed"]
    assert given[:3] == ["a", "b", "b+"] and given.index("b+") < given.index("b++")
    # The better candidate is given before the next program is looked at.
    assert asked.index("b+ changed") < asked.index("c")
    changed = [job for job in asked if job.startswith("b") and job.endswith("changed")]
    assert len(changed) == PASSES
