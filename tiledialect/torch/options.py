"""Options of ``torch.compile(model, backend="tiledialect", options=…)``."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from tiledialect.errors import TileError

NO_OPTIONS: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Options:
    """Options of the backend; all but ``strict`` are those of ``td.compile``."""

    device: Any = None
    precision: str | None = None
    tune: int | str = 0
    strict: bool = False
    """Whether an operator that is left to PyTorch is an error."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Options:
        """Options by name; a TileError for an unknown one."""
        if not isinstance(given, Mapping):
            raise TileError(f"`options` must be a mapping of names, got {given!r}")
        known = [f.name for f in fields(cls)]
        for name in given:
            if name not in known:
                raise TileError(f"there is no option {name!r}; there is {', '.join(known)}")
        if not isinstance(given.get("strict", False), bool):
            raise TileError(f"`strict` must be a bool, got {given['strict']!r}")
        return cls(**given)
