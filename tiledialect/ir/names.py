"""The names of a Tile program in IR, which does not take all of them as they are."""

from __future__ import annotations

import re

_NUMBERED = re.compile(r"_(\d+)$")
_OTHERS = re.compile(r"^(?=\d|$)|[^A-Za-z0-9_$.-]")
"""The places in a name that IR takes with a `_` only."""


def to_hint(name: str) -> str:
    """The name of an SSA value for a name of Tile: ``A'`` is ``A.prime``, ``A_1`` is ``A.1``.

    Printers of IR append ``_1`` and the like to repeated names, so that would be lost. Characters
    of names in modules that IR does not take become ``_``.
    """
    if name.endswith("'"):
        name = f"{name[:-1]}.prime"
    return _NUMBERED.sub(r".\1", _OTHERS.sub("_", name))


def from_hint(hint: str) -> str:
    """The name of Tile that ``to_hint`` made ``hint`` of; ``hint`` itself if none."""
    return hint.replace(".prime", "'").replace(".", "_")
