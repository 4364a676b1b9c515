"""The syntax of integer expressions and conditions in IR, such as ``32*i_o + (k floordiv 4)``.

It is the syntax of ``str``, with the words of MLIR's affine expressions, and conditions and
selections: ``(0 <= i and i < N ? i : 0)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from xdsl.context import Context
from xdsl.parser import AttrParser, Parser
from xdsl.utils.exceptions import ParseError

from tiledialect.errors import TileError
from tiledialect.index.integer.expressions import (
    Condition,
    Expr,
    Truth,
    both,
    either,
    equal,
    floordiv,
    less,
    less_equal,
    maximum,
    minimum,
    mod,
    negate,
    select,
)

T = TypeVar("T")

NameParser = Callable[[], str | None]
"""Parser of a form that stands for a variable besides a plain name, if one comes next."""

_EXTREMA = {"min": minimum, "max": maximum}
_WORDS = ("floordiv", "mod", "and", "or", "not", "true", "false", *_EXTREMA)


def parse_index(parser: AttrParser, parse_name: NameParser = lambda: None) -> Expr:
    """Parse an integer expression."""
    return _Syntax(parser, parse_name).expression()


def parse_condition(parser: AttrParser, parse_name: NameParser = lambda: None) -> Condition:
    """Parse a condition."""
    return _Syntax(parser, parse_name).condition()


def index_of(text: str) -> Expr:
    """The integer expression that the text is."""
    return _whole(text, parse_index)


def condition_of(text: str) -> Condition:
    """The condition that the text is."""
    return _whole(text, parse_condition)


def _whole(text: str, parse: Callable[[AttrParser], T]) -> T:
    parser = Parser(Context(), text)
    try:
        found = parse(parser)
        if parser.pos != len(text):
            parser.raise_error("expected the end of the expression")
    except ParseError as error:
        raise TileError(f"{text!r} is no index expression or condition: {error.msg}") from None
    return found


@dataclass(frozen=True)
class _Syntax:
    """A method for each level of precedence, from the loosest."""

    parser: AttrParser
    parse_name: NameParser

    def expression(self) -> Expr:
        return self._expression(self._sum())

    def condition(self) -> Condition:
        return self._condition(self._either())

    def _expression(self, value: Expr | Condition) -> Expr:
        if not isinstance(value, Expr):
            self.parser.raise_error(f"expected an expression, got the condition {value}")
        return value

    def _condition(self, value: Expr | Condition) -> Condition:
        if isinstance(value, Expr):
            self.parser.raise_error(f"expected a condition, got the expression {value}")
        return value

    def _either(self) -> Expr | Condition:
        value = self._both()
        while self.parser.parse_optional_keyword("or"):
            value = either(self._condition(value), self._condition(self._both()))
        return value

    def _both(self) -> Expr | Condition:
        value = self._negated()
        while self.parser.parse_optional_keyword("and"):
            value = both(self._condition(value), self._condition(self._negated()))
        return value

    def _negated(self) -> Expr | Condition:
        if self.parser.parse_optional_keyword("not"):
            return negate(self._condition(self._negated()))
        return self._compared()

    def _compared(self) -> Expr | Condition:
        """A sum, or a chain of comparisons, ``0 <= i < N``; ``>`` might close an attribute."""
        left = self._sum()
        found: list[Condition] = []
        while (compare := self._comparison()) is not None:
            right = self.expression()
            found.append(compare(self._expression(left), right))
            left = right
        return both(*found) if found else left

    def _comparison(self) -> Callable[[Expr, Expr], Condition] | None:
        if self.parser.parse_optional_punctuation("<"):
            return less_equal if self.parser.parse_optional_punctuation("=") else less
        if self.parser.parse_optional_punctuation("="):
            self.parser.parse_punctuation("=")
            return equal
        return None

    def _sum(self) -> Expr | Condition:
        total = self._product()
        while True:
            if self.parser.parse_optional_punctuation("+"):
                total = self._expression(total) + self._expression(self._product())
            elif self.parser.parse_optional_punctuation("-"):
                total = self._expression(total) - self._expression(self._product())
            else:
                return total

    def _product(self) -> Expr | Condition:
        value = self._factor()
        while True:
            if self.parser.parse_optional_punctuation("*"):
                value = self._expression(value) * self._expression(self._factor())
            elif self.parser.parse_optional_keyword("floordiv"):
                value = floordiv(self._expression(value), self._divisor())
            elif self.parser.parse_optional_keyword("mod"):
                value = mod(self._expression(value), self._divisor())
            else:
                return value

    def _divisor(self) -> Expr:
        divisor = self._expression(self._factor())
        if not divisor:
            self.parser.raise_error("division by zero in an index expression")
        return divisor

    def _factor(self) -> Expr | Condition:
        parser = self.parser
        if parser.parse_optional_punctuation("-"):
            return -self._expression(self._factor())
        if parser.parse_optional_punctuation("("):
            value = self._either()
            if parser.parse_optional_punctuation("?"):
                yes = self.expression()
                parser.parse_punctuation(":")
                value = select(self._condition(value), yes, self.expression())
            parser.parse_punctuation(")")
            return value
        number = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
        if number is not None:
            return Expr.const(number)
        if (name := self.parse_name()) is not None:
            return Expr.var(name)
        return self._named()

    def _named(self) -> Expr | Condition:
        parser = self.parser
        name = parser.parse_identifier(" of an index")
        if name in ("true", "false"):
            return Truth(name == "true")
        if name in _EXTREMA:
            return _EXTREMA[name](
                *parser.parse_comma_separated_list(parser.Delimiter.PAREN, self.expression)
            )
        if name in _WORDS:
            parser.raise_error(f"'{name}' is no name of an index")
        return Expr.var(name)
