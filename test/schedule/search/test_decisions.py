"""Spaces of decisions: enumeration, drawing, mutation."""

from __future__ import annotations

from random import Random

import pytest

from tiledialect.schedule.search.decisions import (
    Chooser,
    DeadEndError,
    drawn,
    enumerated,
    made,
    mutated,
    nearest,
)

Pair = tuple[str, int]


def pairs(chooser: Chooser) -> Pair:
    """A space whose second decision depends on the first; one of its branches is dead."""
    word = str(chooser.choose("word", ["few", "many", "none"]))
    numbers = {"few": [1, 2], "many": [2, 4, 8], "none": []}[word]
    number = chooser.choose("number", numbers)
    assert isinstance(number, int)
    return word, number


ALL = [("few", 1), ("few", 2), ("many", 2), ("many", 4), ("many", 8)]


def test_enumeration_has_every_value_once():
    assert [value for _, value in enumerated(pairs)] == ALL


def test_decisions_make_their_value_again():
    for decisions, value in enumerated(pairs):
        assert made(pairs, decisions) == (decisions, value)


def test_drawing_reaches_every_value():
    random = Random(0)
    assert {drawn(pairs, random)[1] for _ in range(100)} == set(ALL)


def test_a_space_without_values_is_a_dead_end():
    with pytest.raises(DeadEndError):
        drawn(lambda chooser: chooser.choose("x", []), Random(0))
    assert [*enumerated(lambda chooser: chooser.choose("x", []))] == []


def test_an_enumeration_ends_after_some_tries():
    assert [value for _, value in enumerated(pairs, tries=2)] == ALL[:2]


def test_mutation_changes_one_decision_and_what_depends_on_it():
    random = Random(0)
    values = {mutated(pairs, {"word": "few", "number": 2}, random)[1] for _ in range(100)}
    assert values == {("few", 1), ("many", 2)}


def test_mutations_connect_the_space():
    random, seen = Random(0), set[Pair]()
    decisions, value = made(pairs, {})
    for _ in range(200):
        seen.add(value)
        decisions, value = mutated(pairs, decisions, random)
    assert seen == set(ALL)


def test_nearest():
    assert nearest(5, [1, 4, 16]) == 4
    assert nearest(None, [3, 4]) == 3
    assert nearest("b", ["a", "c"], ["a", "b", "c"]) == "c"
    assert nearest("c", ["a", "b"], ["a", "b", "c"]) == "a"
    assert nearest("other", ["a", "b"]) == "a"
