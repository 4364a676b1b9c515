"""The exceptions and warnings that users of tiledialect see."""

from __future__ import annotations

import difflib
import linecache
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from threading import RLock
from typing import Self

from xdsl.ir import Operation

from tiledialect.ir.names import place_of


@dataclass(frozen=True)
class SourceSpan:
    """A place in a source text: ``line`` and ``column`` count from 1.

    The line is 0 for a layer of a model, of which ``filename`` is the name.
    """

    text: str
    """The whole source text, so that the line can be shown; empty if it is not at hand."""
    line: int
    column: int
    filename: str = "<tile>"
    length: int = 1

    @property
    def source_line(self) -> str:
        """The line of the place; empty without text."""
        lines = self.text.splitlines()
        return lines[self.line - 1] if 0 < self.line <= len(lines) else ""

    def excerpt(self) -> str:
        """The source line with carets under the place; empty without text."""
        if not self.text:
            return ""
        line = self.source_line
        # Tabs are kept in the padding, so that the caret stays under its column.
        padding = "".join(c if c == "\t" else " " for c in line[: self.column - 1])
        width = max(1, min(self.length, len(line) - self.column + 1))
        return f"{line}\n{padding}{'^' * width}"


def count(number: int, one: str, more: str) -> str:
    """A number of things, such as ``1 axis`` and ``2 axes``."""
    return f"{number} {one if number == 1 else more}"


class TileWarning(UserWarning):
    """Warning of a likely difference between a program's meaning and its author's, as of wrapping
    integers."""


WARNING_FILTERS = RLock()
"""Lock of Python's filters of warnings, a setting of the whole process: while a thread has changed
them, no other gives a TileWarning."""


class TileError(Exception):
    """Error in the user's input.

    The message names it in the user's own names; where there is source text, ``span``
    points into it and the printed form shows the line with a caret.
    """

    def __init__(self, message: str, span: SourceSpan | None = None):
        super().__init__(message)
        self.message = message
        self.span = span

    @classmethod
    def at(cls, op: Operation, message: str) -> Self:
        """An error in ``op``, placed where the op's location says it comes from."""
        location = place_of(op)
        if location is None:
            return cls(message)
        file = location.filename.data
        # A Python file is at hand; the text of others comes with whoever read them.
        text = "".join(linecache.getlines(file)) if file.endswith(".py") else ""
        return cls(message, SourceSpan(text, location.line.data, location.column.data, file))

    def with_source(self, text: str) -> TileError:
        """Copy with the source text in its span, if the span has none."""
        if self.span is None or self.span.text:
            return self
        return type(self)(self.message, replace(self.span, text=text))

    def with_constants(self, numbers: Mapping[str, int | float]) -> TileError:
        """Copy with the numbers given for names, if they have a part in it.

        A part: the names stand where the error is, or the message holds the numbers.
        """
        if self.span is None or not (line := self.span.source_line):
            return self
        begin, end = self.span.column - 1, self.span.column - 1 + self.span.length
        found: list[str] = []
        for name, number in numbers.items():
            places = [m.span() for m in re.finditer(rf"\b{re.escape(name)}(?![\w'])", line)]
            is_there = any(a < end and begin < b for a, b in places)
            spelled = re.escape(str(abs(number)))
            is_named = places and re.search(rf"(?<![\w.]){spelled}(?![\w.])", self.message)
            if f"`{name}`" not in self.message and (is_there or is_named):
                found.append(f"`{name}` is {number}")
        if not found:
            return self
        what = "the constant" if len(found) == 1 else "the constants"
        return type(self)(f"{self.message}; {what} {', '.join(found)}", self.span)

    def __str__(self) -> str:
        if self.span is None:
            return self.message
        s = self.span
        if not s.line:
            return f"{s.filename}: {self.message}"
        return f"{s.filename}:{s.line}:{s.column}: {self.message}\n{s.excerpt()}".rstrip("\n")


def meant(name: str, known: Iterable[str]) -> str:
    """A question whether another of the ``known`` names was meant, if one is like ``name``."""
    like = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"; do you mean `{like[0]}`?" if like else ""
