"""Values by the names that options of passes give them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir import SSAValue

from tiledialect.errors import TileError
from tiledialect.ir.names import from_hint, given_name


def option_name(text: str) -> str:
    """Name of the user in an option, where it may be spelled as in IR: `%A.prime` for `A'`."""
    return from_hint(text.removeprefix("%"))


def named_results(values: Sequence[SSAValue], text: str) -> list[SSAValue]:
    """Results of contractions of a name; a TileError that lists the names if there is none."""
    name = option_name(text)
    if found := [value for value in values if given_name(value) == name]:
        return found
    raise TileError(f"there is no contraction {name}; there is {names_text(values)}")


def names_text(values: Iterable[SSAValue]) -> str:
    """Names of values as a list for a message."""
    return ", ".join(dict.fromkeys(filter(None, map(given_name, values)))) or "none with a name"
