"""Texts in attributes that any MLIR parser can skip: in quotes where `<` and `>` compare."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from xdsl.parser import AttrParser, Parser

T = TypeVar("T")


def parse_quotable(parser: AttrParser, parse: Callable[[AttrParser], T]) -> T:
    """Parse a text, or the same in quotes."""
    text = parser.parse_optional_str_literal()
    if text is None:
        return parse(parser)
    inner = Parser(parser.ctx, text)
    found = parse(inner)
    if inner.pos != len(text):
        inner.raise_error("expected the end of the text in quotes")
    return found


def quotable(text: str) -> str:
    """The text, in quotes if an MLIR parser would take `<` or `>` in it for a bracket."""
    return f'"{text}"' if "<" in text or ">" in text.replace("->", "") else text
