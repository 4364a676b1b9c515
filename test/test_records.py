"""Dataclasses as JSON text, and back."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tiledialect.records import WRONG, from_json, to_json


@dataclass(frozen=True)
class Point:
    x: int
    name: str | None = None


@dataclass(frozen=True)
class Line:
    ends: tuple[Point, Point]
    between: tuple[Point | Other | float, ...]
    is_long: bool = False


@dataclass(frozen=True)
class Other:
    values: tuple[int, ...]


@dataclass(frozen=True)
class Names:
    names: tuple[str, ...]


LINE = Line((Point(1), Point(2, "p")), (Other((3, 4)), 1.5, Point(5)))


def test_there_and_back():
    assert from_json(Line, to_json(LINE)) == LINE


@pytest.mark.parametrize(
    "text",
    [
        "",
        "3",
        "[]",
        '{"x": 1}',
        '{"x": 1.0, "name": null}',
        '{"x": true, "name": null}',
        '{"x": 1, "name": 2}',
    ],
)
def test_what_is_no_record(text: str):
    with pytest.raises(WRONG):
        from_json(Point, text)


@pytest.mark.parametrize(
    "old, new", [('"x": 1', '"y": 1'), ("[3, 4]", "3"), ("[3, 4]", '{"3": 4}'), ("1.5", '"a"')]
)
def test_what_is_no_nested_record(old: str, new: str):
    text = to_json(LINE)
    assert old in text
    with pytest.raises(WRONG):
        from_json(Line, text.replace(old, new))


def test_a_text_is_no_tuple_of_letters():
    with pytest.raises(WRONG):
        from_json(Names, '{"names": "abc"}')
