"""Parse errors in the user's words."""

from __future__ import annotations

from collections.abc import Sequence

from lark import Token
from lark.exceptions import UnexpectedInput, UnexpectedToken

from tiledialect.errors import SourceSpan, TileError

from . import syntax_hints

PHRASES = {
    "NAME": "a name",
    "INTEGER": "a number",
    "REAL": "a number",
    "AGGREGATION": "an aggregation (`+`, `*`, `>`, `<` or `=`)",
    "$END": "the end of the text",
}
"""The terminals of the grammar that are not fixed strings."""

EXPRESSION = frozenset(("NAME", "INTEGER", "REAL", "(", "-", "~", "!"))
"""Tokens that together mark a place for an expression."""

ARITHMETIC = frozenset(("+", "-", "*", "/", "%"))
OPERATORS = ARITHMETIC | {"<<", ">>", "&", "|", "^", "==", "!=", "<=", ">", ">="}

HINTS = {
    "[": "only the tensors of a contraction have indices",
    "<": "comparisons do not chain, write `(A < B) & (B < C)`",
    "==": "comparisons do not chain, use parentheses",
    "/*": "the comment has no end",
    "_": "a name begins with a letter",
}
"""Hints by the misplaced text."""

DOUBLED = {
    "&&": "use `&`, of bools: `(A > 0) & (B > 0)`, or `(A != 0) & (B != 0)`",
    "||": "use `|`, of bools: `(A > 0) | (B > 0)`, or `(A != 0) | (B != 0)`",
    "**": "use `pow`, or `A * A`",
}
"""Hints for operators of which the grammar takes the first half by itself."""

COMMENT = (
    "`//` begins a comment; `A / B` of integers is cut off, and of reals `floor(A / B)` is whole"
)


def parse_error(
    error: UnexpectedInput, accepts: set[str], tokens: Sequence[Token], text: str, filename: str
) -> TileError:
    """The error to show for lark's, which came after ``tokens``.

    ``accepts`` are the terminals that might have followed: their text, or the name of those that
    have several.
    """
    place = min(error.pos_in_stream or 0, len(text))
    found = str(error.token) if isinstance(error, UnexpectedToken) else text[place]
    after = f" after `{tokens[-1]}`" if tokens else ""
    end = tokens[-1].end_pos or 0 if tokens else 0
    in_statement = ";" in accepts and tokens[-1] not in ("{", ";")
    if in_statement and (found in ("", "}", "[[") or "\n" in text[end:place]):
        # A forgotten semicolon shows where it belongs, not where the next statement begins.
        rest = text[end:place].strip().splitlines()[:1]
        cut = rest and rest[0].startswith("//") and ";" in rest[0]
        hint = f" ({COMMENT})" if cut else ""
        return TileError(f"expected `;`{after}{hint}", _span(text, filename, end, 1))
    doubled = text[max(0, place - 1) : place + 1]
    if doubled in DOUBLED and syntax_hints.hint(tokens, found) is None:
        message = f"there is no operator `{doubled}` ({DOUBLED[doubled]})"
        return TileError(message, _span(text, filename, place - 1, 2))
    message = _message(_wanted(accepts), found, after)
    hint = _hint(text, place, tokens, found)
    if hint:
        message += f" ({hint})"
    return TileError(message, _span(text, filename, place, max(1, len(found))))


def _message(wanted: list[str], found: str, after: str) -> str:
    got = f"found `{found if len(found) <= 40 else found[:40] + '…'}`" if found else "the text ends"
    if not 0 < len(wanted) <= 4:
        return f"{got}{after}, which makes no sense here"
    *most, last = wanted
    either = f"{', '.join(most)} or {last}" if most else last
    return f"expected {either}{after}, but {got}"


def _wanted(accepts: set[str]) -> list[str]:
    """The terminals in words, an expression or an operator in one."""
    words: list[str] = []
    rest = set(accepts)
    if rest >= EXPRESSION:
        words.append("an expression")
        rest -= EXPRESSION | {"custom_gradient"}
    if rest >= ARITHMETIC:
        words.append("an operator")
        rest -= OPERATORS
        rest -= {"("} if "(" in rest else set()
        rest -= {"<", "?"} if "==" in accepts else set()
    return sorted({PHRASES.get(name, f"`{name}`") for name in rest}) + words


def _hint(text: str, place: int, tokens: Sequence[Token], found: str) -> str | None:
    if tokens and tokens[-1] == "=" and found in set("+*<>"):
        return "a contraction gives its output indices, `O[]` if there are none"
    if (habit := syntax_hints.hint(tokens, found)) is not None:
        return habit
    if not found and "//" in text[tokens[-1].end_pos if tokens else 0 : place]:
        return COMMENT
    for word, hint in HINTS.items():
        # The first half of a doubled operator may have been accepted as one by itself.
        if text.startswith(word, place) or (
            len(word) == 2 and place and text.startswith(word, place - 1)
        ):
            return hint
    return None


def _span(text: str, filename: str, position: int, length: int) -> SourceSpan:
    line = text.count("\n", 0, position) + 1
    column = position - (text.rfind("\n", 0, position) + 1) + 1
    return SourceSpan(text, line, column, filename, length)
