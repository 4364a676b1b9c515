"""Dataclasses as JSON text, and back."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, fields, is_dataclass
from functools import cached_property, partial
from types import UnionType
from typing import Any, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

from tiledialect import caches

Record = TypeVar("Record")
Value = TypeVar("Value")

WRONG = (ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""The errors that `from_json` raises for other texts."""


def to_json(record: Any) -> str:
    """A record as text: its fields, which are numbers, texts, bytes, tuples or records, by name."""
    return json.dumps(asdict(record), default=_encoded)


def _encoded(data: Any) -> str:
    """Text of bytes, the only values that JSON lacks."""
    return b64encode(data).decode()


def from_json(kind: type[Record], text: str) -> Record:
    """The record of a kind that ``to_json`` wrote; one of ``WRONG`` if it did not."""
    return _reader(kind)(json.loads(text))


Reader: TypeAlias = Callable[[Any], Any]
"""Function from JSON's value to the value of a type."""


@caches.RECORDS
def _reader(t: Any) -> Reader:
    args = get_args(t)
    if is_dataclass(t):
        return _Record(t)
    if get_origin(t) in (Union, UnionType):
        return _first(args)
    if t is bytes:
        return lambda data: b64decode(_checked(str, data), validate=True)
    if get_origin(t) is not tuple:
        return partial(_checked, t)
    if args[1:] == (...,):
        one = _reader(args[0])
        return lambda data: tuple(map(one, _checked(list, data)))
    each = [*map(_reader, args)]
    return lambda data: tuple(read(x) for read, x in zip(each, _checked(list, data), strict=True))


class _Record:
    """Reader of the records of a kind, which may hold others of it."""

    def __init__(self, kind: Any):
        self.kind = kind

    @cached_property
    def readers(self) -> list[tuple[str, Reader]]:
        """Names and readers of the fields."""
        hints = get_type_hints(self.kind)
        return [(f.name, _reader(hints[f.name])) for f in fields(self.kind)]

    def __call__(self, data: Any) -> Any:
        return self.kind(**{name: read(data[name]) for name, read in self.readers})


def _first(kinds: tuple[Any, ...]) -> Reader:
    """The first of some types that a value is of."""
    readers = {kind: _reader(kind) for kind in kinds}

    def read(data: Any) -> Any:
        if type(data) in readers:
            return data
        for one in readers.values():
            with suppress(*WRONG):
                return one(data)
        raise ValueError("there is no such kind of value")

    return read


def _checked(t: type[Value], data: Any) -> Value:
    if type(data) is not t:
        raise ValueError(f"{data!r} is no {t.__name__}")
    return data
