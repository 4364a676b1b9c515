"""Garbage that compilations leave to the collector: tests that `test_garbage.py` runs."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from tiledialect.lowering.runtime.program import garbage
from tiledialect.lowering.runtime.program.garbage import no_collection


class Node:
    """An object that refers to itself, as the ops of an IR do in the end."""

    def __init__(self):
        self.itself = self


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing waits."""
    gc.collect()
    monkeypatch.setattr(garbage, "_waiting", garbage._Waiting())  # pyright: ignore[reportPrivateUsage]
    yield
    gc.enable()


def left(count: int) -> weakref.ref[Node]:
    """Objects that became garbage while so many were made."""
    with no_collection():
        assert not gc.isenabled()
        nodes = [Node() for _ in range(count)]
        found = weakref.ref(nodes[0])
        del nodes
    assert gc.isenabled()
    return found


def test_few_objects_wait_for_the_next_full_collection():
    node = left(5000)
    gc.collect(1)
    assert node() is not None
    gc.collect()
    assert node() is None


def test_many_objects_do_not_wait(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(garbage, "MOST_WAITING", 8000)
    first = left(5000)
    assert first() is not None
    second = left(5000)
    assert first() is None
    assert second() is None
    assert left(5000)() is not None


def test_full_rounds_are_rarer_where_many_objects_are_kept(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(garbage, "MOST_WAITING", 0)
    left(5000)
    kept = len(gc.get_objects())
    waits = left(kept // 4)
    assert waits() is not None
    left(kept // 2)
    assert waits() is None


def test_what_others_froze_stays_frozen():
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        left(5000)
        assert gc.get_freeze_count() > frozen / 2
    finally:
        gc.unfreeze()


def test_collection_that_others_disabled_stays_disabled():
    gc.disable()
    with no_collection():
        assert not gc.isenabled()
    assert not gc.isenabled()


def test_errors_enable_it_again():
    with pytest.raises(ValueError, match="x"), no_collection():
        raise ValueError("x")
    assert gc.isenabled()
