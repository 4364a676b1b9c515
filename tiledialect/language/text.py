"""The text of expressions and names, with no more parentheses than it takes."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from tiledialect.dialects.tile.attributes import Aggregation, Combination

ATOM, UNARY, SELECT = 20, 11, 0

BINARY: dict[str, tuple[str, int]] = {
    "tile.mul": ("*", 10),
    "tile.div": ("/", 10),
    "tile.rem": ("%", 10),
    "tile.add": ("+", 9),
    "tile.sub": ("-", 9),
    "tile.bit_left": ("<<", 8),
    "tile.bit_right": (">>", 8),
    "tile.cmp_lt": ("<", 7),
    "tile.cmp_le": ("<=", 7),
    "tile.cmp_gt": (">", 7),
    "tile.cmp_ge": (">=", 7),
    "tile.cmp_eq": ("==", 6),
    "tile.cmp_ne": ("!=", 6),
    "tile.bit_and": ("&", 5),
    "tile.bit_xor": ("^", 4),
    "tile.bit_or": ("|", 3),
    "arith.addi": ("+", 9),
    "arith.subi": ("-", 9),
    "arith.muli": ("*", 10),
    "arith.divsi": ("/", 10),
    "arith.remsi": ("%", 10),
}
"""The operators, and how strongly they bind."""

PREFIX = {"tile.neg": "-", "tile.bit_not": "~"}

AGGREGATIONS = {
    Aggregation.add: "+",
    Aggregation.mul: "*",
    Aggregation.max: ">",
    Aggregation.min: "<",
    Aggregation.assign: "=",
}
SEPARATORS = {
    Combination.none: ("",),
    Combination.add: (" + ", " + "),
    Combination.mul: (" * ", " * "),
    Combination.eq: (" == ",),
    Combination.cond: (" == ", " ? "),
    Combination.add_eq: (" + ", " == "),
    Combination.mul_eq: (" * ", " == "),
    Combination.add_cond: (" + ", " == ", " ? "),
    Combination.mul_cond: (" * ", " == ", " ? ", " * "),
}
"""Text between the tensors of a contraction."""


@dataclass(frozen=True)
class Text:
    """An expression's text and how strongly its outermost operator binds."""

    text: str
    binding: int = ATOM

    def within(self, binding: int) -> str:
        """The text as an operand that must bind at least so strongly."""
        return self.text if self.binding >= binding else f"({self.text})"

    def __str__(self) -> str:
        return self.text


def call(function: str, *arguments: object) -> Text:
    """A call of a function."""
    return Text(f"{function}({', '.join(map(str, arguments))})")


def binary(name: str, a: Text, b: Text) -> Text:
    """An operator between its operands."""
    operator, binding = BINARY[name]
    # Comparisons do not chain; the others group from the left.
    left = binding + 1 if binding in (6, 7) else binding
    return Text(f"{a.within(left)} {operator} {b.within(binding + 1)}", binding)


def literal(value: int | float) -> Text:
    """A number."""
    if isinstance(value, float) and not math.isfinite(value):
        top = "0.0" if math.isnan(value) else "1.0" if value > 0 else "-1.0"
        return Text(f"{top} / 0.0", 10)
    text = repr(value)
    return Text(text, UNARY if text.startswith("-") else ATOM)


def prefix(operator: str, a: Text) -> Text:
    """An operator before its operand."""
    return Text(f"{operator}{a.within(UNARY)}", UNARY)


def select(condition: Text, a: Text, b: Text) -> Text:
    """``condition ? a : b``"""
    return Text(f"{condition.within(SELECT + 1)} ? {a} : {b}", SELECT)


class Names:
    """Hands out names of tensors and dimensions, each once."""

    def __init__(self):
        self.taken: set[str] = set()

    def reserve(self, name: str) -> str:
        """Take ``name``, or one like it that is free."""
        name = valid_name(name)
        stem, number = name.rstrip("'"), 1
        while name in self.taken:
            number += 1
            name = f"{stem}{'_' if stem[-1].isdigit() else ''}{number}"
        self.taken.add(name)
        return name


def valid_name(name: str) -> str:
    """A name that a tensor or dimension may have, the most like ``name``."""
    name = re.sub(r"[^A-Za-z0-9_']|'(?!$)", "_", name)
    return name[0].upper() + name[1:] if name[:1].isalpha() else f"T{name}"
