"""Named tuples of results."""

from __future__ import annotations

import keyword
from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from tiledialect import caches


def pack(function: str, names: Sequence[str], outputs: Sequence[Any]) -> Any:
    """Outputs of a call: a single output as it is, several as a named tuple that can be pickled."""
    return outputs[0] if len(outputs) == 1 else result_type(function, tuple(names))(*outputs)


@caches.RESULT_TYPES
def result_type(function: str, names: tuple[str, ...]) -> Any:
    """The class of the named tuples that a function gives."""

    def reduce(self: tuple[Any, ...]) -> tuple[Any, ...]:
        # The class is made when it is needed, so that it cannot be found by name.
        return pack, (function, names, tuple(self))

    title = _identifier(function)
    base = namedtuple(title, [_identifier(n) for n in names], rename=True)  # pyright: ignore[reportUntypedNamedTuple]
    return type(title, (base,), {"__slots__": (), "__reduce__": reduce, "__module__": __name__})


def _identifier(name: str) -> str:
    """A name that Python has for one that has an apostrophe or is a keyword."""
    name = name.replace("'", "_prime").replace(".", "_")
    return f"{name}_" if keyword.iskeyword(name) else name
