"""Counts of calls."""

from __future__ import annotations

from work import calls, is_linear


def nothing() -> None:
    pass


def times(count: int) -> None:
    for _ in range(count):
        nothing()


def test_calls_are_counted():
    assert calls(lambda: times(5)) == calls(lambda: times(2)) + 3


def test_more_than_linear_work_is_found():
    assert is_linear(times, 100)
    assert not is_linear(lambda count: times(count * count), 100)
