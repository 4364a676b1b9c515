"""Reports to the user: warnings kept in modules, placed in the source and issued."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from inspect import currentframe

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Operation

from tiledialect.dialects.discardable import WARNINGS
from tiledialect.errors import WARNING_FILTERS, TileWarning
from tiledialect.ir.names import place_of


def keep_warnings(module: ModuleOp, texts: Iterable[str]) -> None:
    """Add warnings to a module, each once."""
    if added := tuple(map(StringAttr, texts)):
        given = module.attributes.get(WARNINGS)
        before = given.data if isinstance(given, ArrayAttr) else ()
        module.attributes[WARNINGS] = ArrayAttr(dict.fromkeys((*before, *added)))


def warn(texts: Iterable[str]) -> None:
    """Issue a TileWarning for each text at the first stack frame outside of the package."""
    level, frame = 1, currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("tiledialect"):
        level, frame = level + 1, frame.f_back
    for text in texts:
        with WARNING_FILTERS:
            warnings.warn(text, TileWarning, stacklevel=level)


def placed(op: Operation, text: str) -> str:
    """Text after the source location of an op, if that is known."""
    place = place_of(op)
    if place is None:
        return text
    return f"{place.filename.data}:{place.line.data}:{place.column.data}: {text}"
